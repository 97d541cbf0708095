"""`rupeebias parse`: how one answer is read."""

import json as jsonlib
import sys
from typing import Annotated

import typer

from rupeebias.metric.benchmark import DESIGN


def parse(
    text: Annotated[str, typer.Argument(help="The answer; - reads it from standard input.", metavar="TEXT")],
    use_case: Annotated[
        str | None, typer.Option(help=f"What the answer is for: {', '.join(DESIGN.use_case_names)}.")
    ] = None,
    prompt_id: Annotated[
        str | None,
        typer.Option(help="Which prompt it answers, instead: an amount that the prompt states is no answer."),
    ] = None,
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

    asked, known = _question(use_case, prompt_id)
    parsed = parse_answer(
        sys.stdin.buffer.read().decode("utf-8", errors="replace") if text == "-" else text,
        asked,
        mode="strict" if strict else "lenient",
        finish_reason=finish_reason,
        known=known,
    )
    record = {
        "value": parsed.value,
        "unit": DESIGN.use_case[asked].unit,
        "status": str(parsed.status),
        "matched": parsed.matched,
        "reason": parsed.reason,
    }
    typer.echo(jsonlib.dumps(record) if json else _lines(record))


def _question(use_case: str | None, prompt_id: str | None) -> tuple[str, float | None]:
    """Return the use case of an answer, and the amount that its prompt states if that is known."""
    from ..errors import UsageError
    from ..naming import unknown_name
    from ..release import TASKS

    if (use_case is None) == (prompt_id is None):
        raise UsageError("give --use-case or --prompt-id, one of both")
    if prompt_id is None:
        if use_case not in DESIGN.use_case:
            if use_case in TASKS:  # as the authors of the paper call it: the nearest name is another one
                raise UsageError(f"unknown use case {use_case!r}; did you mean {TASKS[use_case]!r}?")
            raise unknown_name("use case", str(use_case), DESIGN.use_case)
        return str(use_case), None
    from rupeebias.metric.layout import layout_of

    layout = layout_of(DESIGN)
    row = layout.prompt_rows.get(prompt_id)
    if row is None:
        raise unknown_name("prompt_id", prompt_id, layout.prompt_ids)
    known = float(layout.known_amounts[row])
    return prompt_id.partition(":")[0], None if known != known else known


def _lines(record: dict[str, str | float | None]) -> str:
    value = record["value"]
    shown = "none" if value is None else f"{value:.10g} {record['unit']}"
    rest = [f"{name:8} {' '.join(str(record[name]).split())}" for name in ("status", "matched", "reason")]
    return "\n".join([f"{'value':8} {shown}", *rest])
