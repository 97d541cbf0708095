"""Base profiles: what profiles.yaml crosses, looks up and writes, in benchmark order.

A list of profiles is given directly, or as a full factorial design: `factors` names lists whose entries are
crossed, the first changing slowest; `tables` adds what follows from the factors so far; `texts` writes
sentences with them.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from .reader import Node
from .records import ColumnSpec, Factor, Kind, Origin, Profile, Text

_KINDS: Final[tuple[Kind, ...]] = ("category", "int32", "float64")
_ORIGINS: Final = {origin.label: origin for origin in Origin}

_Texts = Mapping[str, Text]


@dataclass(frozen=True, slots=True)
class _Part:
    """A profile, or what one entry of the file says about it."""

    factors: Mapping[str, Factor]
    texts: Mapping[str, _Texts]
    """By name, then by language."""
    origins: Mapping[str, Origin]
    """By language."""

    def __add__(self, other: "_Part") -> "_Part":
        return _Part(
            {**self.factors, **other.factors},
            {**self.texts, **other.texts},
            {language: max(origin, other.origins[language]) for language, origin in self.origins.items()},
        )


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """profiles.yaml, read entry by entry."""

    entries: Mapping[str, Node]
    """Its keys."""
    languages: Sequence[str]
    """Slugs of the benchmark's languages."""
    columns: Mapping[str, ColumnSpec]
    """The columns that profiles fill."""
    origin: Origin
    """Of what names no other."""

    @classmethod
    def of(cls, file: Node, languages: Sequence[str]) -> "ProfileFile":
        """Check the file's keys and read its columns."""
        entries = file.fields(("profiles",), ("origin", "columns", "factors", "tables", "texts"))
        columns = entries["columns"].mapping() if "columns" in entries else {}
        specs = {name: _column(name, node) for name, node in columns.items()}
        return cls(entries, tuple(languages), specs, read_origin(entries.get("origin"), Origin.WRITTEN))

    def designs(self) -> dict[str, tuple[Profile, ...]]:
        """Return the base profiles by the name of their design.

        Raises ComponentsError for a missing, duplicate, unknown or malformed entry.
        """
        return {
            name: tuple(self._numbered(self._profiles(node)))
            for name, node in self.entries["profiles"].mapping().items()
        }

    def _numbered(self, parts: Iterable[_Part]) -> Iterator[Profile]:
        for number, part in enumerate(parts, start=1):
            texts = {
                language: {name: by_language[language].text for name, by_language in part.texts.items()}
                for language in self.languages
            }
            yield Profile(f"P{number:02d}", part.factors, texts, part.origins)

    def _profiles(self, node: Node) -> Iterator[_Part]:
        if isinstance(node.value, list):
            yield from (self._part(item) for item in node.items())
            return
        design = node.fields(("factors",), ("tables", "texts"))
        crossed = [
            [self._part(item) for item in named.items()]
            for named in self._named("factors", design["factors"])
        ]
        tables = [self._table(named) for named in self._named("tables", design.get("tables"))]
        texts = self._named("texts", design.get("texts"))
        for cell in itertools.product(*crossed):
            part = cell[0]
            for more in cell[1:]:
                part += more
            for given, rows in tables:
                part += _row(node, given, rows, part)
            for text in texts:
                part = self._written(text, part)
            yield part

    def _named(self, key: str, node: Node | None) -> list[Node]:
        """Return the entries of `key` that a design names."""
        if node is None:
            return []
        known = self.entries[key].mapping() if key in self.entries else {}
        return [known[item.choice(known)] for item in node.items()]

    def _part(self, node: Node, given: Iterable[str] = ()) -> _Part:
        """Return what an entry says: numbers and names are factors, entries by language are texts."""
        factors: dict[str, Factor] = {}
        texts: dict[str, _Texts] = {}
        entries = node.mapping()
        origins = self._origins(entries.pop("origin", None))
        for name, entry in entries.items():
            if name in given:
                continue
            if isinstance(entry.value, dict):
                said = entry.by_language(self.languages)
                texts[name] = {language: Text(said[language].text(), origins[language]) for language in said}
            else:
                factors[name] = self._factor(name, entry)
        return _Part(factors, texts, origins)

    def _factor(self, name: str, node: Node) -> Factor:
        Node(node.file, node.key, name).choice(self.columns)
        kind = self.columns[name].kind
        if kind == "category":
            return node.text()
        if kind == "int32" and type(node.value) is not int:
            node.fail(f"expected a whole number, found {node.value!r}")
        return int(node.number()) if kind == "int32" else float(node.number())

    def _origins(self, node: Node | None) -> dict[str, Origin]:
        """Return the origin in each language, given for all of them or one by one."""
        if node is None or not isinstance(node.value, dict):
            return dict.fromkeys(self.languages, read_origin(node, self.origin))
        given = node.fields((), self.languages)
        return {language: read_origin(given.get(language), self.origin) for language in self.languages}

    def _table(self, node: Node) -> tuple[tuple[str, ...], dict[tuple[Factor, ...], _Part]]:
        """Return the factors that choose a row, and what each combination of them adds."""
        fields = node.fields(("given", "rows"))
        given = fields["given"].texts()
        rows: dict[tuple[Factor, ...], _Part] = {}
        for item in fields["rows"].items():
            entries = item.mapping()
            if missing := [name for name in given if name not in entries]:
                item.fail(f"key {missing[0]!r} is missing")
            part = self._part(item, given)
            for cell in itertools.product(*(self._values(name, entries[name]) for name in given)):
                if cell in rows:
                    item.fail(f"a second row for {_listed(cell)}")
                rows[cell] = part
        return given, rows

    def _values(self, name: str, node: Node) -> list[Factor]:
        nodes = node.items() if isinstance(node.value, list) else (node,)
        return [self._factor(name, each) for each in nodes]

    def _written(self, node: Node, part: _Part) -> _Part:
        """Add a text that is made of what the profile has."""
        said = node.by_language(self.languages)
        name = node.key.rpartition(".")[2]
        text = {
            language: Text(_filled(phrase, part, language), part.origins[language])
            for language, phrase in said.items()
        }
        return _Part(part.factors, {**part.texts, name: text}, part.origins)


def read_origin(node: Node | None, default: Origin) -> Origin:
    """Return the origin that an entry names."""
    return default if node is None else _ORIGINS[node.choice(_ORIGINS)]


def _column(name: str, node: Node) -> ColumnSpec:
    fields = node.fields(("kind", "description"))
    return ColumnSpec(name, cast(Kind, fields["kind"].choice(_KINDS)), fields["description"].text())


def _row(node: Node, given: tuple[str, ...], rows: Mapping[tuple[Factor, ...], _Part], part: _Part) -> _Part:
    if unknown := [name for name in given if name not in part.factors]:
        node.fail(f"a table needs {unknown[0]!r}, which these profiles do not have")
    cell = tuple(part.factors[name] for name in given)
    if cell not in rows:
        node.fail(f"no row for {_listed(cell)} in the table of {_listed(given)}")
    return rows[cell]


def _listed(cell: Iterable[Factor]) -> str:
    return ", ".join(map(str, cell))


def _filled(phrase: Node, part: _Part, language: str) -> str:
    texts = {name: by_language[language].text for name, by_language in part.texts.items()}
    try:
        return phrase.text().format_map({**part.factors, **texts})
    except (KeyError, ValueError, IndexError) as error:
        phrase.fail(f"malformed braces or unknown name: {error}")
