"""Makes commands of functions that take dataclasses of options."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

from ..options import Typed

_Returned = TypeVar("_Returned")


class Only:
    """Beside a dataclass: the fields that a command offers; the others keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)


@dataclass(frozen=True, slots=True)
class _Record:
    """A dataclass of options, or of more such records."""

    build: Callable[..., Any]
    parts: Mapping[str, "_Record"]
    """Fields that are records."""
    options: Mapping[str, inspect.Parameter]
    """Fields that are options, as the command line has them."""
    typed: Mapping[str, Typed]
    """Those that are typed in another form than the field's."""

    def parameters(self) -> Iterator[inspect.Parameter]:
        for name in inspect.signature(self.build).parameters:
            if name in self.parts:
                yield from self.parts[name].parameters()
            elif name in self.options:
                yield self.options[name]

    def built(self, words: Mapping[str, Any]) -> Any:
        """Return the dataclass for what was typed."""
        values = {name: part.built(words) for name, part in self.parts.items()}
        for name in self.options:
            values[name] = self.typed[name].read(words[name]) if name in self.typed else words[name]
        return self.build(**values)


def with_options(command: Callable[..., _Returned]) -> Callable[..., _Returned]:
    """Return `command` with the options of its dataclasses for parameters; it is called with the instances.

    A parameter whose type is a dataclass stands for the dataclass's fields that are options, and so does a
    field whose type is one, all the way down. The type checker sees the command as it is written, with its
    records; Typer sees the options. Two records with an option of the same name are a ValueError.
    """
    hints = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    records = {name: record for name in given if (record := _record_of(hints[name])) is not None}
    shown: list[inspect.Parameter] = []
    for name, parameter in given.items():
        own = parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        shown += records[name].parameters() if name in records else [own]

    def called(**words: Any) -> _Returned:
        built = {name: records[name].built(words) if name in records else words[name] for name in given}
        return command(**built)

    called.__name__, called.__doc__, called.__module__ = command.__name__, command.__doc__, command.__module__
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _record_of(hint: Any) -> _Record | None:
    """Return the record of a type, None for one that is no dataclass."""
    only: frozenset[str] | None = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        only = next((note.names for note in notes if isinstance(note, Only)), None)
    if not is_dataclass(hint):
        return None
    record = _read(hint, only)
    if missing := (only or frozenset()) - {parameter.name for parameter in record.parameters()}:
        raise ValueError(f"{hint} has no options {sorted(missing)}")
    return record


def _read(record: Any, only: frozenset[str] | None) -> _Record:
    parts: dict[str, _Record] = {}
    options: dict[str, inspect.Parameter] = {}
    typed: dict[str, Typed] = {}
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        hint = hints[field.name]
        if is_dataclass(hint):
            parts[field.name] = _read(hint, only)
            continue
        notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        option = next((note for note in notes if isinstance(note, OptionInfo)), None)
        if option is None or (only is not None and field.name not in only):
            continue
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        for note in notes:
            if isinstance(note, Typed):
                typed[field.name] = note
                hint, default = Annotated[note.kind, option], None
        options[field.name] = inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
        )
    return _Record(record, parts, options, typed)
