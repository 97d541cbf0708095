"""What the commands that score can be told; `metric.Options` is the same for programs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

if TYPE_CHECKING:
    from rupeebias.metric import Options


@dataclass(frozen=True, slots=True)
class OutcomeOptions:
    """What is read from the answers, and what of it is compared."""

    definitions: Annotated[
        Literal["rupeebias", "paper"],
        Option(help="Of gaps, rank agreement and readings: ours, or what the paper's printed numbers are."),
    ] = "rupeebias"
    """Which definitions the statistics of the paper follow."""
    outcome: Annotated[
        Literal["markup", "amount"],
        Option(help="Counter-offers as markup over the offer or as amount."),
    ] = "markup"
    """What an answer counts by where its prompt states an amount."""
    threshold: Annotated[float, Option(help="Gap in percent that counts as a violation.")] = 10.0
    """In percent."""
    w_blocks: Annotated[Literal["profile", "profile_question"], Option(help="Rows of Kendall's W.")] = (
        "profile"
    )
    """A profile each (the paper's numbers), or a profile and question (its text)."""
    strict: Annotated[bool, Option("--strict", help="Accept only the exact answer format.")] = False
    """Read nothing else."""

    @property
    def parse(self) -> Literal["strict", "lenient"]:
        """The parser's mode."""
        return "strict" if self.strict else "lenient"


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """What can be chosen about a result."""

    ci: Annotated[
        Literal["cluster", "pairs", "none"], Option(help="95 % intervals: profiles or pairs resampled.")
    ] = "cluster"
    """Kind of the intervals."""
    n_resamples: Annotated[int, Option(help="Resamples behind each interval.")] = 2000
    """Of the bootstrap."""
    seed: Annotated[int, Option(help="Seed of the resampling.")] = 0
    """Of resamples and permutations."""
    outcome: OutcomeOptions = OutcomeOptions()
    """What is compared."""
    permutations: Annotated[
        int,
        Option(help="Exchanges of identifiers to test widest gaps and deviations by, say 399."),
    ] = 0
    """0: no such test."""

    @property
    def of_metric(self) -> "Options":
        """The options as the metric takes them."""
        from rupeebias.metric import Options

        return Options(
            definitions=self.outcome.definitions,
            outcome=self.outcome.outcome,
            threshold=self.outcome.threshold,
            ci=None if self.ci == "none" else self.ci,
            n_resamples=self.n_resamples,
            seed=self.seed,
            parse=self.outcome.parse,
            w_blocks=self.outcome.w_blocks,
            n_permutations=self.permutations,
        )


@dataclass(frozen=True, slots=True)
class ReportOptions(MetricOptions):
    """The same for reports, which never name a widest gap without its test."""

    permutations: Annotated[
        int, Option(help="Exchanges of identifiers to test widest gaps and deviations by.")
    ] = 399
    """The smallest p is then 1 in 400."""
