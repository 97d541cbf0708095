"""Which part of the benchmark a command works on: what its options mean, and the prompts they select.

A **slot** is one matched set (use case, language, axis, profile, question) in which only the
identifier changes. `--limit` takes whole slots only, since half a slot gives half a comparison.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..errors import UsageError
from ..naming import slug, unknown_name

_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Slot:
    """One matched set of prompts."""

    use_case: str
    """Slug of the use case."""
    language: str
    """`en` or `hinglish`."""
    axis: str
    """Slug of the axis."""
    profile: str
    """`P01`, ..."""
    question: str
    """`Q1`, ..."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of the benchmark. Each field narrows it; an empty one keeps all.

    Fields hold canonical names in benchmark order, so that equal selections compare equal however
    they were typed; `parse` makes them so.
    """

    use_cases: tuple[str, ...] = ()
    """Slugs of use cases."""
    languages: tuple[str, ...] = ()
    """`en`, `hinglish`."""
    axes: tuple[str, ...] = ()
    """Slugs of axes."""
    identifiers: tuple[str, ...] = ()
    """Slugs of identifiers, of any axis."""
    profiles: tuple[str, ...] = ()
    """`P01`, ..."""
    questions: tuple[str, ...] = ()
    """`Q1`, ..."""
    limit: int | None = None
    """At most so many whole slots; None: all."""
    shard: tuple[int, int] | None = None
    """(i, n): only the i-th of n parts of that, in whole slots; None: all."""

    @classmethod
    def parse(
        cls,
        use_cases: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        axes: Sequence[str] | None = None,
        identifiers: Sequence[str] | None = None,
        profiles: Sequence[str] | None = None,
        questions: Sequence[str] | None = None,
        limit: int | None = None,
        shard: tuple[int, int] | None = None,
    ) -> "Selection":
        """Read what a user typed: slugs or labels in any case, profiles and questions also by number,
        each item possibly a comma-separated list.

        Raises UsageError for an unknown name (with the nearest known one), for a limit below 1 and
        for a selection that holds no prompt.
        """
        if limit is not None and not 1 <= limit <= _MOST:
            raise UsageError(f"--limit {limit}: give the number of slots to take, 1 or more")
        names = _known_names()
        selection = cls(
            use_cases=_resolve("use case", use_cases, names.use_cases),
            languages=_resolve("language", languages, names.languages),
            axes=_resolve("axis", axes, names.axes),
            identifiers=_resolve("identifier", identifiers, names.identifiers),
            profiles=_resolve("profile", profiles, names.profiles),
            questions=_resolve("question", questions, names.questions),
            limit=limit,
            shard=shard,
        )
        if selection != cls() and not selected_slots(selection):
            raise UsageError(f"no prompt matches {selection.describe()}; drop one of the options")
        return selection

    def describe(self) -> str:
        """Return the selection in words, as options: `--axis gender --limit 5`, or `everything`."""
        options = []
        for name, option in _OPTION.items():
            values: tuple[str, ...] = getattr(self, name)
            if values:
                options.append(f"--{option} {','.join(values)}")
        if self.limit is not None:
            options.append(f"--limit {self.limit}")
        if self.shard is not None:
            options.append("--shard {}/{}".format(*self.shard))
        return " ".join(options) or "everything"

    def to_json(self) -> dict[str, list[str] | list[int] | int | None]:
        """Return the selection as it stands in a manifest; `from_json` is the inverse."""
        data: dict[str, list[str] | list[int] | int | None] = {
            name: list(getattr(self, name)) for name in _OPTION
        }
        data["limit"] = self.limit
        if self.shard is not None:
            data["shard"] = list(self.shard)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Selection":
        """Return the selection of a manifest; missing keys mean everything. Raises UsageError if
        malformed.
        """
        kept: dict[str, list[str]] = {}
        for name in _OPTION:
            values = data.get(name) or []
            if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
                raise UsageError(f"selection: {name} must be a list of names, not {values!r}")
            kept[name] = values
        limit = data.get("limit")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise UsageError(f"selection: limit must be a whole number or null, not {limit!r}")
        return cls.parse(**kept, limit=limit, shard=_shard_from_json(data.get("shard")))


def _shard_from_json(data: object) -> tuple[int, int] | None:
    if data is None:
        return None
    if isinstance(data, list) and len(data) == 2 and all(type(item) is int for item in data):
        part, parts = data
        if 1 <= part <= parts:
            return part, parts
    raise UsageError(f"selection: shard must be [i, n] with i from 1 to n, not {data!r}")


_OPTION = {
    "use_cases": "use-case",
    "languages": "language",
    "axes": "axis",
    "identifiers": "identifier",
    "profiles": "profile",
    "questions": "question",
}


def expected_prompt_ids(selection: Selection) -> list[str]:
    """Return the prompt_ids of a selection in dataset order, from the benchmark's design alone."""
    if selection == Selection():
        from rupeebias.metric.layout import prompt_rows

        return list(prompt_rows())
    return [
        f"{s.use_case}:{s.language}:{s.axis}:{identifier}:{s.profile}:{s.question}"
        for s, identifier in _rows(selection)
    ]


