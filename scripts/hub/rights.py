"""Whether a token may publish for an organisation, asked before anything is sent."""

from typing import TYPE_CHECKING, Any

from ..errors import RupeeBiasError
from .client import require_clean
from .faults import NotTheHubError, hub_errors

if TYPE_CHECKING:
    from huggingface_hub import HfApi


def require_writer(api: "HfApi") -> dict[str, Any]:
    """Return what the Hub says of the token's user.

    Raises RupeeBiasError if there is no token, the Hub does not know it, or it may only read.
    """
    if not isinstance(api.token, str):
        raise RupeeBiasError(
            "no token for the Hub: run `hf auth login`, or set HF_TOKEN to one with write access"
        )
    require_clean(api.token)
    with hub_errors("log in to the Hub", api.token):
        who = _checked(api.whoami())
    if _token_role(who) == "read":
        raise RupeeBiasError(f"the token of {who['name']} may only read: make one with write access")
    return who


def require_rights(api: "HfApi", org: str) -> None:
    """Raise RupeeBiasError if there is no token, the Hub does not know it, or it may not write for `org`.

    A fine-grained token says nothing about itself here: the Hub decides when it is used.
    """
    who = require_writer(api)
    roles = {each["name"]: each.get("roleInOrg") for each in who.get("orgs", [])}
    if org != who["name"] and org not in roles:
        raise RupeeBiasError(f"{who['name']} is not a member of {org}: use another --org, or another token")
    if roles.get(org) == "read":
        raise RupeeBiasError(f"{who['name']} may only read in {org}: ask its admins for the role `write`")


def _checked(who: object) -> dict[str, Any]:
    """Return what the Hub says of a user, if it has the shape of that."""
    orgs = who.get("orgs", []) if isinstance(who, dict) else None
    if not isinstance(who, dict) or not isinstance(who.get("name"), str) or not isinstance(orgs, list):
        raise NotTheHubError("not what it says of a user")
    if not all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in orgs):
        raise NotTheHubError("not what it says of organisations")
    return who


def _token_role(who: dict[str, Any]) -> str | None:
    auth = who.get("auth")
    token = auth.get("accessToken") if isinstance(auth, dict) else None
    role = token.get("role") if isinstance(token, dict) else None
    return str(role) if role else None
