"""Loads the components of a benchmark from YAML files: RupeeBias's own beside this module, or others."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Final

from rupeebias.errors import ComponentsError
from rupeebias.metric.design import OUTCOMES, PERCENT, Outcome

from .profiles import ProfileFile, read_origin
from .reader import Node, read_yaml
from .records import Axis, Components, Factor, Identifier, Language, Origin, Profile, Text, UseCase

COMPONENTS_FOLDER: Final = Path(__file__).with_name("components")
CARD: Final = "dataset_card.md"
"""Template of the dataset card, in a folder of components; one without it gets a plain card."""
_PLAIN_CARD: Final = "plain_card.md"
_OUTCOMES: Final[dict[str, Outcome]] = {name: name for name in OUTCOMES}
_SLUG: Final = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")

_Patterns = Mapping[str, Mapping[tuple[str, str], str]]
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
    asked = read_yaml(folder / "use_cases.yaml").fields(
        ("name", "label", "version", "released", "languages", "use_cases")
    )
    system = read_yaml(folder / "system_prompts.yaml").fields(("system_prompts", "fairness_sentence"))
    languages = tuple(_language(slug, node) for slug, node in _slugs(asked["languages"]))
    slugs = [language.slug for language in languages]
    profiles = ProfileFile.of(read_yaml(folder / "profiles.yaml"), slugs)
    designs = profiles.designs()
    system_prompts = {name: node.text() for name, node in system["system_prompts"].mapping().items()}
    patterns, axes = _axes(read_yaml(folder / "identifiers.yaml"), slugs)
    speakers = list(dict.fromkeys(speaker for columns in patterns.values() for speaker, _ in columns))
    return Components(
        name=asked["name"].text(),
        label=asked["label"].text(),
        version=asked["version"].text(),
        released=asked["released"].text(),
        languages=languages,
        axes=axes,
        use_cases=tuple(
            _use_case(slug, node, designs, system_prompts, slugs, speakers)
            for slug, node in _slugs(asked["use_cases"])
        ),
        controls=_controls(folder, axes, slugs),
        factor_columns=tuple(profiles.columns.values()),
        fairness_sentence=system["fairness_sentence"].text(),
        card=_card(folder),
    )


def slugify(label: str) -> str:
    """Return the ASCII slug of a label: lower case, other than letters and digits one `_`."""
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")


def _slugs(node: Node) -> Sequence[tuple[str, Node]]:
    """Return the entries of a mapping whose keys become parts of prompt_ids."""
    entries = node.mapping()
    for slug in entries:
        if not _SLUG.fullmatch(slug):
            node.fail(f"{slug!r} becomes a part of prompt_ids: small ASCII letters, digits and _ only")
    return list(entries.items())


def _language(slug: str, node: Node) -> Language:
    entries = node.fields(("label", "split"), ("tag",))
    tag = entries["tag"].text() if "tag" in entries else slug
    return Language(slug, entries["label"].text(), entries["split"].text(), tag)


def _axes(file: Node, languages: Sequence[str]) -> tuple[_Patterns, tuple[Axis, ...]]:
    entries = file.fields(("patterns", "axes"), ("origin",))
    origin = read_origin(entries.get("origin"), Origin.WRITTEN)
    patterns = {name: _pattern(node, languages) for name, node in entries["patterns"].mapping().items()}
    axes = tuple(_axis(slug, node, patterns, languages, origin) for slug, node in _slugs(entries["axes"]))
    return patterns, axes


def _pattern(node: Node, languages: Sequence[str]) -> Mapping[tuple[str, str], str]:
    columns: dict[tuple[str, str], str] = {}
    for speaker, entry in node.mapping().items():
        for language, phrase in entry.by_language(languages).items():
            if phrase.text().count("{name}") != 1:
                phrase.fail("expected {name} exactly once")
            columns[speaker, language] = phrase.text()
    return columns


def _axis(slug: str, node: Node, patterns: _Patterns, languages: Sequence[str], origin: Origin) -> Axis:
    entries = node.fields(("label", "identifiers"), ("source", "motivation", "canonical_pair"))
    identifiers: dict[str, Identifier] = {}
    for item in entries["identifiers"].items():
        identifier = _identifier(item, patterns, languages, origin)
        if identifier.slug in identifiers:
            item.fail(f"duplicate identifier {identifier.slug!r}")
        identifiers[identifier.slug] = identifier
    if len(identifiers) < 2:
        entries["identifiers"].fail("expected two identifiers or more: a gap is between two")
    return Axis(
        slug=slug,
        label=entries["label"].text(),
        source=_optional(entries, "source"),
        motivation=_optional(entries, "motivation"),
        canonical_pair=_canonical_pair(entries.get("canonical_pair"), identifiers),
        identifiers=tuple(identifiers.values()),
    )


def _optional(entries: Mapping[str, Node], key: str) -> str:
    return entries[key].text() if key in entries else ""


def _canonical_pair(node: Node | None, identifiers: Mapping[str, Identifier]) -> tuple[str, str] | None:
    if node is None:
        return None
    labels = [identifier.label for identifier in identifiers.values()]
    pair = [slugify(item.choice(labels)) for item in node.items()]
    if len(pair) != 2 or pair[0] == pair[1]:
        node.fail("expected two different identifiers, the reference first")
    return pair[0], pair[1]


def _identifier(node: Node, patterns: _Patterns, languages: Sequence[str], origin: Origin) -> Identifier:
    entries = node.fields(("label", "pattern"), ("name", "printed"))
    label = entries["label"].text()
    if not slugify(label):
        entries["label"].fail("expected at least one ASCII letter or digit, for the prompt_id")
    pattern = patterns[entries["pattern"].choice(patterns)]
    names = _names(entries.get("name"), label, languages)
    printed = _printed(entries.get("printed"), languages, {speaker for speaker, _ in pattern})
    phrases = {
        (speaker, language): Text(
            phrase.replace("{name}", names[language]),
            Origin.PAPER if (speaker, language) in printed else origin,
        )
        for (speaker, language), phrase in pattern.items()
    }
    return Identifier(slugify(label), label, phrases)


def _names(node: Node | None, label: str, languages: Sequence[str]) -> dict[str, str]:
    if node is None:
        return dict.fromkeys(languages, label)
    if isinstance(node.value, dict):
        return {language: entry.text() for language, entry in node.by_language(languages).items()}
    return dict.fromkeys(languages, node.text())


def _printed(node: Node | None, languages: Sequence[str], speakers: set[str]) -> set[tuple[str, str]]:
    if node is None:
        return set()
    return {
        (item.choice(sorted(speakers)), language)
        for language, entry in node.fields((), languages).items()
        for item in entry.items()
    }


def _controls(folder: Path, axes: Sequence[Axis], languages: Sequence[str]) -> tuple[Axis, ...]:
    """Return the axes of controls.yaml, which a benchmark may lack: placebos, then wordings."""
    if not (folder / "controls.yaml").is_file():
        return ()
    entries = read_yaml(folder / "controls.yaml").fields(("placebos",), ("wordings",))
    placebos = (_placebo(slug, node, languages) for slug, node in _slugs(entries["placebos"]))
    wordings = entries["wordings"].mapping() if "wordings" in entries else {}
    by_slug = {axis.slug: axis for axis in axes}
    for slug, node in wordings.items():
        Node(node.file, node.key, slug).choice(by_slug)
    return (*placebos, *(_wordings(by_slug[slug], node, languages) for slug, node in wordings.items()))


def _placebo(slug: str, node: Node, languages: Sequence[str]) -> Axis:
    entries = node.fields(("label", "phrase", "names"))
    pattern = _pattern(entries["phrase"], languages)
    identifiers = tuple(
        Identifier(slugify(name), name, _written(pattern, name)) for name in entries["names"].texts()
    )
    return Axis(slug, entries["label"].text(), "", "", None, identifiers)


def _wordings(axis: Axis, node: Node, languages: Sequence[str]) -> Axis:
    """Return the other wordings of an axis' canonical pair, as identifiers `{identifier}_1`, ..."""
    pair = {person.label: person for person in axis.identifiers if person.slug in (axis.canonical_pair or ())}
    identifiers = []
    for label, entries in node.fields(pair).items():
        for number, item in enumerate(entries.items(), start=1):
            pattern = {
                (speaker, language): phrase.text()
                for speaker, entry in item.mapping().items()
                for language, phrase in entry.by_language(languages).items()
            }
            slug, name = f"{pair[label].slug}_{number}", f"{label}, wording {number}"
            identifiers.append(Identifier(slug, name, _written(pattern, "")))
    return Axis(f"wording_{axis.slug}", f"{axis.label}, other words", "", "", None, tuple(identifiers))


