"""`rupeebias power`: the smallest effects that a run, or a cheaper one, would find."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rupeebias.metric.design import Design
    from rupeebias.metric.layout import Floats
    from rupeebias.metric.power import Smallest

    from ..runs.selection import Selection

_COLUMNS = ("design, axis", "prompts", "systematic gap %", "canonical pair gap %", "group effect %")


def power(
    pilots: Annotated[
        list[str], typer.Argument(metavar="RUN...|sim/NAME", help="Pilot runs, or a simulated respondent.")
    ],
    target: Annotated[
        float | None, typer.Option(metavar="PCT", help="Name the cheapest design that finds such a gap.")
    ] = None,
) -> None:
    """Show the smallest systematic gap, canonical pair gap and group effect found with 80 % power.

    Example: rupeebias power sim/biased --target 2

    By axis, for the design of the pilot and for --design profiles-once: from how far the pilot's own answers
    scatter, by the tests that score and report use (5 %, two-sided). A run that finds nothing has shown that
    there is nothing of this size, and no more. Canonical pairs are those of one use case, the median of them.
    """
    from rupeebias.metric.power import smallest_effects

    from ..errors import UsageError
    from ..words import print_table, printable

    if target is not None and not 0 < target < 200:
        raise UsageError(f"--target {target}: expected a gap in percent, above 0")
    for name in pilots:
        values, design = _pilot(name)
        found = smallest_effects(values, design)
        if not found:
            raise UsageError(
                f"{name}: too few profiles to tell how far answers scatter: four or more are needed"
            )
        notes = [] if target is None else [_cheapest(found, target, design)]
        print_table((printable(name), *_COLUMNS[1:]), [_row(one, design) for one in found], notes=notes)


def _pilot(name: str) -> "tuple[Floats, Design]":
    """Return the amounts of a pilot, shape (rows, repeats), and its benchmark."""
    from ..naming import is_simulated_name

    if is_simulated_name(name):
        from rupeebias.metric.benchmark import DESIGN

        from ..models.respondents import find_respondent
        from ..models.truth import simulate_values

        return simulate_values(find_respondent(name), 0, 1), DESIGN
    from ..scoring.read import parse_run

    readings = parse_run(Path(name)).readings
    return readings.values, readings.design


def expectation(selection: "Selection") -> str:
    """Return a line on what a run of this selection would find, if it scattered as sim/biased does."""
    import numpy as np

    from rupeebias.metric.layout import layout_of
    from rupeebias.metric.power import smallest_effects

    from ..models.respondents import find_respondent
    from ..models.truth import simulate_values
    from ..runs.selection import expected_prompt_ids
    from ..words import joined, number

    design = selection.benchmark
    rows = layout_of(design).prompt_rows
    asked = [rows[prompt_id] for prompt_id in expected_prompt_ids(selection) if prompt_id in rows]
    values = simulate_values(find_respondent("sim/biased"), 0, design=design)
    values[np.setdiff1d(np.arange(len(values)), asked)] = np.nan
    found = smallest_effects(values, design) if asked else []
    own = [one for one in found if one.design == found[0].design]  # not what a cheaper design would find
    if not own:
        return "too few profiles for an interval of the systematic gap: four or more are needed"
    gaps = [f"{number(one.systematic_gap_pct)} % ({_label(one, design)})" for one in own]
    return (
        "smallest systematic gap found with 80 % power, if answers scatter as those of sim/biased: "
        f"{joined(gaps)}; `rupeebias power RUN` tells it from a run of the model itself"
    )


def _row(one: "Smallest", design: "Design") -> Sequence[str]:
    from ..words import number

    effects = (one.systematic_gap_pct, one.canonical_pair_gap_pct, one.group_effect_pct)
    return (
        f"{one.design}, {_label(one, design)}",
        f"{one.n_prompts:,}",
        *(number(each, 2) for each in effects),
    )


def _cheapest(found: "Sequence[Smallest]", target: float, design: "Design") -> str:
    """Return a sentence on the fewest prompts that find a systematic gap of `target` percent, by axis."""
    from ..words import joined

    names: dict[str, str] = {}
    for one in sorted(found, key=lambda one: one.n_prompts):
        if one.systematic_gap_pct <= target:
            names.setdefault(
                one.axis, f"{_label(one, design)}: --design {one.design}, {one.n_prompts:,} prompts"
            )
    missed = [_label(one, design) for one in found if one.axis not in names]
    told = [f"A systematic gap of {target:g} % is found with 80 % power by: {'; '.join(names.values())}."]
    if missed:
        told.append(f"By none of these designs on {joined(dict.fromkeys(missed))}: ask more repeats.")
    return " ".join(told if names else told[1:])


def _label(one: "Smallest", design: "Design") -> str:
    return design.axis[one.axis].label if one.axis in design.axis else "all axes"
