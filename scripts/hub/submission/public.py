"""What of a run may be public: names and addresses of the user's own machines may not."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from .limits import MAX_ENTRIES
from .texts import fault_in_name

PRIVATE_SERVER: Final = "a private server"
"""Stands for the address of a server that is not public."""
_LOCAL: Final = "local"
_PRIVATE_ENDINGS: Final = (
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "test",
    "arpa",
)


def public_model(name: str) -> str:
    """Return the name of a model without the path of a file: `local/models/x.gguf` -> `local/x.gguf`."""
    provider, _, rest = name.partition("/")
    is_path = provider == _LOCAL or rest.startswith(("/", "~", ".")) or "\\" in rest or "/../" in rest
    return f"{provider}/{_last(rest)}" if is_path else name


def public_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with no more than the public host name of a server."""
    if "base_url" not in settings:
        return dict(settings)
    return {**settings, "base_url": _public_server(str(settings["base_url"]))}


def public_counts(names: Iterable[Any]) -> dict[str, int]:
    """Return how often each name of a served model occurs, without those that cannot be shown."""
    counts = Counter(_last(name) if _is_path(name) else name for name in names if isinstance(name, str))
    usable = [(name, count) for name, count in counts.most_common() if fault_in_name(name) is None]
    return dict(sorted(usable[:MAX_ENTRIES]))


def _public_server(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return PRIVATE_SERVER
    return f"https://{host}" if url.startswith("https://") and _is_public(host) else PRIVATE_SERVER


def _is_public(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." in host and host.rpartition(".")[2] not in _PRIVATE_ENDINGS and host.isascii()
    return False


def _is_path(name: str) -> bool:
    return name.startswith(("/", "~", ".")) or "\\" in name


def _last(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name
