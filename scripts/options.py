"""Options of commands are declared once, on the dataclass that carries them through the package.

A field `name: Annotated[type, typer.Option(...)] = default` is an option of every command that takes the
dataclass (`cli/command.py` makes the command's signature). Where people type something else than the field
holds, a `Typed` beside the option says how it is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Typed:
    """How a field is given on the command line."""

    kind: Any
    """The type that the command line reads, `list[str] | None` for example; None where it may be left out."""
    read: Callable[[Any], Any]
    """Makes the field's value of it; raises UsageError."""


def parse_extras(items: list[str] | None) -> dict[str, Any]:
    """Return the `-M key=value` options; a value that is not JSON is taken as text."""
    import json

    from .errors import UsageError

    extras: dict[str, Any] = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-M {item}: expected KEY=VALUE")
        try:
            extras[key.strip()] = json.loads(value)
        except ValueError:  # no JSON, or a number of thousands of digits
            extras[key.strip()] = value
    return extras
