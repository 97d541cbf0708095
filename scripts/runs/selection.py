"""Which part of a benchmark a command works on: what its options mean, and the prompts they select.

A **slot** is one matched set (use case, language, axis, profile, question) in which only the
identifier changes. `--limit` takes whole slots only, since half a slot gives half a comparison.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design, UseCase

from ..errors import UsageError
from ..naming import slug, unknown_name

AskedDesign: TypeAlias = Literal["full", "profiles-once"]
"""`full` asks every profile in every language with every question, `profiles-once` in one, with one."""
ControlsChoice: TypeAlias = Literal["none", "with", "only"]
"""Whether the benchmark's control prompts are asked as well."""
_MOST: Final = 10**9
_OPTION: Final = {
    "use_cases": "use-case",
    "languages": "language",
    "axes": "axis",
    "identifiers": "identifier",
    "profiles": "profile",
    "questions": "question",
}


class Slot(NamedTuple):
    """One matched set of prompts, by the names of the benchmark: `P01`, `Q1`, ..."""

    use_case: str
    language: str
    axis: str
    profile: str
    question: str

    @property
    def stratum(self) -> tuple[str, str, str]:
        """Use case, language and axis."""
        return self[:3]


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a benchmark. Each field narrows it; an empty one keeps all.

    Fields hold canonical names in benchmark order, so that equal selections compare equal however
    they were typed; `parse` makes them so.
    """

    use_cases: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    """Identifiers of any axis."""
    profiles: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    limit: int | None = None
    """At most so many whole slots; None: all."""
    shard: tuple[int, int] | None = None
    """(i, n): only the i-th of n parts of that, in whole slots; None: all."""
    design: AskedDesign = "full"
    """How much of the benchmark each profile is asked."""
    controls: ControlsChoice = "none"
    """The control prompts of the selected use cases, languages and profiles: whole, whatever the limit."""
    benchmark: Design = DESIGN
    """What it is a part of."""

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
        design: AskedDesign = "full",
        controls: ControlsChoice = "none",
        benchmark: Design = DESIGN,
    ) -> "Selection":
        """Read what a user typed: slugs or labels in any case, profiles and questions also by number,
        each item possibly a comma-separated list.

        Raises UsageError for an unknown name (with the nearest known one), for a limit below 1 and
        for a selection that holds no prompt.
        """
        if limit is not None and not 1 <= limit <= _MOST:
            raise UsageError(f"--limit {limit}: give the number of slots to take, 1 or more")
        if controls != "none" and benchmark.controls is None:
            raise UsageError(f"--controls: {benchmark.label} has no control prompts")
        typed = (use_cases, languages, axes, identifiers, profiles, questions)
        named = {
            field: _resolve(option.replace("-", " "), words, known)
            for (field, option), words, known in zip(
                _OPTION.items(), typed, _known_names(benchmark), strict=True
            )
        }
        selection = cls(
            **named, limit=limit, shard=shard, design=design, controls=controls, benchmark=benchmark
        )
        if not selection.is_everything and not selected_slots(selection):
            raise UsageError(f"no prompt matches {selection.describe()}; drop one of the options")
        return selection

    @property
    def is_everything(self) -> bool:
        """True for the whole benchmark, without its controls."""
        return self == Selection(benchmark=self.benchmark)

    def describe(self) -> str:
        """Return the selection in words, as options: `--axis gender --limit 5`, or `everything`."""
        options = []
        for name, option in _OPTION.items():
            values: tuple[str, ...] = getattr(self, name)
            if values:
                options.append(f"--{option} {','.join(values)}")
        if self.design != "full":
            options.append(f"--design {self.design}")
        if self.limit is not None:
            options.append(f"--limit {self.limit}")
        if self.controls != "none":
            options.append("--controls" if self.controls == "with" else "--controls only")
        if self.shard is not None:
            options.append("--shard {}/{}".format(*self.shard))
        return " ".join(options) or "everything"

    def to_json(self) -> dict[str, Any]:
        """Return the selection as it stands in a manifest; `from_json` is the inverse."""
        data: dict[str, Any] = {name: list(getattr(self, name)) for name in _OPTION}
        data["limit"] = self.limit
        if self.shard is not None:
            data["shard"] = list(self.shard)
        if self.design != "full":
            data["design"] = self.design
        if self.controls != "none":
            data["controls"] = self.controls
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any], benchmark: Design = DESIGN) -> "Selection":
        """Return the selection of a manifest; missing keys mean everything. Raises UsageError if
        malformed.
        """
        kept: dict[str, Any] = {}
        for name in _OPTION:
            values = data.get(name) or []
            if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
                raise UsageError(f"selection: {name} must be a list of names, not {values!r}")
            kept[name] = values
        for name, choices in (("design", get_args(AskedDesign)), ("controls", get_args(ControlsChoice))):
            kept[name] = data.get(name, choices[0])
            if kept[name] not in choices:
                raise UsageError(f"selection: {name} must be one of {', '.join(choices)}")
        limit = data.get("limit")
        if limit is not None and type(limit) is not int:
            raise UsageError(f"selection: limit must be a whole number or null, not {limit!r}")
        return cls.parse(**kept, limit=limit, shard=_shard(data.get("shard")), benchmark=benchmark)


def _shard(data: object) -> tuple[int, int] | None:
    if data is None:
        return None
    if isinstance(data, list) and len(data) == 2 and all(type(item) is int for item in data):
        part, parts = data
        if 1 <= part <= parts:
            return part, parts
    raise UsageError(f"selection: shard must be [i, n] with i from 1 to n, not {data!r}")


def expected_prompt_ids(selection: Selection) -> list[str]:
    """Return the prompt_ids of a selection in dataset order, those of controls last."""
    if selection.is_everything:
        from rupeebias.metric.layout import layout_of

        return list(layout_of(selection.benchmark).prompt_ids)
    design = selection.benchmark
    ids: list[str] = []
    for (use_case, language, axis), group in itertools.groupby(
        selected_slots(selection), key=lambda slot: slot.stratum
    ):
        ends = [f"{slot.profile}:{slot.question}" for slot in group]
        # Within an axis the identifier comes before the profile.
        if axis in design.identifiers:
            identifiers = _keep(selection.identifiers, design.identifiers[axis])
        else:
            identifiers = list(_control_axes(design)[axis])
        ids += [
            f"{use_case}:{language}:{axis}:{identifier}:{end}" for identifier in identifiers for end in ends
        ]
    return ids


def has_comparisons(selection: Selection) -> bool:
    """Return True if some slot of the selection has two identifiers: a gap needs two."""
    every = selection.benchmark.identifiers
    return any(len(_keep(selection.identifiers, every[axis])) > 1 for axis in _keep(selection.axes, every))


def selected_slots(selection: Selection) -> list[Slot]:
    """Return the slots of a selection in dataset order, those of controls last.

    A limit is shared out evenly: one slot to each use case x language x axis in turn. Within a use
    case the slots come in one fixed shuffled order of (profile, question), the same for both
    languages, so that the chosen slots match across them and a larger limit contains a smaller one.
    """
    slots = list(_slots(selection))
    if selection.limit is not None and selection.limit < len(slots):
        chosen = set(itertools.islice(_spread(slots), selection.limit))
        slots = [slot for slot in slots if slot in chosen]
    if selection.controls != "none":
        controls = list(_control_slots(selection, slots))
        slots = controls if selection.controls == "only" else [*slots, *controls]
    if selection.shard is None:
        return slots
    # Every n-th slot, so that each part holds every use case, language and axis in proportion.
    part, parts = selection.shard
    return slots[part - 1 :: parts]


def _known_names(design: Design) -> list[dict[str, str]]:
    """Return the names of each field, in benchmark order, by every form in which they may be typed."""
    use_cases, languages, axes = (
        {slug(form): part.name for part in parts for form in (part.name, part.label)}
        for parts in (design.use_cases, design.languages, design.axes)
    )
    identifiers = {
        form: name
        for axis in design.axes
        for name, label in axis.identifiers.items()
        for form in (name, slug(label))
    }
    profiles = _numbered("P{:02d}", max(use_case.n_profiles for use_case in design.use_cases))
    questions = _numbered("Q{}", max(use_case.n_questions for use_case in design.use_cases))
    return [use_cases, languages, axes, identifiers, profiles, questions]


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
    order = dict.fromkeys(known.values())
    if typed and not items:
        raise UsageError(f"empty {kind}; known: {', '.join(list(order)[:12])}")
    chosen = set()
    for item in items:
        if (name := known.get(slug(item))) is None:
            raise unknown_name(kind, item.strip(), order)
        chosen.add(name)
    return () if len(chosen) == len(order) else tuple(name for name in order if name in chosen)


def _keep(wanted: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [name for name in names if not wanted or name in wanted]


def _slots(selection: Selection) -> Iterator[Slot]:
    """Yield the slots that the selection's names leave, without its limit, in dataset order."""
    design = selection.benchmark
    axes = [
        axis
        for axis in _keep(selection.axes, design.axis_names)
        if _keep(selection.identifiers, design.identifiers[axis])
    ]
    for name in _keep(selection.use_cases, design.use_case_names):
        cells = list(_cells(selection, design.use_case[name]))
        for language in _keep(selection.languages, design.language_names):
            own = [(profile, question) for where, profile, question in cells if where in (None, language)]
            for axis, (profile, question) in itertools.product(axes, own):
                yield Slot(name, language, axis, profile, question)


