"""The settings of a submission: what they may hold. They decide answers, and a board shows them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ...errors import UsageError
from ...models.litellm import check_extras
from ...models.secrets import check_no_secret, texts_in
from .limits import MAX_ENTRIES, MAX_SETTING, MAX_SETTING_DEPTH, MAX_SETTINGS
from .public import public_server
from .texts import shown

_OWN: Final = ("temperature", "max_tokens", "seed", "reasoning_effort", "base_url")
"""Settings that have an option of their own, so that extras may not replace them."""
_OF_THE_PROMPTS: Final = frozenset(
    {"arm", "messages", "prompt", "system_prompt", "system_instruction", "instructions"}
)
"""Nowhere in the settings, however deep: the arm is declared, and the prompts are the benchmark's."""


def fault_in_settings(value: Any) -> str | None:
    """Return the first thing that is wrong with settings, None if nothing is."""
    if not isinstance(value, dict):
        return "must be an object"
    if len(value) > MAX_ENTRIES:
        return f"has {len(value):,} entries, at most {MAX_ENTRIES}"
    if _is_deeper(value, MAX_SETTING_DEPTH):
        return f"is nested more than {MAX_SETTING_DEPTH} deep"
    if len(orjson.dumps(value)) > MAX_SETTINGS:
        return f"takes more than {MAX_SETTINGS // 1000:,} kB"
    return next(_faults(value), None)


def tells_temperature(settings: Mapping[str, Any]) -> bool:
    """Tell whether settings say at which temperature the model was asked, or that none could be sent."""
    not_sent = settings.get("not_sent")
    return "temperature" in settings or (isinstance(not_sent, dict) and "temperature" in not_sent)


def _faults(settings: dict[str, Any]) -> Iterator[str]:
    for text, is_name in texts_in(settings):
        if len(text) > MAX_SETTING:
            yield f"holds a text of {len(text):,} characters, at most {MAX_SETTING:,} allowed"
        if not _is_shown(text):
            yield f"holds {shown(text)}, with a control or direction mark or other character that is not seen"
        if is_name and text.strip().lower().replace("-", "_") in _OF_THE_PROMPTS:
            yield f"holds {shown(text)}: the arm is declared beside them, and the prompts are the benchmark's"
        if is_name and "authorization" in text.lower():
            yield f"holds {shown(text)}: keys are nobody's business"
    temperature = settings.get("temperature", 0)
    if type(temperature) not in (int, float) or temperature < 0:
        yield f"has the temperature {shown(temperature)}; expected a number, or its name in not_sent"
    url = settings.get("base_url")
    if url is not None and url != public_server(url):
        yield "has a base_url that is not as `rupeebias submit` writes it: it may be private"
    try:
        check_no_secret("settings", settings)
        check_extras(_unreserved(settings), constrained=False)
        extras = settings.get("extras")
        if isinstance(extras, dict):
            check_extras(extras, constrained=settings.get("constrain") is True)
    except UsageError as error:
        yield f"cannot be as it is: {shown(str(error), 200)}"


def _unreserved(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _OWN}


def _is_deeper(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (most == 0 or any(_is_deeper(each, most - 1) for each in inner))


def _is_shown(text: str) -> bool:
    """Tell whether a text holds nothing that cannot be seen; lines and tabs, as in grammars, are fine."""
    return all(letter.isprintable() or letter in "\n\t" for letter in text)
