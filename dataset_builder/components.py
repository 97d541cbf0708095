"""Loads the components of the benchmark from the YAML files beside this module."""

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Final, cast

from .profiles import read_profiles
from .reader import Node, read_yaml
from .records import (
    LANGUAGES,
    SPEAKERS,
    Axis,
    Components,
    Identifier,
    Language,
    Origin,
    Profile,
    Speaker,
    Text,
    UseCase,
)

COMPONENTS_FOLDER: Final = Path(__file__).with_name("components")
UNITS: Final = ("INR", "percent")

_Patterns = Mapping[str, Mapping[tuple[Speaker, Language], str]]
_Designs = Mapping[str, tuple[Profile, ...]]


def load_components(folder: Path | None = None) -> Components:
    """Return the components in `folder`, by default those of this package, which are read once.

    The files are identifiers.yaml, profiles.yaml, system_prompts.yaml and use_cases.yaml; each
    explains itself. Raises ComponentsError, naming file, key and fault, for a missing, duplicate,
    unknown or malformed entry.
    """
    return _own() if folder is None else _read(folder)


@cache
def _own() -> Components:
    return _read(COMPONENTS_FOLDER)


def _read(folder: Path) -> Components:
    system = read_yaml(folder / "system_prompts.yaml").fields(("system_prompts", "fairness_sentence"))
    asked = read_yaml(folder / "use_cases.yaml").fields(("version", "released", "splits", "use_cases"))
    designs = read_profiles(read_yaml(folder / "profiles.yaml"))
    system_prompts = {name: node.text() for name, node in system["system_prompts"].mapping().items()}
    return Components(
        version=asked["version"].text(),
        released=asked["released"].text(),
        splits={language: node.text() for language, node in _by_language(asked["splits"])},
        axes=_axes(read_yaml(folder / "identifiers.yaml")),
        use_cases=tuple(
            _use_case(slug, node, designs, system_prompts)
            for slug, node in asked["use_cases"].mapping().items()
        ),
        fairness_sentence=system["fairness_sentence"].text(),
    )


def slugify(label: str) -> str:
    """Return the ASCII slug of a label: lower case, other than letters and digits one `_`."""
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")


def _by_language(node: Node) -> Iterator[tuple[Language, Node]]:
    entries = node.fields(LANGUAGES)
    return ((language, entries[language]) for language in LANGUAGES)


def _axes(file: Node) -> tuple[Axis, ...]:
    entries = file.fields(("patterns", "axes"))
    patterns: _Patterns = {name: _pattern(node) for name, node in entries["patterns"].mapping().items()}
    return tuple(_axis(slug, node, patterns) for slug, node in entries["axes"].mapping().items())


def _pattern(node: Node) -> Mapping[tuple[Speaker, Language], str]:
    columns: dict[tuple[Speaker, Language], str] = {}
    for (speaker, entry), language in itertools.product(node.fields(SPEAKERS).items(), LANGUAGES):
        phrase = entry.fields(LANGUAGES)[language]
        if phrase.text().count("{name}") != 1:
            phrase.fail("expected {name} exactly once")
        columns[cast(Speaker, speaker), language] = phrase.text()
    return columns


def _axis(slug: str, node: Node, patterns: _Patterns) -> Axis:
    entries = node.fields(("label", "source", "motivation", "canonical_pair", "identifiers"))
    identifiers: dict[str, Identifier] = {}
    for item in entries["identifiers"].items():
        identifier = _identifier(item, patterns)
        if identifier.slug in identifiers:
            item.fail(f"duplicate identifier {identifier.slug!r}")
        identifiers[identifier.slug] = identifier
    return Axis(
        slug=slug,
        label=entries["label"].text(),
        source=entries["source"].text(),
        motivation=entries["motivation"].text(),
        canonical_pair=_canonical_pair(entries["canonical_pair"], identifiers),
        identifiers=tuple(identifiers.values()),
    )


def _canonical_pair(node: Node, identifiers: Mapping[str, Identifier]) -> tuple[str, str]:
    labels = [identifier.label for identifier in identifiers.values()]
    pair = [slugify(item.choice(labels)) for item in node.items()]
    if len(pair) != 2 or pair[0] == pair[1]:
        node.fail("expected two different identifiers, the reference first")
    return pair[0], pair[1]


def _identifier(node: Node, patterns: _Patterns) -> Identifier:
    entries = node.fields(("label", "pattern"), ("name", "printed"))
    label = entries["label"].text()
    pattern = patterns[entries["pattern"].choice(patterns)]
    names = _names(entries.get("name"), label)
    printed = _printed(entries.get("printed"))
    phrases = {
        (speaker, language): Text(
            phrase.replace("{name}", names[language]),
            Origin.PAPER if (speaker, language) in printed else Origin.COMPLETED,
        )
        for (speaker, language), phrase in pattern.items()
    }
    return Identifier(slugify(label), label, phrases)


def _names(node: Node | None, label: str) -> dict[Language, str]:
    if node is None:
        return dict.fromkeys(LANGUAGES, label)
    if isinstance(node.value, dict):
        return {language: entry.text() for language, entry in _by_language(node)}
    return dict.fromkeys(LANGUAGES, node.text())


def _printed(node: Node | None) -> set[tuple[str, str]]:
    if node is None:
        return set()
    return {
        (item.choice(SPEAKERS), language)
        for language, entry in node.fields((), LANGUAGES).items()
        for item in entry.items()
    }


def _use_case(slug: str, node: Node, designs: _Designs, system_prompts: Mapping[str, str]) -> UseCase:
    entries = node.fields(
        ("label", "speaker", "profiles", "output_unit", "system_prompt", "template", "questions")
    )
    questions = {language: entry.texts() for language, entry in _by_language(entries["questions"])}
    if len({len(variants) for variants in questions.values()}) != 1:
        entries["questions"].fail("both languages need the same number of question variants")
    profiles = designs[entries["profiles"].choice(designs)]
    return UseCase(
        slug=slug,
        label=entries["label"].text(),
        speaker=cast(Speaker, entries["speaker"].choice(SPEAKERS)),
        output_unit=entries["output_unit"].choice(UNITS),
        system_prompt=system_prompts[entries["system_prompt"].choice(system_prompts)],
        templates={
            language: _template(entry, language, profiles[0])
            for language, entry in _by_language(entries["template"])
        },
        questions=questions,
        profiles=profiles,
    )


def _template(node: Node, language: Language, profile: Profile) -> str:
    """Return a template whose names are all known, the identifier phrase and the question once."""
    template = node.text()
    try:
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        node.fail(f"malformed braces: {error}")
    known = ("identifier_phrase", "question", *profile.factors, *profile.texts[language])
    for name in names:
        Node(node.file, f"{node.key}.{{{name}}}", name).choice(known)
    for name in ("identifier_phrase", "question"):
        if names.count(name) != 1:
            node.fail(f"expected {{{name}}} exactly once")
    return template
