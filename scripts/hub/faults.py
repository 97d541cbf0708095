"""Turns what goes wrong between here and the Hub into one clear line, without the token."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final
from urllib.parse import quote, quote_plus, urlsplit

from ..errors import RupeeBiasError

_REMEDIES = {
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
_HUB: Final = "https://huggingface.co"


class HubError(RupeeBiasError):
    """A request of the Hub that failed: what is there is not known."""


class RateLimitedError(RuntimeError):
    """The Hub asks for a longer pause than a command waits."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"too many requests: the Hub asks to wait {seconds:.0f} s; run the command again then"
        )


class NotTheHubError(ValueError):
    """An answer that is not of the shape that the Hub's have."""


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
        if not (_is_of_the_network(error) or _is_of_an_answer(error)):
            raise
        raise HubError(_message(doing, error, token)) from None


def address() -> str:
    """Return the Hub's address in use, without a password, and the variable if it was set by one."""
    given = os.environ.get("HF_ENDPOINT", "")
    if not given:
        return _HUB
    parts = urlsplit(given)
    return f"HF_ENDPOINT {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


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


def _is_of_the_network(error: Exception) -> bool:
    """Return whether the client's HTTP library raised it."""
    return _is_a(error, "HTTPError", "TransportError", "InvalidURL")


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
    text = masked(f"{doing}: {_reason(error)}", token)
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _reason(error: BaseException) -> str:
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    words = " ".join(str(error).split())[:200] or type(error).__name__
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it"
    if isinstance(error, HfHubHTTPError):
        return _http_reason(error.response.status_code, error.server_message)
    if _is_of_an_answer(error):
        return f"{address()} does not answer like the Hub ({words}); is a proxy or a login page in between?"
    if isinstance(error, ValueError | RuntimeError):
        return " ".join(str(error).split())[:300]
    if _is_a(error, "TimeoutException", "TimeoutError"):
        return f"no answer in time ({words}); run the command again"
    where = " and HF_ENDPOINT" if os.environ.get("HF_ENDPOINT") else ""
    return f"no connection ({words}); check the network{where}, then run the command again"


def _http_reason(status: int, said: str | None) -> str:
    said = " ".join((said or "").split())[:300].rstrip(".")
    remedy = _REMEDIES.get(status)
    if status == 400 and "eval.yaml" in said:
        remedy = "the Hub does not take eval.yaml (yet): publish with --no-eval-yaml"
    if remedy is None and status >= 500:
        remedy = "the Hub has a problem; run the command again later, it goes on where it stopped"
    told = f"HTTP {status}, {said}" if said else f"HTTP {status}"
    return f"{remedy} ({told})" if remedy else f"refused ({told})"
