"""Turns what goes wrong between here and the Hub into one clear line, without the token."""

from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def hub_errors(doing: str, token: str | None = None) -> Iterator[None]:
    """Raise RupeeBiasError for a failed request of `huggingface_hub` inside the block.

    `doing` says what was tried, for example `commit to org/name`. The message holds the Hub's own reason
    but never `token`.
    """
    try:
        yield
    except RupeeBiasError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        # a failed upload of one file comes wrapped in a RuntimeError, and its cause says why
        wrapped = isinstance(error, RuntimeError) and error.__cause__
        raise RupeeBiasError(_message(doing, wrapped or error, token)) from None
    except Exception as error:
        if not _is_of_the_network(error):
            raise
        raise RupeeBiasError(_message(doing, error, token)) from None


def _is_of_the_network(error: Exception) -> bool:
    """Return whether the client's HTTP library raised it (which one depends on the client's version)."""
    return any(base.__name__ in ("HTTPError", "TransportError") for base in type(error).__mro__)


def _message(doing: str, error: BaseException, token: str | None) -> str:
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    if isinstance(error, OfflineModeIsEnabled):
        reason = "HF_HUB_OFFLINE is set; unset it"
    elif isinstance(error, HfHubHTTPError):
        reason = _http_reason(error.response.status_code, error.server_message)
    elif isinstance(error, ValueError | RuntimeError):
        reason = " ".join(str(error).split())[:300]
    else:
        words = " ".join(str(error).split())[:200]
        reason = (
            f"no connection ({words or type(error).__name__}); check the network, then run the command again"
        )
    text = f"{doing}: {reason}"
    return text.replace(token, "***") if token else text


def _http_reason(status: int, said: str | None) -> str:
    said = " ".join((said or "").split())[:300].rstrip(".")
    remedy = _REMEDIES.get(status)
    if status == 400 and "eval.yaml" in said:
        remedy = "the Hub does not take eval.yaml (yet): publish with --no-eval-yaml"
    if remedy is None and status >= 500:
        remedy = "the Hub has a problem; run the command again later, it goes on where it stopped"
    told = f"HTTP {status}, {said}" if said else f"HTTP {status}"
    return f"{remedy} ({told})" if remedy else f"refused ({told})"
