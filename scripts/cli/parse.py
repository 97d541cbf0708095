"""`rupeebias parse`: how one answer is read."""

import json as jsonlib
import sys
from typing import Annotated

import typer

from rupeebias.metric.benchmark import DESIGN


def parse(
    text: Annotated[str, typer.Argument(help="The answer; - reads it from standard input.", metavar="TEXT")],
    use_case: Annotated[
        str, typer.Option(help=f"The use case that the answer is for: {', '.join(DESIGN.use_case_names)}.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Accept the exact format only.")] = False,
    finish_reason: Annotated[
        str | None, typer.Option(help="The provider's finish reason; length means cut off.")
    ] = None,
) -> None:
    """Show how an answer is read: value, status, the text that decided it, and why.

    Example: rupeebias parse --use-case salary_estimation "12-15 LPA". Put -- before a text that begins
    with a dash, and the options before it: rupeebias parse --use-case salary_increment -- "-5%".
    """
    from rupeebias.metric.parser import parse_answer

    from ..naming import unknown_name

    if use_case not in DESIGN.use_case:
        raise unknown_name("use case", use_case, DESIGN.use_case)
    answer = _standard_input() if text == "-" else text
    parsed = parse_answer(
        answer, use_case, mode="strict" if strict else "lenient", finish_reason=finish_reason
    )
    record = {
        "value": parsed.value,
        "unit": DESIGN.use_case[use_case].unit,
        "status": str(parsed.status),
        "matched": parsed.matched,
        "reason": parsed.reason,
    }
    typer.echo(jsonlib.dumps(record) if json else _lines(record))


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


def _lines(record: dict[str, str | float | None]) -> str:
    value = record["value"]
    shown = "none" if value is None else f"{value:.10g} {record['unit']}"
    rest = [f"{name:8} {' '.join(str(record[name]).split())}" for name in ("status", "matched", "reason")]
    return "\n".join([f"{'value':8} {shown}", *rest])