def _cells(selection: Selection, use_case: UseCase) -> Iterator[tuple[str | None, str, str]]:
    """Yield (language, None for every one; profile; question) for what a profile is asked."""
    once = selection.benchmark.once(use_case.name) if selection.design == "profiles-once" else None
    for profile, question in use_case.cells:
        language, only = (None, question) if once is None else once[profile - 1]
        names = f"P{profile:02d}", f"Q{question}"
        is_kept = names[0] in (selection.profiles or names) and names[1] in (selection.questions or names)
        if is_kept and question == only:
            yield language, *names


def _control_axes(design: Design) -> dict[str, Mapping[str, str]]:
    return {} if design.controls is None else {axis.name: axis.identifiers for axis in design.controls.axes}


def _control_slots(selection: Selection, chosen: Iterable[Slot]) -> Iterator[Slot]:
    """Yield the control slots beside the chosen ones: of their use cases, languages and profiles, whole.

    Other wordings are those of the chosen axes: a wording is compared with the original, asked as well.
    """
    design, control = selection.benchmark, selection.benchmark.control_design
    if control is None:
        return
    chosen = list(chosen)
    beside = {(slot.use_case, slot.language, slot.profile) for slot in chosen}
    left_out = {f"wording_{axis}" for axis in design.axis_names} - {f"wording_{slot.axis}" for slot in chosen}
    axes = tuple(axis for axis in control.axis_names if axis not in left_out)
    every = replace(selection, axes=axes, identifiers=(), benchmark=control)
    yield from (slot for slot in _slots(every) if (slot.use_case, slot.language, slot.profile) in beside)