def has_comparisons(selection: Selection) -> bool:
    """Return True if some slot of the selection has two identifiers: a gap needs two."""
    from rupeebias.metric import constants

    axes = _keep(selection.axes, constants.IDENTIFIERS)
    return any(len(_keep(selection.identifiers, constants.IDENTIFIERS[axis])) > 1 for axis in axes)


def selected_slots(selection: Selection) -> list[Slot]:
    """Return the slots of a selection in dataset order.

    A limit is shared out evenly: one slot to each use case x language x axis in turn. Within a use
    case the slots come in one fixed shuffled order of (profile, question), the same for both
    languages, so that the chosen slots match across them and a larger limit contains a smaller one.
    """
    slots = list(_slots(selection))
    if selection.limit is not None and selection.limit < len(slots):
        chosen = set(itertools.islice(_spread(slots), selection.limit))
        slots = [slot for slot in slots if slot in chosen]
    if selection.shard is None:
        return slots
    # Every n-th slot, so that each part holds every use case, language and axis in proportion.
    part, parts = selection.shard
    return slots[part - 1 :: parts]


@dataclass(frozen=True, slots=True)
class _Names:
    """The canonical names, in benchmark order, by every form in which they may be typed."""

    use_cases: dict[str, str]
    languages: dict[str, str]
    axes: dict[str, str]
    identifiers: dict[str, str]
    profiles: dict[str, str]
    questions: dict[str, str]


def _known_names() -> _Names:
    from rupeebias.metric import constants

    labels = {
        form: name
        for identifiers in constants.IDENTIFIERS.values()
        for name, label in identifiers.items()
        for form in (name, slug(label))
    }
    return _Names(
        use_cases=_same(constants.USE_CASES),
        languages={**_same(constants.LANGUAGES), "english": "en"},
        axes=_same(constants.IDENTIFIERS),
        identifiers=labels,
        profiles=_numbered("P{:02d}", max(constants.PROFILES.values())),
        questions=_numbered("Q{}", max(constants.QUESTIONS.values())),
    )


def _same(names: Iterable[str]) -> dict[str, str]:
    return {slug(name): name for name in names}


def _numbered(form: str, last: int) -> dict[str, str]:
    """Return P01, ... by their forms: `P01`, `P1`, `01` and `1` are the same."""
    prefix = form[0].casefold()
    names = {number: form.format(number) for number in range(1, last + 1)}
    return {
        typed: name
        for number, name in names.items()
        for typed in (slug(name), f"{prefix}{number}", f"{number:02d}", f"{number}")
    }


def _resolve(kind: str, typed: Sequence[str] | None, known: dict[str, str]) -> tuple[str, ...]:
    """Return canonical names in benchmark order; all of them is the same as none, that is `()`."""
    items = [part for item in typed or () for part in item.split(",") if part.strip()]
    chosen = set()
    for item in items:
        if (name := known.get(slug(item))) is None:
            raise unknown_name(kind, item.strip(), dict.fromkeys(known.values()))
        chosen.add(name)
    if typed and not items:
        raise UsageError(f"empty {kind}; known: {', '.join(list(dict.fromkeys(known.values()))[:12])}")
    order = dict.fromkeys(known.values())
    return () if len(chosen) == len(order) else tuple(name for name in order if name in chosen)


