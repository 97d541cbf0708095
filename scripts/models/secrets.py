"""Keys: where they are (the environment), and that none of them gets into a file or a message."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..errors import UsageError
from .types import JSON

_NAME: Final = re.compile(
    r"(?:^|_)(?:\w*API_?KEYS?|KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS?|JWT|PAT)(?:_|$)", re.I
)
_NUMBER: Final = re.compile(r"[\d.,_+-]*")  # a bound or a port: it would be found in many an answer
_FEWEST: Final = 6
_NAME_OF_A_SECRET: Final = re.compile(
    r"api[-_]?key|auth(?!ors?(?![a-z]))|secret|password|credential|token$|cookie|bearer", re.I
)
_LOOKS_LIKE_A_KEY: Final = re.compile(
    r"\b(?:(?:sk|pk|gsk|xai|hf|ghp)[-_]|AIza)(?=[\w-]*\d)[\w-]{16,}|\b(?:Bearer|Basic) +\S", re.I
)


class Secrets:
    """The values of an environment that must be nowhere else, each with the name of its variable."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Look through `environment`, None: that of the process."""
        found = os.environ if environment is None else environment
        values: dict[str, str] = {}
        for name, value in found.items():
            if _is_secret(name, value.strip()):
                values.setdefault(value.strip(), name)
        # The longest first: one value may be part of another.
        self._values = sorted(values.items(), key=lambda item: -len(item[0]))

    def mask(self, text: str) -> str:
        """Return `text` with the name of the variable, in brackets, in the place of each value."""
        for value, name in self._values:
            if value in text:
                text = text.replace(value, f"[{name}]")
        return text

    def name_in(self, text: str) -> str | None:
        """Return the variable whose value `text` holds, None if there is none."""
        return next((name for value, name in self._values if value in text), None)


def check_no_secret(option: str, value: JSON) -> None:
    """Raise UsageError if `value`, which is to be kept in the manifest, names or holds a key anywhere.

    A text by itself, unlike those in an object or list, is refused only for a key that is known.
    """
    secrets = Secrets()
    for text, is_name in texts_in(value):
        if is_name and _NAME_OF_A_SECRET.search(text):
            raise UsageError(
                f"{option} {text}: keys are read from the environment only, so that none gets into a file"
            )
        variable = secrets.name_in(text)
        if variable is not None:
            raise UsageError(f"{option} holds the value of {variable}, which must not get into a file")
        if not is_name and not isinstance(value, str) and _LOOKS_LIKE_A_KEY.search(text):
            raise UsageError(
                f"{option} holds what looks like a key: keys are read from the environment only, "
                "so that none gets into a file"
            )


def check_key(variable: str) -> None:
    """Raise UsageError if the key in `variable` cannot be sent in the header of a call."""
    value = os.environ.get(variable, "")
    if not (value.isascii() and value.isprintable()) or value != value.strip():
        raise UsageError(
            f"the key in {variable} holds a line break, a space or a character outside ASCII: "
            "set it again, without quotes and without what was copied along"
        )


def _is_secret(name: str, value: str) -> bool:
    return len(value) >= _FEWEST and bool(_NAME.search(name)) and not _NUMBER.fullmatch(value)


def texts_in(value: JSON) -> Iterator[tuple[str, bool]]:
    """Yield every text in `value` and whether it is the name of something."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name, True
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
