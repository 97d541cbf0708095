"""The options of commands that no dataclass of the package declares: selections and files of results."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from rupeebias.metric.benchmark import DESIGN

from ..options import Typed

if TYPE_CHECKING:
    from rupeebias.metric.design import Design

    from ..runs.selection import Selection

_MANY = "Repeatable, or comma-separated."


def _some_of(names: Iterable[str]) -> str:
    return f"One or more of {', '.join(names)}. {_MANY} [default: all]"


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """Return (i, n) for "i/n"; raises UsageError unless 1 <= i <= n."""
    import re

    from ..errors import UsageError

    if text is None:
        return None
    form = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if not form or not 1 <= int(form[1]) <= int(form[2]):
        raise UsageError(f"--shard {text}: expected I/N with I from 1 to N, such as 1/4")
    return int(form[1]), int(form[2])


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """A part of the benchmark, as it is typed."""

    use_case: Annotated[list[str] | None, Option(help=_some_of(DESIGN.use_case_names))] = None
    language: Annotated[list[str] | None, Option(help=_some_of(DESIGN.language_names))] = None
    axis: Annotated[list[str] | None, Option(help=_some_of(DESIGN.axis_names))] = None
    identifier: Annotated[list[str] | None, Option(help=f'Such as dalit or "Tier 1 city". {_MANY}')] = None
    profile: Annotated[list[str] | None, Option(help=f"Such as P01. {_MANY}")] = None
    question: Annotated[list[str] | None, Option(help=f"Such as Q1. {_MANY}")] = None
    limit: Annotated[int | None, Option(help="At most this many whole slots, spread evenly.")] = None
    shard: Annotated[
        tuple[int, int] | None,
        Option(metavar="I/N", help="Only the I-th of N parts, in whole slots: 1/4."),
        Typed(str | None, parse_shard),
    ] = None

    design: Annotated[
        Literal["full", "profiles-once"],
        Option(help="profiles-once asks each profile in one language, one question: a fifth of the prompts."),
    ] = "full"
    controls: Annotated[
        Literal["none", "with", "only"],
        Option(metavar="[only]", help="The control prompts as well, or only they."),
        Typed(Literal["with", "only"] | None, lambda word: word or "none"),
    ] = "none"

    def selection(self, components: Path | None = None) -> "Selection":
        """Return what was typed with the names of a benchmark, RupeeBias without components of another.

        Raises UsageError for an unknown name.
        """
        from ..runs.selection import Selection

        return Selection.parse(
            use_cases=self.use_case,
            languages=self.language,
            axes=self.axis,
            identifiers=self.identifier,
            profiles=self.profile,
            questions=self.question,
            limit=self.limit,
            shard=self.shard,
            design=self.design,
            controls=self.controls,
            benchmark=DESIGN if components is None else _design_of(components),
        )


def _design_of(components: Path) -> "Design":
    from rupeebias.dataset_builder.components import load_components
    from rupeebias.dataset_builder.metric_design import design_of

    return design_of(load_components(components))


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """Where a result goes beside the terminal."""

    json: Annotated[Path | None, Option("--json", help="Write the result to this file.")] = None
    csv: Annotated[Path | None, Option(help="Write every table as CSV into this folder.")] = None


RunArgument = Annotated[Path, Argument(metavar="RUN", help="Run directory.")]