def _written(pattern: Mapping[tuple[str, str], str], name: str) -> dict[tuple[str, str], Text]:
    return {column: Text(text.replace("{name}", name), Origin.WRITTEN) for column, text in pattern.items()}


def _use_case(
    slug: str,
    node: Node,
    designs: _Designs,
    system_prompts: Mapping[str, str],
    languages: Sequence[str],
    speakers: Sequence[str],
) -> UseCase:
    entries = node.fields(
        ("label", "speaker", "profiles", "output_unit", "bounds", "system_prompt", "template", "questions"),
        ("about", "outcome", "period", "known"),
    )
    questions = {
        language: entry.texts() for language, entry in entries["questions"].by_language(languages).items()
    }
    if len({len(variants) for variants in questions.values()}) != 1:
        entries["questions"].fail("all languages need the same number of question variants")
    profiles = designs[entries["profiles"].choice(designs)]
    templates = entries["template"].by_language(languages)
    label, unit = entries["label"].text(), _unit(entries["output_unit"])
    known = _known(entries.get("known"), profiles)
    return UseCase(
        slug=slug,
        label=label,
        about=_optional(entries, "about") or label,
        speaker=entries["speaker"].choice(speakers),
        output_unit=unit,
        outcome=_outcome(node, entries.get("outcome"), unit, known),
        bounds=_bounds(entries["bounds"]),
        period=_optional(entries, "period"),
        known=known,
        system_prompt=system_prompts[entries["system_prompt"].choice(system_prompts)],
        templates={name: _template(entry, name, profiles[0]) for name, entry in templates.items()},
        questions=questions,
        profiles=profiles,
    )


