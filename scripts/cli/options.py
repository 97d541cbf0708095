"""The options of commands that no dataclass of the package declares: selections and files of results."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rupeebias.metric.benchmark import DESIGN

from ..options import Typed

if TYPE_CHECKING:
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

    def selection(self) -> "Selection":
        """Return what was typed with the benchmark's names. Raises UsageError for an unknown one."""
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
        )


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """Where a result goes beside the terminal."""

    json: Annotated[Path | None, Option("--json", help="Write the result to this file.")] = None
    csv: Annotated[Path | None, Option(help="Write every table as CSV into this folder.")] = None


RunArgument = Annotated[Path, Argument(metavar="RUN", help="Run directory.")]
