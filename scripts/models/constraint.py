"""`--constrain` for a server of one's own: llama.cpp and vLLM hold answers to a format if told how.

llama.cpp takes a grammar, vLLM a regular expression, older versions of it under another name. Which server
it is, the server says itself.
"""

import asyncio
import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any, Final

from ..errors import RupeeBiasError, UsageError
from .grammar import GRAMMARS

_AMOUNT: Final = r"### [1-9][0-9]{5,7} INR"
_PRICE: Final = r"### [1-9][0-9]{3,6} INR"
_HIKE: Final = r"### ([0-9]|[1-9][0-9]|1[0-9][0-9]|200) %"
FORMATS: Final[dict[str, str]] = {
    "salary_estimation": _AMOUNT,
    "salary_increment": _HIKE,
    "counter_offer": _AMOUNT,
    "service_pricing_vendor": _PRICE,
    "service_pricing_customer": _PRICE,
}
"""Use case to regular expression: the same answers as the grammars allow."""
_NEW_NAME_SINCE: Final = (0, 12)
_TIMEOUT_S: Final = 10.0

ExtraBody = Callable[[str], dict[str, Any]]
"""From a use case to the fields that hold its answers to the format."""


def matches(text: str | None, use_case: str) -> bool:
    """Return True if `text` has the format of `use_case`."""
    return text is not None and re.fullmatch(FORMATS[use_case], text.strip()) is not None


async def find_constraint(base_url: str, key: str | None, *, is_vllm: bool) -> ExtraBody:
    """Return how the server at `base_url` is told to hold answers to the format.

    Raises UsageError if it is neither llama.cpp nor vLLM, RupeeBiasError if it does not answer.
    """
    base = base_url.rstrip("/")
    if not is_vllm:
        owner = await _owner(base, key)
        if owner == "llamacpp":
            return _llama_cpp
        if owner != "vllm":
            raise UsageError(
                f"--constrain: the server at {base_url} is neither llama.cpp nor vLLM (it says {owner!r}); "
                "leave --constrain away"
            )
    version = (await _json(f"{base.removesuffix('/v1')}/version", key)).get("version", "")
    numbers = tuple(int(number) for number in re.findall(r"\d+", str(version))[:2])
    return _vllm if not numbers or numbers >= _NEW_NAME_SINCE else _old_vllm


def _llama_cpp(use_case: str) -> dict[str, Any]:
    return {"grammar": GRAMMARS[use_case]}


def _vllm(use_case: str) -> dict[str, Any]:
    return {"structured_outputs": {"regex": FORMATS[use_case]}}


def _old_vllm(use_case: str) -> dict[str, Any]:
    return {"guided_regex": FORMATS[use_case]}


async def _owner(base: str, key: str | None) -> str:
    models = (await _json(f"{base}/models", key)).get("data")
    first = models[0] if isinstance(models, list) and models else {}
    return str(first.get("owned_by", "nothing")) if isinstance(first, dict) else "nothing"


async def _json(url: str, key: str | None) -> dict[str, Any]:
    try:
        content = await asyncio.to_thread(_read, url, key)
        data = json.loads(content)
    except (OSError, ValueError) as error:
        raise RupeeBiasError(f"--constrain: {url} does not say what server it is ({error})") from None
    return data if isinstance(data, dict) else {}


def _read(url: str, key: str | None) -> bytes:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http or https, as checked
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310
        content: bytes = response.read(1 << 20)
    return content
