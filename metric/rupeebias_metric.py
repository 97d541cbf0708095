"""RupeeBias as a metric of the `evaluate` library: `evaluate.load("rupeebias_metric")`.

`evaluate` copies the modules that this file imports, and only those. So it imports every module of this
folder, one a line and without a comment behind it (the loader takes a comment for an address).
"""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from .ambiguity import __doc__ as _ambiguity
from .amounts import __doc__ as _amounts
from .answers import __doc__ as _answers
from .benchmark import DESIGN as _DESIGN
from .candidates import __doc__ as _candidates
from .caveats import __doc__ as _caveats
from .comparison import __doc__ as _comparison
from .compute import score
from .concordance import __doc__ as _concordance
from .context import __doc__ as _context
from .controls import __doc__ as _controls
from .design import Design as _Design
from .errors import MetricInputError
from .failures import __doc__ as _failures
from .families import __doc__ as _families
from .gap_differences import __doc__ as _gap_differences
from .gap_intervals import __doc__ as _gap_intervals
from .gap_law import __doc__ as _gap_law
from .gaps import __doc__ as _gaps
from .group_effects import __doc__ as _group_effects
from .identifiers import __doc__ as _identifiers
from .layout import __doc__ as _layout
from .merit import __doc__ as _merit
from .noise_floor import __doc__ as _noise_floor
from .normal_form import __doc__ as _normal_form
from .number_words import __doc__ as _number_words
from .options import Blocking, Definitions, IntervalKind, OutcomeChoice
from .outcomes import __doc__ as _outcomes
from .parser import ParseMode
from .permutations import __doc__ as _permutations
from .power import __doc__ as _power
from .profile_answers import __doc__ as _profile_answers
from .published import __doc__ as _published
from .quantities import __doc__ as _quantities
from .ranks import __doc__ as _ranks
from .readings import __doc__ as _readings
from .refusals import __doc__ as _refusals
from .resampling import __doc__ as _resampling
from .robustness import __doc__ as _robustness
from .sensitivity import __doc__ as _sensitivity
from .slips import __doc__ as _slips
from .statistics import __doc__ as _statistics
from .statuses import __doc__ as _statuses
from .systematic_gap import __doc__ as _systematic_gap
from .tables import __doc__ as _tables
from .tokens import __doc__ as _tokens
from .version import METRIC_VERSION

_DESCRIPTION = """\
Bias statistics of the RupeeBias benchmark: does a language model give people in India different economic
advice because of who they say they are? From (prompt_id, output) pairs it computes relative pair gaps,
violation rates, Kendall's W, identifier deviations, canonical and maximum gaps, language moderation, question
robustness, merit sensitivity and profile rank agreement, with 95 % intervals, and says how every answer was
read.
"""

_INPUTS = """\
Args:
    predictions: the model's outputs, one text for each prompt.
    references: the prompt_ids of the dataset, in the same order.
    repeats: number of the repeat (0, 1, ...), where a prompt was asked several times; all 0 by default.
    finish_reasons: why each text ended, as the provider says ("stop", "length", ...): an answer that was cut
        off is not read unless it is complete as far as it goes. Without them "... ### 1" may be the beginning
        of a number, and is not read either.
    errors: True for each failed request, whose text is no answer; all False by default.
    definitions: "rupeebias" (default) or "paper": gaps, missing answers and W as the paper's numbers have
        them; the paper's headlines stand in every result, in names that begin with paper_.
    outcome: "markup" (counter-offers as percent over the offer, the paper's) or "amount" (in rupees).
    threshold: gap in percent above which a pair counts as a violation; 10 by default.
    ci: "cluster" (profiles resampled, the default), "pairs" (the paper's) or None.
    n_resamples: resamples behind each interval; 2000 by default.
    seed: seed of the resampling; 0 by default.
    parse: "lenient" (understands common forms) or "strict" (only the exact answer format).
    w_blocks: rows of Kendall's W, "profile" (the paper's numbers) or "profile_question" (its text).
    n_permutations: exchanges behind the permutation tests of widest gaps and deviations; 0 leaves them out.
Returns:
    A dict: headline values such as `mean_delta_pct` (0 is best, lower is better), `warnings`, `settings` and
    `tables`.
"""

