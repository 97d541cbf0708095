"""Reads a components file and checks it entry by entry; every fault names file, key and remedy."""

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from rupeebias.errors import ComponentsError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is ten times faster
_CURLY_QUOTES = re.compile("[\u2018\u2019\u201c\u201d]")


class _UniqueKeyLoader(_Base):  # type: ignore[misc]
    """A safe loader that refuses a key given twice, where YAML would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        if len(mapping) != len(node.value):
            keys = [self.construct_object(key) for key, _ in node.value]
            twice = next(key for key in keys if keys.count(key) > 1)
            line = node.start_mark.line + 1
            raise ComponentsError(f"key {twice!r} stands twice in the mapping at line {line}")
        return mapping


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a components file that knows where it stands."""

    file: str
    """Name of the file."""
    key: str
    """Dotted path inside the file."""
    value: Any
    """As YAML gives it."""

    def fail(self, fault: str) -> NoReturn:
        """Raise ComponentsError for this entry."""
        raise ComponentsError(f"{self.file}: {self.key or 'top level'}: {fault}")

    def mapping(self) -> dict[str, "Node"]:
        """Return the entries of a mapping with text keys."""
        if not isinstance(self.value, dict) or not self.value:
            self.fail("expected entries of the form `name: value`")
        return {str(key): self._child(key, value) for key, value in self.value.items()}

    def fields(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, "Node"]:
        """Return the entries of a mapping whose keys are known beforehand."""
        entries, required = self.mapping(), tuple(required)
        known = (*required, *optional)
        for key in entries:
            if key not in known:
                self.fail(f"unknown key {key!r}{nearest(key, known)}; known: {', '.join(known)}")
        for key in required:
            if key not in entries:
                self.fail(f"key {key!r} is missing")
        return entries

    def items(self) -> Iterator["Node"]:
        """Iterate over the entries of a list."""
        if not isinstance(self.value, list) or not self.value:
            self.fail("expected a list with at least one entry")
        for position, value in enumerate(self.value):
            name = value.get("label", position + 1) if isinstance(value, dict) else position + 1
            yield Node(self.file, f"{self.key}[{name}]", value)

    def text(self) -> str:
        """Return a text without stray spaces or curly quotes."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail(f"expected a text, found {self.value!r}")
        if self.value != self.value.strip() or "  " in self.value:
            self.fail("a text must not begin or end with a space nor have two in a row")
        if _CURLY_QUOTES.search(self.value):
            self.fail("write straight quotes (' and \")")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return a list of different texts."""
        texts = tuple(node.text() for node in self.items())
        for text in texts:
            if texts.count(text) > 1:
                self.fail(f"{text!r} stands twice")
        return texts

    def choice(self, known: Iterable[str]) -> str:
        """Return a text that is one of the known ones."""
        text, known = self.text(), tuple(known)
        if text not in known:
            self.fail(f"unknown {text!r}{nearest(text, known)}; known: {', '.join(known)}")
        return text

    def number(self) -> float:
        """Return a number."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            self.fail(f"expected a number, found {self.value!r}")
        return self.value

    def by_language(self, languages: Iterable[str]) -> dict[str, "Node"]:
        """Return an entry for each language, all of them given."""
        entries = self.fields(tuple(languages))
        return {language: entries[language] for language in languages}

    def _child(self, key: Any, value: Any) -> "Node":
        return Node(self.file, f"{self.key}.{key}" if self.key else str(key), value)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)`, or nothing where no known name is similar."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def read_yaml(path: Path) -> Node:
    """Read one components file.

    Raises ComponentsError if it is missing, is not UTF-8 or YAML, or gives a key twice.
    """
    try:
        value = yaml.load(path.read_bytes(), _UniqueKeyLoader)  # noqa: S506 (a safe loader, see above)
    except FileNotFoundError:
        raise ComponentsError(f"{path}: file is missing; restore it from the repository") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ComponentsError) as error:
        fault = " ".join(str(error).split())
        raise ComponentsError(f"{path.name}: {fault}") from None
    return Node(path.name, "", value)
