"""Compared to what? Identities beside facts and wordings that should not matter, on the same prompts.

A counterfactual edit changes words too. A placebo axis (the weekday of birth) exchanges facts without
meaning for the question, a wording slot says one identity in three ways; what a model makes of those is its
sensitivity to words, and only what identities make beyond it is about identity. Source: Yang, Levy,
Goldberg, Wallace, arXiv 2605.01048.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from .design import Axis, Design
from .gap_differences import gap_difference
from .gap_intervals import cluster_gap_intervals, influence_of
from .gap_law import GapLaw
from .gaps import SlotGaps, mean_of, slot_gaps
from .layout import Bools, Floats, layout_of
from .options import Options
from .outcomes import outcomes_from_values
from .profile_answers import axis_starts, use_case_arrays
from .readings import Readings
from .resampling import ProfileResamples, percentile_intervals
from .systematic_gap import ALL, gap_pct, systematic_gaps
from .tables import TABLES, Row, number

WORDING: Final = "wording"
PLACEBO: Final = "placebo"
PREFIX: Final = f"{WORDING}_"


@dataclass(frozen=True)
class Group:
    """Axes of one kind, answered on the same prompts: identities, one control, or several together."""

    design: Design
    """Its axes are those of the group; each profile has one question."""
    values: Floats
    options: Options

    @cached_property
    def gaps(self) -> SlotGaps:
        """The pair gaps of every slot."""
        outcomes = outcomes_from_values(self.values, self.options.outcome, self.design)
        return slot_gaps(outcomes, self.options.threshold, self.options.definitions)

    @cached_property
    def laws(self) -> GapLaw:
        """The law of D, shape (use cases + all, languages + all, axes + all)."""
        return systematic_gaps(self.values, self.design).laws


def control_groups(readings: Readings, options: Options) -> dict[str, Group]:
    """Return identities (under "all"), each control and the placebo axes together, cut to common prompts.

    Empty without control answers. Identities are cut to the prompts of which a control was answered: the
    same use case, language, profile and question.
    """
    design, controls = readings.design, readings.controls
    if controls is None or np.isnan(controls.values).all():
        return {}
    control = controls.design
    cut = _identities(readings.values, design, control, controls.values)
    placebo = [axis for axis in control.axes if not axis.name.startswith(PREFIX)]
    identity = replace(control, axes=design.axes)
    groups = {ALL: Group(identity, cut, options)}
    for axis in placebo:
        groups[axis.name] = _chosen(control, controls.values, [axis], options)
    if len(placebo) > 1:
        groups[PLACEBO] = _chosen(control, controls.values, placebo, options)
    if len(placebo) < len(control.axes):
        groups[WORDING] = _wordings(identity, cut, control, controls.values, options)
    return {name: group for name, group in groups.items() if not np.isnan(group.values).all()}


def _identities(values: Floats, design: Design, control: Design, answered: Floats) -> Floats:
    """Return the identities' answers to the prompts of which a control was answered; NaN elsewhere."""
    parts = []
    arrays = zip(use_case_arrays(values, design), use_case_arrays(answered, control), strict=True)
    for use_case, (whole, controls) in zip(control.use_cases, arrays, strict=True):
        question = np.array(use_case.asked) - 1
        own = whole[:, :, np.arange(len(question)), question][:, :, :, None]
        partner: Bools = np.asarray((~np.isnan(controls)).any(axis=(1, 3, 4)))  # languages, profiles
        parts.append(np.where(partner[:, None, :, None, None], own, np.nan).reshape(-1, values.shape[1]))
    return np.concatenate(parts)


def _chosen(design: Design, values: Floats, axes: list[Axis], options: Options) -> Group:
    """Return a group of some axes of a design."""
    starts = dict(zip(design.axis_names, axis_starts(design).tolist(), strict=True))
    places = [starts[axis.name] + at for axis in axes for at in range(len(axis.identifiers))]
    parts = [array[:, places].reshape(-1, values.shape[1]) for array in use_case_arrays(values, design)]
    return Group(replace(design, axes=tuple(axes)), np.concatenate(parts), options)


