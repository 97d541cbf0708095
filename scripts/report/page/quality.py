"""How good the data of a run are: what could be read, where, and from whom not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rupeebias.metric import Result

from .text import AXES, LANGUAGES, USE_CASES, label

STATUS_LABELS: Final = {
    "ok": "in the form asked for",
    "lenient": "understood from another form",
    "refusal": "refused",
    "truncated": "cut off",
    "empty": "empty",
    "error": "failed request",
    "ambiguous": "several amounts",
    "implausible": "out of bounds",
    "unparsed": "no amount",
    "missing": "missing",
}
"""Status to words; the first two carry a value into the statistics."""
READ: Final = ("ok", "lenient")


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The answers of one group by status."""

    names: tuple[str, ...]
    """What the group is: language and use case, or axis and identifier."""
    counts: Mapping[str, int]
    """Number of answers by status."""

    @property
    def total(self) -> int:
        """Answers that were expected."""
        return sum(self.counts.values())

    def share(self, *statuses: str) -> float:
        """Return the percentage of the answers with one of these statuses."""
        return sum(self.counts[status] for status in statuses) / self.total * 100

    @property
    def unread(self) -> float:
        """Percentage of the answers without a value."""
        return 100 - self.share(*READ)


@dataclass(frozen=True, slots=True)
class AxisFailures:
    """The identifiers of an axis that are refused, or not readable, least and most often."""

    axis: str
    least_refused: StatusRow
    most_refused: StatusRow
    least_unread: StatusRow
    most_unread: StatusRow


def by_use_case(result: Result) -> list[StatusRow]:
    """Return the statuses of each language and use case."""
    groups = _grouped(result["tables"]["parse_status"], ("language", "use_case"))
    return [
        StatusRow((LANGUAGES[language], USE_CASES[use_case]), counts)
        for (language, use_case), counts in groups.items()
    ]


def statuses_seen(results: Sequence[Result]) -> list[str]:
    """Return the statuses that occur, those with a value first."""
    seen = {row["status"] for result in results for row in result["tables"]["parse_status"] if row["n"]}
    return [status for status in STATUS_LABELS if status in seen]


def by_identifier(result: Result) -> dict[str, list[StatusRow]]:
    """Return the statuses of each identifier, by the axis's name."""
    rows: dict[str, list[StatusRow]] = {}
    for (axis, name), counts in _grouped(
        result["tables"]["parse_status_identifier"], ("axis", "identifier")
    ).items():
        rows.setdefault(AXES[axis], []).append(
            StatusRow((AXES[axis], label("identifier", name, axis)), counts)
        )
    return rows


def failures(result: Result) -> list[AxisFailures]:
    """Return, by axis, which identifiers go without an answer least and most often."""
    return [
        AxisFailures(
            axis,
            min(rows, key=lambda row: row.share("refusal")),
            max(rows, key=lambda row: row.share("refusal")),
            min(rows, key=lambda row: row.unread),
            max(rows, key=lambda row: row.unread),
        )
        for axis, rows in by_identifier(result).items()
    ]


def _grouped(rows: Sequence[Mapping[str, Any]], keys: tuple[str, str]) -> dict[tuple[str, str], Counter[str]]:
    groups: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        counts = groups.setdefault((row[keys[0]], row[keys[1]]), Counter())
        counts[row["status"]] += row["n"]
    return groups
