"""Which figures there are: one name each, so that several processes can share the work."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from ...words import AXIS_LABELS
from .bars import BarFigure, mean_concordance_bars, use_case_bars
from .deviations import identifier_deviations
from .fairness import fairness_effects
from .identifier_heat import canonical_pairs, maximum_gaps
from .language import language_moderation
from .radar import radars
from .records import Drawing, FigureRun
from .scatter import gap_against_consistency

Draw: TypeAlias = Callable[[Sequence[FigureRun]], list[Drawing]]

_INTERVALS: Final = "Lines: 95 % intervals."
GAPS: Final = BarFigure(
    "use-case-gap",
    "Mean gap by use case",
    f"Mean Δ% between identifiers in otherwise identical prompts. {_INTERVALS}",
    "use_case",
    1,
    " %",
)
CONCORDANCE: Final = BarFigure(
    "use-case-concordance",
    "How consistently identifiers are ranked, by use case",
    "Mean Kendall's W over axes, 0 to 1: higher means the same identifiers are favoured again and again.",
    "kendall_w_use_case",
    3,
    tested=True,
)
MERIT: Final = BarFigure(
    "merit-sensitivity",
    "How much the answers follow the profile",
    f"Mean Δ% between base profiles with the identifier fixed: higher means more responsive. {_INTERVALS}",
    "merit_sensitivity",
    1,
    " %",
)
AGREEMENT: Final = BarFigure(
    "profile-rank-agreement",
    "Whether identifiers agree on which profiles are better",
    f"Mean Spearman's ρ of the profiles' order between identifiers; dashed: perfect agreement. {_INTERVALS}",
    "profile_rank_agreement",
    3,
    reference=1.0,
)


def _some(drawing: Drawing | None) -> list[Drawing]:
    return [drawing] if drawing else []


def _bars(what: BarFigure, value: str, *, interval: bool) -> Draw:
    def draw(runs: Sequence[FigureRun]) -> list[Drawing]:
        return _some(use_case_bars(runs, what, value, interval=interval))

    return draw


def _deviations(axis: str) -> Draw:
    return partial(identifier_deviations, axis=axis)


CATALOGUE: Final[dict[str, Draw]] = {
    "radar": radars,
    "mean-concordance": lambda runs: _some(mean_concordance_bars(runs)),
    "scatter": gap_against_consistency,
    **{f"deviation-{axis}": _deviations(axis) for axis in AXIS_LABELS},
    "language": language_moderation,
    "use-case-gap": _bars(GAPS, "mean_delta_pct", interval=True),
    "use-case-concordance": _bars(CONCORDANCE, "kendall_w", interval=False),
    "canonical-pairs": canonical_pairs,
    "maximum-gaps": maximum_gaps,
    "merit": _bars(MERIT, "merit_sensitivity_pct", interval=True),
    "agreement": _bars(AGREEMENT, "mean_rho", interval=True),
    "fairness": fairness_effects,
}
"""In the order of the paper. Each draws no, one or several figures from runs."""
