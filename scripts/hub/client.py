"""The client for the Hub: what repositories are called, who may write, requests that end, errors in one line.

It waits neither for ever nor in vain, takes no token that is none, and shows none.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, quote_plus, urlsplit

from .. import __version__
from ..errors import HubError, RupeeBiasError, UsageError
from ..words import printable

if TYPE_CHECKING:
    from huggingface_hub import HfApi

HUB: Final = "https://huggingface.co"
DATASET: Final = "rupeebias"
"""The dataset repository. These names are fixed: users and stored results refer to them."""
METRIC: Final = "rupeebias_metric"
"""The Space that `evaluate.load` reads."""
RESULTS: Final = "rupeebias-results"
"""The dataset repository that collects submissions."""
LEADERBOARD: Final = "rupeebias-leaderboard"
"""The static Space that shows them."""

CONNECT_SECONDS: Final = 30.0
READ_SECONDS: Final = 60.0
"""Longest silence before an answer, and between two parts of it."""
UPLOAD_SECONDS: Final = 300.0
"""The same while files are sent: the Hub checks and stores them before it answers."""
LONGEST_PAUSE: Final = 60.0
"""Seconds that the Hub may ask to wait; for more a command ends and says so."""
_PAUSES: Final = 3
_ORG: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?")
_REMEDIES: Final = {
    401: "the Hub does not accept the token; log in again with `hf auth login`, or renew HF_TOKEN",
    402: "the Hub asks for a paid plan for this",
    403: "the token may not do this; take one with write access to that user or organisation",
    404: "it does not exist, or the token may not see it",
    409: "it exists already or is being changed; run the command again",
    412: "somebody else changed it meanwhile; look at their change, then run the command again",
    429: "too many requests; wait some minutes and run the command again",
}
_CLIENTS: Final = frozenset(("huggingface_hub", "httpx", "httpx2", "json"))
"""Packages that fail with any kind of error on an answer that they do not understand."""
_OF_SHAPE: Final = (KeyError, TypeError, AttributeError, IndexError)
_OURS: Final = __name__.split(".")[0]


class RateLimitedError(RuntimeError):
    """The Hub asks for a longer pause than a command waits."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"too many requests: the Hub asks to wait {seconds:.0f} s; run the command again then"
        )


class NotTheHubError(ValueError):
    """An answer that is not of the shape that the Hub's have."""


def repository(org: str, name: str) -> str:
    """Return `org/name`; UsageError for what cannot be the name of a user or organisation."""
    if not _ORG.fullmatch(org) or "--" in org or ".." in org:
        raise UsageError(f"--org {org[:60]!r} is not the name of a user or organisation on the Hub")
    return f"{org}/{name}"


# --- the client


def hub_client() -> "HfApi":
    """Return a client with the token of HF_TOKEN or `hf auth login`, or with none.

    RupeeBiasError if that token or HF_ENDPOINT cannot be one; the token is not shown.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    require_endpoint(os.environ.get("HF_ENDPOINT", ""))
    token = get_token() or False
    require_clean(token)
    bound_requests()
    return HfApi(token=token, library_name="rupeebias", library_version=__version__)


def require_clean(token: str | bool | None) -> None:
    """Raise RupeeBiasError, without showing it, for a token that no HTTP header can carry."""
    if isinstance(token, str) and not re.fullmatch(r"[!-~]+", token):
        raise RupeeBiasError(
            "the token for the Hub holds a space, a control character or a letter outside ASCII: "
            "copy it again, into HF_TOKEN or with `hf auth login`"
        )


def require_endpoint(given: str) -> None:
    """Raise RupeeBiasError if HF_ENDPOINT is set to something other than an http or https address."""
    if not given:
        return
    try:
        parts = urlsplit(given)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise RupeeBiasError(
            "HF_ENDPOINT is not an address such as https://huggingface.co: correct or unset it"
        )


def bound_requests(read: float = READ_SECONDS, upload: float = UPLOAD_SECONDS) -> None:
    """Let every request of huggingface_hub in this process end: `read` and `upload` in seconds of silence.

    Where the Hub asks for a pause of at most a minute it is kept; a longer one raises RateLimitedError.
    """
    from huggingface_hub import set_client_factory

    set_client_factory(lambda: _bounded_client(read, upload))


def _bounded_client(read: float, upload: float) -> Any:
    """Return the library's own client with time limits, also where a caller asks for none."""
    from huggingface_hub.utils._http import default_client_factory

    client: Any = default_client_factory()
    plain_send = client.send

    def send(request: Any, **options: Any) -> Any:
        is_upload = request.method == "PUT" or "/commit/" in request.url.path
        seconds = upload if is_upload else read
        limits = {"connect": CONNECT_SECONDS, "read": seconds, "write": seconds, "pool": seconds}
        given = request.extensions.get("timeout") or {}  # callers may pass None
        timeout = {name: given.get(name) or limit for name, limit in limits.items()}
        request.extensions = {**request.extensions, "timeout": timeout}
        for attempt in range(_PAUSES + 1):
            response = plain_send(request, **options)
            pause = _asked_pause(response)
            if pause is None or not _can_repeat(request):
                return response
            response.close()
            if attempt < _PAUSES:
                time.sleep(pause)
        raise RateLimitedError(pause or 0)

    client.send = send
    return client


def _can_repeat(request: Any) -> bool:
    """Return whether the body is in memory; a file was read to its end, and the library itself repeats it."""
    try:
        return request.content is not None
    except RuntimeError:  # the library's own, of a body that is read from a file
        return False


