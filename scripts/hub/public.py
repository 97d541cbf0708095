"""What of a run may be public: names and addresses of the user's own machines may not."""

import ipaddress
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

PRIVATE_SERVER: Final = "a private server"
"""Stands for the address of a server that is not public."""
OWN_SERVER: Final = "a server of its own"
"""Stands for the address of a public server of nobody in particular."""
_LOCAL: Final = "local"
_PRIVATE_ENDINGS: Final = frozenset(
    {
        "localhost", "local", "localdomain", "internal", "intranet", "private", "lan", "home", "corp", "test",
        "arpa",
    }
)  # fmt: skip
_PROVIDERS: Final = frozenset(
    {
        "ai21.com", "anthropic.com", "cerebras.ai", "cohere.ai", "cohere.com", "deepinfra.com",
        "deepseek.com", "fireworks.ai", "googleapis.com", "groq.com", "huggingface.co", "hyperbolic.xyz",
        "mistral.ai", "moonshot.ai", "nebius.com", "novita.ai", "nvidia.com", "openai.com", "openrouter.ai",
        "perplexity.ai", "replicate.com", "sambanova.ai", "sarvam.ai", "together.ai", "together.xyz", "x.ai",
    }
)  # fmt: skip
"""Hosts that anybody may rent models from; of an address only this name is told."""
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_ENDINGS: Final = "|".join(sorted(_PRIVATE_ENDINGS))
_ADDRESSES: Final = (
    r"[A-Za-z][A-Za-z0-9+.-]*:/{2,}[^\s\"'<>]*",
    r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])",
    r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4})+",
    r"\[?[0-9A-Fa-f:.]*::[0-9A-Fa-f:.]*\]?(?::\d+)?",
    rf"\b[\w-]+(?:\.[\w-]+)*\.(?:{_ENDINGS}|ts\.net)\b(?::\d+)?",
    r"(?<![\w/])(?:[A-Za-z][\w-]*\.)*[A-Za-z][\w-]*:\d{4,5}\b",
)
_PATHS: Final = (
    r"\\\\[^\s\"'<>]+",
    r"\b[A-Za-z]:[\\/][^\s\"'<>]*",
    r"(?<![\w/.~<])(?:~[\w.-]*|\.{1,2}|/[\w.@+-]+)(?:/[\w.@+-]+)+/?",
)
_PRIVATE: Final = (
    (re.compile(_ADDRESSES[0]), "[address]"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*"), "[mail address]"),
    (re.compile("|".join(_ADDRESSES[1:])), "[address]"),
    (re.compile("|".join(_PATHS)), "[path]"),
)
"""What texts of the user may hold that is nobody's business, and what stands there instead."""


def public_model(name: str) -> str:
    """Return the name of a model without the path of a file: `local/models/x.gguf` -> `local/x.gguf`."""
    provider, _, rest = name.partition("/")
    if _DRIVE.match(provider) or provider.lower() in ("", "~", ".", "..", "file:") or "\\" in provider:
        return _last(name)
    is_file = provider == _LOCAL or _is_path(rest) or ("/" in rest and _exists(rest))
    return f"{provider}/{_last(rest)}" if is_file else name


def public_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without addresses and paths, and with no more than the provider's name of a server."""
    shown = dict(settings)
    if "base_url" in shown:
        shown["base_url"] = public_server(shown["base_url"])
    for name in ("extras", "not_sent"):
        if name in shown:
            shown[name] = masked(shown[name])
    return shown


def public_server(url: Any) -> str:
    """Return what may be told of the address of a server; of what is told already, the same."""
    if url in (PRIVATE_SERVER, OWN_SERVER):
        return str(url)
    try:
        split = urlsplit(str(url))
        host = (split.hostname or "").rstrip(".")
    except ValueError:
        return PRIVATE_SERVER
    if split.scheme != "https" or not _is_public(host):
        return PRIVATE_SERVER
    registered = ".".join(host.split(".")[-2:])
    return f"https://{registered}" if registered in _PROVIDERS else OWN_SERVER


def masked(value: Any) -> Any:
    """Return a value in whose texts addresses, paths and mail addresses are replaced by what they are."""
    if isinstance(value, str):
        for pattern, instead in _PRIVATE:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, dict):
        return {masked(name): masked(item) for name, item in value.items()}
    return [masked(item) for item in value] if isinstance(value, list) else value


def _is_public(host: str) -> bool:
    labels = host.split(".")
    if len(labels) < 2 or "" in labels or labels[-1] in _PRIVATE_ENDINGS or not host.isascii():
        return False
    return labels[-1].isalpha() and labels[-2:] != ["ts", "net"] and not _is_ip(host)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_path(name: str) -> bool:
    is_marked = name.startswith(("/", "~", ".")) or "\\" in name or "://" in name or "/../" in name
    return is_marked or name.lower().startswith("file:") or _DRIVE.match(name) is not None


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _last(path: str) -> str:
    last = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last[2:] if _DRIVE.match(last) else last  # C:x.gguf