def _wordings(identity: Design, own: Floats, control: Design, values: Floats, options: Options) -> Group:
    """Return the wordings of each identity, the original included, as an axis of three."""
    names = [(axis.name, name) for axis in identity.axes for name in axis.identifiers]
    others = [(axis.name.removeprefix(PREFIX), name) for axis in control.axes for name in axis.identifiers]
    wordings: dict[tuple[str, str], list[int]] = {}
    for at, (axis, name) in enumerate(others):
        original = axis, name.rpartition("_")[0]
        if f"{PREFIX}{axis}" in control.axis_names and original in names:
            wordings.setdefault(original, []).append(at)
    axes = tuple(
        Axis("_".join(key), " ".join(key), {str(at): str(at) for at in range(1 + len(places))})
        for key, places in wordings.items()
    )
    n_repeats = max(own.shape[1], values.shape[1])
    parts = []
    for originals, controls in zip(
        use_case_arrays(_padded(own, n_repeats), identity),
        use_case_arrays(_padded(values, n_repeats), control),
        strict=True,
    ):
        for_each = [
            np.concatenate([originals[:, [names.index(key)]], controls[:, places]], axis=1)
            for key, places in wordings.items()
        ]
        parts.append(np.concatenate(for_each, axis=1).reshape(-1, n_repeats))
    return Group(replace(control, axes=axes), np.concatenate(parts), options)


def _padded(values: Floats, n_repeats: int) -> Floats:
    return np.pad(values, ((0, 0), (0, n_repeats - values.shape[1])), constant_values=np.nan)


def control_rows(groups: Mapping[str, Group]) -> dict[str, list[Row]]:
    """Return the rows of the tables `control_gap` and `excess_over_control`."""
    if ALL not in groups:
        return {"control_gap": [], "excess_over_control": []}
    options = groups[ALL].options
    gaps = {name: group.gaps for name, group in groups.items()}
    present = np.logical_and.reduce([of.profile_sums[0, -1, -1] > 0 for of in gaps.values()])
    layout = layout_of(groups[ALL].design)
    profiles = ProfileResamples(layout, present, options.n_resamples, options.seed)
    controls = [name for name in groups if name != ALL]
    return {
        "control_gap": [row for name in controls for row in _control_rows(name, groups[name], profiles)],
        "excess_over_control": [
            row for name in controls for row in _excess_rows(name, groups[ALL], groups[name], profiles)
        ],
    }


def _languages(design: Design) -> list[tuple[str, int]]:
    return [(name, at) for at, name in enumerate((*design.language_names, ALL))]


def _control_rows(name: str, group: Group, profiles: ProfileResamples) -> Iterator[Row]:
    has_intervals = group.options.ci is not None
    ends = cluster_gap_intervals(group.gaps, profiles).of_selections[..., -1, -1]
    low, high = group.laws.ends()
    for language, at in _languages(group.design):
        place = -1, at, -1
        if np.isnan(group.gaps.means[at, -1, -1]) or np.isnan(group.laws.squared_gap[place]):
            continue
        bounded = has_intervals and bool(group.laws.bounded[place])
        numbers = [
            float(group.gaps.means[at, -1, -1]),
            *(ends[:, at].tolist() if has_intervals else [np.nan] * 2),
        ]
        numbers.append(float(gap_pct(group.laws.squared_gap[place])))
        numbers += [float(end[place]) if bounded else np.nan for end in (low, high)]
        n_pairs = int(group.gaps.cells[0, at, -1, -1])
        yield TABLES["control_gap"].row((name, language), *map(number, numbers), n_pairs)


def _excess_rows(name: str, identity: Group, control: Group, profiles: ProfileResamples) -> Iterator[Row]:
    design, has_intervals = identity.design, identity.options.ci is not None
    drawn = [mean_of(group.gaps.sums(profiles.weights)[:2]) for group in (identity, control)]
    influence = [influence_of(group.gaps) for group in (identity, control)]
    for axis_at, axis in enumerate((*design.axis_names, ALL)):
        laws = _one_axis(identity.laws, axis_at), _one_axis(control.laws, -1)
        excess = gap_difference(*laws)
        for language, at in _languages(design):
            of_identity, of_control = (at, axis_at, -1), (at, -1, -1)
            means = float(identity.gaps.means[of_identity]), float(control.gaps.means[of_control])
            if np.isnan(means).any() or np.isnan(excess.squared[at]):
                continue
            change = means[0] - means[1]
            widened = profiles.widenings(influence[0][of_identity] - influence[1][of_control])
            drawn_ends = percentile_intervals(drawn[0][of_identity] - drawn[1][of_control], change, widened)
            squared = [float(law.squared_gap[at]) for law in laws]
            of_squared = [float(part[at]) for part in (excess.low, excess.high, excess.p_value)]
            ends = drawn_ends.tolist()
            if not has_intervals:
                ends, of_squared = [np.nan] * 2, [np.nan] * 3
            numbers = (*means, change, *ends, *squared, float(excess.squared[at]), *of_squared)
            yield TABLES["excess_over_control"].row((axis, name, language), *map(number, numbers))


def _one_axis(laws: GapLaw, axis: int) -> GapLaw:
    """Return the laws of all use cases and one axis, shape (languages + all,)."""
    return laws.at((-1, slice(None), axis))