def _asked_pause(response: Any) -> float | None:
    """Return for how many seconds a server that refused asks to wait; None if it did not.

    Raises RateLimitedError for a pause that is too long.
    """
    if response.status_code != 429:
        return None
    pause = _seconds(response.headers)
    if pause is not None and pause > LONGEST_PAUSE:
        response.close()
        raise RateLimitedError(pause)
    return pause


def _seconds(headers: Any) -> float | None:
    from email.utils import parsedate_to_datetime

    given = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", given):
        return float(given)
    if given:
        try:
            return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
        except ValueError:
            return None
    limited = re.search(r'"\w+"\s*;\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,9})', headers.get("ratelimit", ""))
    return float(limited[1]) if limited else None


# --- rights


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
        who = _checked_user(api.whoami())
    found: Any = who
    for key in ("auth", "accessToken", "role"):
        found = found.get(key) if isinstance(found, dict) else None
    if found == "read":
        raise RupeeBiasError(f"the token of {who['name']} may only read: make one with write access")
    return who


def _checked_user(who: object) -> dict[str, Any]:
    """Return what the Hub says of a user, if it has the shape of that."""
    orgs = who.get("orgs", []) if isinstance(who, dict) else None
    if not isinstance(who, dict) or not isinstance(who.get("name"), str) or not isinstance(orgs, list):
        raise NotTheHubError("not what it says of a user")
    if not all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in orgs):
        raise NotTheHubError("not what it says of organisations")
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


# --- errors


@contextmanager
def hub_errors(doing: str, token: str | bool | None = None) -> Iterator[None]:
    """Raise HubError for a failed request of `huggingface_hub` inside the block.

    `doing` says what was tried, for example `commit to org/name`. The message holds the Hub's own reason
    but never `token`, which is that of the client. An answer that the client cannot read, as of a login
    page, is told as such.
    """
    try:
        yield
    except RupeeBiasError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        # a failed upload of one file comes wrapped in a RuntimeError, and its cause says why
        wrapped = isinstance(error, RuntimeError) and error.__cause__
        raise HubError(_message(doing, wrapped or error, token)) from None
    except Exception as error:
        is_of_the_network = _is_a(error, "HTTPError", "TransportError", "InvalidURL")
        if not (is_of_the_network or _is_of_an_answer(error)):
            raise
        raise HubError(_message(doing, error, token)) from None


def masked(text: str, token: str | bool | None) -> str:
    """Return a text in which no token stands, nor any usual escape of it."""
    if not isinstance(token, str) or not token:
        return text
    escapes = (repr(token)[1:-1], json.dumps(token)[1:-1], ascii(token)[1:-1], quote(token, safe=""))
    bytes_form = repr(token.encode("utf-8", "surrogateescape"))[2:-1]
    forms = {token, *escapes, quote(token), quote_plus(token), bytes_form}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, "***")
    return text


def _is_a(error: BaseException, *names: str) -> bool:
    """Return whether an error's class has one of these names (which library it is of may change)."""
    return any(base.__name__ in names for base in type(error).__mro__)


def _is_of_an_answer(error: BaseException) -> bool:
    """Return whether the client stumbled over an answer; what our own lines raise is a fault of ours."""
    if isinstance(error, json.JSONDecodeError | NotTheHubError):
        return True
    if isinstance(error, ValueError):  # how the client says it itself
        return bool(re.search("improperly formatted|malformed", str(error), re.IGNORECASE))
    if not isinstance(error, _OF_SHAPE):
        return False
    known = [each for each in _packages(error.__traceback__) if each == _OURS or each in _CLIENTS]
    return bool(known) and known[-1] != _OURS


def _packages(trace: TracebackType | None) -> Iterator[str]:
    """Yield whose code an error passed through, outermost first."""
    while trace is not None:
        yield str(trace.tb_frame.f_globals.get("__name__", "")).split(".")[0]
        trace = trace.tb_next


def _message(doing: str, error: BaseException, token: str | bool | None) -> str:
    return printable(masked(f"{doing}: {_reason(error)}", token))


def _reason(error: BaseException) -> str:
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    words = " ".join(str(error).split())[:200] or type(error).__name__
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it"
    if isinstance(error, HfHubHTTPError):
        return _http_reason(error.response.status_code, error.server_message)
    if _is_of_an_answer(error):
        return f"{_address()} does not answer like the Hub ({words}); is a proxy or a login page in between?"
    if isinstance(error, ValueError | RuntimeError):
        return " ".join(str(error).split())[:300]
    if _is_a(error, "TimeoutException", "TimeoutError"):
        return f"no answer in time ({words}); run the command again"
    where = " and HF_ENDPOINT" if os.environ.get("HF_ENDPOINT") else ""
    return f"no connection ({words}); check the network{where}, then run the command again"


def _address() -> str:
    """Return the Hub's address in use, without a password, and the variable if it was set by one."""
    given = os.environ.get("HF_ENDPOINT", "")
    if not given:
        return HUB
    parts = urlsplit(given)
    return f"HF_ENDPOINT {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _http_reason(status: int, said: str | None) -> str:
    said = " ".join((said or "").split())[:300].rstrip(".")
    remedy = _REMEDIES.get(status)
    if status == 400 and "eval.yaml" in said:
        remedy = "the Hub does not take eval.yaml (yet): publish with --no-eval-yaml"
    if remedy is None and status >= 500:
        remedy = "the Hub has a problem; run the command again later, it goes on where it stopped"
    told = f"HTTP {status}, {said}" if said else f"HTTP {status}"
    return f"{remedy} ({told})" if remedy else f"refused ({told})"
