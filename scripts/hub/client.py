"""The client for the Hub: it waits neither for ever nor in vain, and takes no token that is none."""

import os
import re
import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from .. import __version__
from ..errors import RupeeBiasError
from .faults import RateLimitedError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

CONNECT_SECONDS: Final = 30.0
READ_SECONDS: Final = 60.0
"""Longest silence before an answer, and between two parts of it."""
UPLOAD_SECONDS: Final = 300.0
"""The same while files are sent: the Hub checks and stores them before it answers."""
LONGEST_PAUSE: Final = 60.0
"""Seconds that the Hub may ask to wait; for more a command ends and says so."""
_PAUSES: Final = 3


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
        _limit(request, upload if is_upload else read)
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


def _limit(request: Any, seconds: float) -> None:
    """Put limits where a request has none: callers may pass a timeout of None."""
    limits = {"connect": CONNECT_SECONDS, "read": seconds, "write": seconds, "pool": seconds}
    given = request.extensions.get("timeout") or {}
    timeout = {name: given.get(name) or limit for name, limit in limits.items()}
    request.extensions = {**request.extensions, "timeout": timeout}


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
    given = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}", given):
        return float(given)
    if given:
        return _seconds_until(given)
    limited = re.search(r'"\w+"\s*;\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,9})', headers.get("ratelimit", ""))
    return float(limited[1]) if limited else None


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return None