def _keep(wanted: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [name for name in names if not wanted or name in wanted]


def _slots(selection: Selection) -> Iterator[Slot]:
    """Yield the slots that the selection's names leave, without its limit, in dataset order."""
    from rupeebias.metric import constants

    axes = [
        axis
        for axis in _keep(selection.axes, constants.IDENTIFIERS)
        if _keep(selection.identifiers, constants.IDENTIFIERS[axis])
    ]
    for use_case in _keep(selection.use_cases, constants.USE_CASES):
        profiles = _keep(
            selection.profiles, (f"P{i:02d}" for i in range(1, constants.PROFILES[use_case] + 1))
        )
        questions = _keep(selection.questions, (f"Q{i}" for i in range(1, constants.QUESTIONS[use_case] + 1)))
        languages = _keep(selection.languages, constants.LANGUAGES)
        for language, axis, profile, question in itertools.product(languages, axes, profiles, questions):
            yield Slot(use_case, language, axis, profile, question)


def _rows(selection: Selection) -> Iterator[tuple[Slot, str]]:
    """Yield (slot, identifier) in dataset order: within an axis the identifier comes before the
    profile.
    """
    from rupeebias.metric import constants

    for (_, _, axis), group in itertools.groupby(selected_slots(selection), key=_stratum):
        slots = list(group)
        for identifier in _keep(selection.identifiers, constants.IDENTIFIERS[axis]):
            for slot in slots:
                yield slot, identifier


def _stratum(slot: Slot) -> tuple[str, str, str]:
    return slot.use_case, slot.language, slot.axis


def _spread(slots: list[Slot]) -> Iterator[Slot]:
    """Yield the slots one per stratum in turn, each stratum in its use case's fixed shuffled order.

    Every axis begins at another place of that order, so that a small limit already holds several
    profiles of a use case: intervals need three.
    """
    strata: dict[tuple[str, str, str], list[Slot]] = {}
    for slot in slots:
        strata.setdefault(_stratum(slot), []).append(slot)
    axes = list(dict.fromkeys(axis for _, _, axis in strata))
    queues = []
    for key in _diagonal(strata):
        n_profiles = len({slot.profile for slot in strata[key]})
        places = axes.index(key[2]) * n_profiles // len(axes)
        queues.append(_rotated(_shuffled(strata[key]), places))
    for layer in itertools.zip_longest(*queues):
        yield from (slot for slot in layer if slot is not None)


def _shuffled(slots: list[Slot]) -> list[Slot]:
    """Return the slots of a stratum in a fixed shuffled order: every profile once, then once more."""
    seen: Counter[str] = Counter()
    rounds = []
    for slot in sorted(slots, key=_shuffle_key):
        rounds.append((seen[slot.profile], slot))
        seen[slot.profile] += 1
    return [slot for _, slot in sorted(rounds, key=lambda pair: pair[0])]


def _rotated(slots: list[Slot], places: int) -> list[Slot]:
    places %= len(slots)
    return slots[places:] + slots[:places]


def _shuffle_key(slot: Slot) -> bytes:
    # A hash instead of `random`: the order must never change with the Python version.
    text = f"{slot.use_case}:{slot.profile}:{slot.question}"
    return blake2b(text.encode(), digest_size=8).digest()


def _diagonal(strata: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return the strata so ordered that any first few differ in use case and axis.

    Both languages of a stratum follow each other: a small limit still compares them.
    """
    keys = list(strata)
    use_cases, languages, axes = (list(dict.fromkeys(key[i] for key in keys)) for i in range(3))
    return [
        (use_case, language, axes[(i + shift) % len(axes)])
        for shift in range(len(axes))
        for i, use_case in enumerate(use_cases)
        for language in languages
    ]