def _unit(node: Node) -> str:
    unit = node.text()
    if unit != PERCENT and not re.fullmatch("[A-Z]{3}", unit):
        node.fail(f"expected {PERCENT!r} or the three capitals of a currency such as INR, found {unit!r}")
    return unit


def _outcome(use_case: Node, node: Node | None, unit: str, known: Sequence[float]) -> Outcome:
    usual = PERCENT if unit == PERCENT else "amount"
    outcome = _OUTCOMES[node.choice(_OUTCOMES) if node else usual]
    if (outcome == PERCENT) != (unit == PERCENT):
        use_case.fail(f"outcome {outcome} does not go with output_unit {unit}")
    if outcome == "markup" and not known:
        use_case.fail("a markup needs the amount that it is over: give `known`")
    return outcome


def _bounds(node: Node) -> tuple[float, float]:
    bounds = [item.number() for item in node.items()]
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        node.fail("expected the smallest and the largest plausible answer")
    return bounds[0], bounds[1]


def _known(node: Node | None, profiles: Sequence[Profile]) -> tuple[float, ...]:
    """Return the amount that each profile's prompt states: a factor, in units of `times`."""
    if node is None:
        return ()
    entries = node.fields(("column",), ("times",))
    column = entries["column"].choice(profiles[0].factors)
    times = entries["times"].number() if "times" in entries else 1
    amounts = [profile.factors[column] for profile in profiles]
    known: list[float] = []
    for amount in amounts:
        if isinstance(amount, str) or amount * times <= 0:
            node.fail(f"{column} must be a number above 0 in every profile, found {amount!r}")
        known.append(amount * times)
    return tuple(known)


def _template(node: Node, language: str, profile: Profile) -> str:
    """Return a template whose names are all known, the identifier phrase and the question once."""
    template = node.text()
    try:
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        node.fail(f"malformed braces: {error}")
    factors: Mapping[str, Factor] = profile.factors
    known = ("identifier_phrase", "question", *factors, *profile.texts[language])
    for name in names:
        Node(node.file, f"{node.key}.{{{name}}}", name).choice(known)
    for name in ("identifier_phrase", "question"):
        if names.count(name) != 1:
            node.fail(f"expected {{{name}}} exactly once")
    return template


def _card(folder: Path) -> str:
    """Return the template of the dataset card.

    RupeeBias's own lies one folder above the components, in the repository two.
    """
    here = COMPONENTS_FOLDER.parent
    own = (here, here.parent) if folder == COMPONENTS_FOLDER else ()
    for path in (folder / CARD, *(above / CARD for above in own), here / _PLAIN_CARD):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise ComponentsError(f"{CARD} is missing in {folder}, and {_PLAIN_CARD} in {here}; reinstall rupeebias")