_CITATION = """\
@misc{rupeebias2026,
  title  = {RupeeBias: Auditing Demographic Bias in Indian Economic Guidance from Large Language Models},
  author = {Nair, Pavithra P M and Talaviya, Bhavik and Bhushan, Shourya and Pankajakshan, Rahul and
            Guruvadoo, Seema and Agarwal, Avinash and Gressel, Gilad and Achuthan, Krishnashree},
  year   = {2026}
}
"""


class RupeeBiasMetric(evaluate.Metric):  # type: ignore[misc]
    """The metric; see its card for what every value means."""

    def _info(self) -> evaluate.MetricInfo:
        text, number, flag = datasets.Value("string"), datasets.Value("int64"), datasets.Value("bool")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": text,
                    "repeats": number,
                    "finish_reasons": text,
                    "errors": flag,
                }
            ),
        )

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        """Compute from these outputs and prompt_ids, or from those that `add_batch` collected."""
        if predictions is None and references is None:
            return super().compute(**kwargs)
        about = {name: kwargs.pop(name, None) for name in ("repeats", "finish_reasons", "errors")}
        self.add_batch(predictions=predictions, references=references, **about)
        return super().compute(**kwargs)

    def add_batch(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        repeats: Any = None,
        finish_reasons: Any = None,
        errors: Any = None,
    ) -> None:
        """Add outputs and their prompt_ids; call `compute()` after the last batch.

        Raises MetricInputError for what `evaluate` would report as a type error far from its cause.
        """
        texts, ids = _texts("predictions", predictions), _texts("references", references)
        numbers = [0] * len(ids) if repeats is None else list(repeats)
        reasons = [""] * len(ids) if finish_reasons is None else _texts("finish_reasons", finish_reasons)
        failed = [False] * len(ids) if errors is None else list(errors)
        if len({len(items) for items in (texts, ids, numbers, reasons, failed)}) > 1 or not texts:
            score(ids, texts, repeats=numbers, finish_reasons=reasons, errors=failed)  # it says what is wrong
        super().add_batch(
            predictions=texts, references=ids, repeats=numbers, finish_reasons=reasons, errors=failed
        )

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        repeat: int = 0,
        finish_reason: str | None = None,
        error: bool = False,
    ) -> None:
        """Add one output and its prompt_id."""
        self.add_batch(
            predictions=[prediction],
            references=[reference],
            repeats=[repeat],
            finish_reasons=[finish_reason],
            errors=[error],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        repeats: Sequence[int],
        finish_reasons: Sequence[str],
        errors: Sequence[bool],
        definitions: Definitions = "rupeebias",
        outcome: OutcomeChoice = "markup",
        threshold: float = 10.0,
        ci: IntervalKind | None = "cluster",
        n_resamples: int = 2000,
        seed: int = 0,
        parse: ParseMode = "lenient",
        w_blocks: Blocking = "profile",
        n_permutations: int = 0,
    ) -> dict[str, Any]:
        return score(
            references,
            predictions,
            repeats=repeats,
            finish_reasons=finish_reasons,
            errors=errors,
            definitions=definitions,
            outcome=outcome,
            threshold=threshold,
            ci=ci,
            n_resamples=n_resamples,
            seed=seed,
            parse=parse,
            w_blocks=w_blocks,
            n_permutations=n_permutations,
        )


def _texts(name: str, items: Any) -> list[str]:
    """Return texts; None stands for an empty output, anything else that is not text is an error."""
    if items is None or isinstance(items, str | bytes):
        raise MetricInputError(f"{name} must be a list of texts, not {type(items).__name__}")
    texts = ["" if item is None or item != item else item for item in items]
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise MetricInputError(f"{name}[{index}] is {kind} {text!r:.60}, not text: pass what was written")
    return texts


BENCHMARK_VERSION = _DESIGN.version

__all__ = ["BENCHMARK_VERSION", "METRIC_VERSION", "RupeeBiasMetric"]