def _spread(slots: list[Slot]) -> Iterator[Slot]:
    """Yield the slots one per stratum in turn, each stratum in its use case's fixed shuffled order.

    Every axis begins at another place of that order, so that a small limit already holds several
    profiles of a use case: intervals need three.
    """
    strata: dict[tuple[str, str, str], list[Slot]] = {}
    for slot in slots:
        strata.setdefault(slot.stratum, []).append(slot)
    axes = list(dict.fromkeys(axis for _, _, axis in strata))
    queues = []
    for key in _diagonal(strata):
        own = _shuffled(strata[key])
        n_profiles = len({slot.profile for slot in own})
        places = axes.index(key[2]) * n_profiles // len(axes) % len(own)
        queues.append(own[places:] + own[:places])
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


def _shuffle_key(slot: Slot) -> bytes:
    # A hash instead of `random`: the order must never change with the Python version.
    text = f"{slot.use_case}:{slot.profile}:{slot.question}"
    return blake2b(text.encode(), digest_size=8).digest()


def _diagonal(strata: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return the strata so ordered that any first few differ in use case and axis.

    Both languages of a stratum follow each other: a small limit still compares them.
    """
    keys = dict.fromkeys(strata)
    use_cases, languages, axes = (list(dict.fromkeys(key[i] for key in keys)) for i in range(3))
    order = (
        (use_case, language, axes[(i + shift) % len(axes)])
        for shift in range(len(axes))
        for i, use_case in enumerate(use_cases)
        for language in languages
    )
    return [key for key in order if key in keys]
