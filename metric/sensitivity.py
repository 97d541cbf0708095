"""What headlines rest on: who is missing, which amounts are suspect, what other choices would give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from .design import Design
from .failures import by_identifier
from .gaps import SlotGaps, slot_gaps
from .layout import Bools, Floats, layout_of
from .outcomes import Outcomes, outcomes_from_values
from .profile_answers import axis_starts, relative_answers, use_case_arrays
from .readings import Readings
from .slips import magnitude_slips
from .statistics import Statistics
from .systematic_gap import ALL, SystematicGaps, gap_pct, systematic_gaps
from .tables import TABLES, Row, number

ENOUGH_ANSWERED: Final = 0.95
"""Share of its answers in a language below which a group is looked at in the worst case."""
SIGNIFICANT: Final = 0.05
TOP_SHARE: Final = 0.001
"""Share of pairs, the largest, that `without_top_pairs` leaves out."""


def robustness_tables(
    readings: Readings, own: Statistics, health: Mapping[str, Sequence[Row]]
) -> dict[str, list[Row]]:
    """Return the rows of `magnitude_slips`, `completeness`, `worst_case` and `sensitivity`."""
    design = readings.design
    implausible = readings.implausible
    slips = magnitude_slips(
        readings.values, np.full_like(readings.values, np.nan) if implausible is None else implausible, design
    )
    uneven = uneven_identifiers(readings, health["differential_failure"])
    filled = worst_values(readings.values, readings.expected, uneven, design) if uneven else readings.values
    worst = _scored(filled, own) if uneven else None
    return {
        "magnitude_slips": list(_slip_rows(slips, readings)),
        "completeness": list(_completeness_rows(readings)),
        "worst_case": list(_worst_rows(worst, uneven, design)) if worst else [],
        "sensitivity": list(_sensitivity_rows(readings, own, slips, worst)),
    }


def _slip_rows(slips: Bools, readings: Readings) -> Iterator[Row]:
    for one in by_identifier(slips, readings.expected, readings.design):
        p_values = map(number, (one.p_value, one.p_bh))
        key = one.axis, one.identifier
        yield TABLES["magnitude_slips"].row(key, one.n_failed, one.failed_pct, *p_values)


def _completeness_rows(readings: Readings) -> Iterator[Row]:
    """Yield what the run has values of, among the axes and use cases that it has values of at all."""
    design = readings.design
    there: dict[str, dict[str, bool]] = {
        name: {} for name in ("identifier", "profile", "question", "language")
    }
    answered: list[Bools] = [
        np.asarray(~np.isnan(array).all(axis=4)) for array in use_case_arrays(readings.values, design)
    ]
    ends = [*axis_starts(design).tolist(), answered[0].shape[1]]
    for at, axis in enumerate(design.axes):
        found = np.logical_or.reduce(
            [part[:, ends[at] : ends[at + 1]].any(axis=(0, 2, 3)) for part in answered]
        )
        if found.any():
            names = (f"{axis.name}:{name}" for name in axis.identifiers)
            there["identifier"].update(zip(names, found.tolist(), strict=True))
    for use_case, part in zip(design.use_cases, answered, strict=True):
        if part.any():
            for what, axes, letter in (("profile", (0, 1, 3), "P"), ("question", (0, 1, 2), "Q")):
                width = 2 if letter == "P" else 1
                has_values: list[bool] = np.asarray(part.any(axis=axes)).tolist()
                names = (
                    f"{use_case.name}:{letter}{place:0{width}d}" for place in range(1, len(has_values) + 1)
                )
                there[what].update(zip(names, has_values, strict=True))
    languages = np.logical_or.reduce([part.any(axis=(1, 2, 3)) for part in answered]).tolist()
    there["language"] = dict(zip(design.language_names, languages, strict=True))
    for what, of_what in there.items():
        missing = ", ".join(name for name, used in of_what.items() if not used)
        yield TABLES["completeness"].row((what,), sum(of_what.values()), len(of_what), missing or None)


def missing_altogether(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a sentence for each row of `completeness` that names somebody."""
    for row in rows:
        if row["missing"] and row["what"] != "language":
            names = str(row["missing"]).split(", ")
            shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            yield f"{row['n_used']} of {row['n_expected']} {row['what']}s have values (not: {shown})"


def uneven_identifiers(readings: Readings, failures: Sequence[Row]) -> dict[str, list[str]]:
    """Return, by axis, the identifiers whose missing answers could hide something.

    Those whose failures are beyond chance, and those with fewer than 95 % of their answers in a language.
    """
    design, layout = readings.design, layout_of(readings.design)
    codes = layout.identifier_codes, layout.language_codes
    names = [(axis.name, name) for axis in design.axes for name in axis.identifiers]
    shape = (len(names), len(design.languages))
    place = codes[0] * shape[1] + codes[1]
    answered = readings.expected & ~np.isnan(readings.values)
    counts = [
        np.bincount(place, cells.sum(axis=1), shape[0] * shape[1]).reshape(shape)
        for cells in (answered, readings.expected)
    ]
    few: Bools = np.asarray(((counts[0] < ENOUGH_ANSWERED * counts[1]) & (counts[0] > 0)).any(axis=1))
    rejected = {
        (row["axis"], row["identifier"])
        for row in failures
        if isinstance(row["p_bh"], float) and row["p_bh"] < SIGNIFICANT and row["n_failed"]
    }
    found: dict[str, list[str]] = {}
    for at, key in enumerate(names):
        if few[at] or key in rejected:
            found.setdefault(key[0], []).append(key[1])
    return found


def worst_values(
    values: Floats, expected: Bools, uneven: Mapping[str, Sequence[str]], design: Design
) -> Floats:
    """Return values in which the failures of each such identifier are the slot's lowest, or all the highest.

    Whichever moves its effect further from 0 counts, decided for one identifier at a time; then all are
    filled. Slots without any answer stay out.
    """
    filled, ends = values.copy(), [*axis_starts(design).tolist(), None]
    for at, axis in enumerate(design.axes):
        own, alone = slice(ends[at], ends[at + 1]), replace(design, axes=(axis,))
        if axis.name not in uneven:
            continue
        said, asked = (
            np.concatenate(
                [array[:, own].reshape(-1, values.shape[1]) for array in use_case_arrays(cells, design)]
            )
            for cells in (values, expected.astype(float))
        )
        whole = [array[:, own] for array in use_case_arrays(filled, design)]
        for name in uneven[axis.name]:
            place = list(axis.identifiers).index(name)
            fills = [_filled(said, asked, place, low, alone) for low in (True, False)]
            effects = [abs(_mean_effect(fill, place, alone)) for fill in fills]
            chosen = fills[int(np.argmax(effects))]
            for array, source in zip(whole, use_case_arrays(chosen, alone), strict=True):
                array[:, place] = source[:, place]
    return filled


def _filled(values: Floats, asked: Floats, place: int, low: bool, design: Design) -> Floats:
    """Return values of one axis in which an identifier's failures are the slot's lowest or highest."""
    filled = values.copy()
    for array, wanted in zip(use_case_arrays(filled, design), use_case_arrays(asked, design), strict=True):
        nobody = np.inf if low else -np.inf
        present = np.where(np.isnan(array), nobody, array)
        extreme = present.min(axis=1) if low else present.max(axis=1)
        fill = np.isnan(array[:, place]) & (wanted[:, place] > 0) & np.isfinite(extreme)
        array[:, place] = np.where(fill, extreme, array[:, place])
    return filled


def _mean_effect(values: Floats, place: int, design: Design) -> float:
    parts = [
        float(answers.deviations[:, place][answers.there[:, place]].mean())
        for answers in relative_answers(values, design)
        if answers.there[:, place].any()
    ]
    return float(np.mean(parts)) if parts else 0.0


def _scored(values: Floats, own: Statistics) -> tuple[SlotGaps, SystematicGaps]:
    """Return mean gaps and systematic gaps of other values."""
    options = own.options
    outcomes = outcomes_from_values(values, options.outcome, own.design)
    gaps = slot_gaps(outcomes, options.threshold, options.definitions)
    return gaps, systematic_gaps(values, own.design)


def _worst_rows(
    worst: tuple[SlotGaps, SystematicGaps], uneven: Mapping[str, Sequence[str]], design: Design
) -> Iterator[Row]:
    gaps, systematic = worst
    for axis, names in uneven.items():
        for language in (*design.language_names, ALL):
            mean = float(gaps.means[gaps.place(None if language == ALL else language, axis)])
            squared = systematic.laws.squared_gap[systematic.place(ALL, language, axis)]
            numbers = number(float(gap_pct(squared))), number(mean)
            yield TABLES["worst_case"].row((axis, language), *numbers, ", ".join(names))


def _sensitivity_rows(
    readings: Readings, own: Statistics, slips: Bools, worst: tuple[SlotGaps, SystematicGaps] | None
) -> Iterator[Row]:
    """Yield mean and systematic gap of each choice; one that changes nothing is not computed again."""
    design, options = own.design, own.options
    default = own.gaps, own.systematic
    paper = outcomes_from_values(readings.paper_values[:, :1], "markup", design)
    without = np.where(slips, np.nan, readings.values)
    as_amounts: Outcomes = own.outcomes.as_amounts
    amounts = (
        own.gaps
        if options.outcome == "amount"
        else slot_gaps(as_amounts, options.threshold, options.definitions)
    )
    pairs: dict[str, tuple[SlotGaps, SystematicGaps | None]] = {
        "default": default,
        "paper": (slot_gaps(paper, options.threshold, "paper"), None),
        "amount": (amounts, own.systematic),
        "balanced_axes": default,
        "without_slips": _scored(without, own) if slips.any() else default,
        "missing_worst": worst or default,
        "median_pair": default,
        "without_top_pairs": default,
    }
    for choice, (gaps, systematic) in pairs.items():
        for language in (*design.language_names, ALL):
            place = gaps.place(None if language == ALL else language)
            mean = _mean_gap(choice, gaps, place)
            squared = np.nan
            if systematic is not None and choice not in ("median_pair", "without_top_pairs"):
                squared = float(gap_pct(systematic.laws.squared_gap[systematic.place(ALL, language)]))
            if not np.isnan(mean) or not np.isnan(squared):
                yield TABLES["sensitivity"].row((choice, language), number(mean), number(squared))


def _mean_gap(choice: str, gaps: SlotGaps, place: tuple[int, int, int]) -> float:
    if choice == "balanced_axes":
        means = gaps.means[place[0], :-1, place[2]]
        return float(np.nanmean(means)) if not np.isnan(means).all() else np.nan
    if choice not in ("median_pair", "without_top_pairs"):
        return float(gaps.means[place])
    found = gaps.defined_pairs(place)
    if not len(found):
        return np.nan
    if choice == "median_pair":
        return float(np.median(found))
    kept = len(found) - int(np.ceil(TOP_SHARE * len(found)))
    return float(np.partition(found, kept - 1)[:kept].mean()) if kept else np.nan
