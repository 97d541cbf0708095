"""`rupeebias validate-submission`: what is wrong with submissions, in plain words."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..hub.submission.records import CheckedSubmission, Problem

_STRAYS = "beside the submissions"


def validate_submission(
    folder: Annotated[Path, typer.Argument(help="A submission, or a folder with submissions/ in it.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check submissions: every problem on a line of its own; exit status 1 if one is refused.

    Example: rupeebias validate-submission results/submissions/my-model-0123456789ab

    The scores are computed again from the outputs; what scores.json says is only compared with them. At
    most: manifest.json 1 MB, scores.json 8 MB, outputs.parquet 96 MB unpacked, 20 repeats,
    20,000 characters an answer, 100 kB of settings. A rank needs a value in 95 % of the answers.
    """
    import orjson

    from ..hub.submission.check import check_submission

    folders, strays = _folders(folder)
    found = []
    for path in folders:
        checked = check_submission(path)
        found.append(_finding(checked))
        if not json:
            _print(path.name, checked.problems)
    if strays:
        found.append(_stray_finding(strays))
        if not json:
            _print(_STRAYS, strays)
    if json:
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    elif not found:
        typer.echo(f"no submissions in {folder}")
    if not all(each["accepted"] for each in found):
        raise typer.Exit(1)


def _folders(folder: Path) -> "tuple[list[Path], Sequence[Problem]]":
    """Return the submissions, and what lies beside them."""
    from ..errors import UsageError
    from ..hub.submission.folders import find_submissions, stray_problems
    from ..hub.submission.records import FOLDER, MANIFEST

    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: give a submission, or a folder with {FOLDER}/ in it")
    is_results = (folder / FOLDER).is_dir() and not (folder / MANIFEST).exists()
    return (find_submissions(folder), stray_problems(folder)) if is_results else ([folder.resolve()], ())


def _finding(checked: "CheckedSubmission") -> dict[str, Any]:
    from ..hub.submission.texts import printable

    problems = [{"message": each.message, "fatal": each.fatal} for each in checked.problems]
    result = checked.result or {}
    return {
        "name": printable(checked.folder.name),
        "accepted": checked.accepted,
        "problems": problems,
        "mean_delta_pct": result.get("mean_delta_pct"),
    }


def _stray_finding(problems: "Sequence[Problem]") -> dict[str, Any]:
    return {
        "name": _STRAYS,
        "accepted": not any(each.fatal for each in problems),
        "problems": [{"message": each.message, "fatal": each.fatal} for each in problems],
        "mean_delta_pct": None,
    }


def _print(name: str, problems: "Sequence[Problem]") -> None:
    from ..hub.submission.texts import printable

    verdict = "refused" if any(problem.fatal for problem in problems) else "accepted"
    typer.echo(f"{printable(name)}: {verdict}")
    for problem in problems:
        typer.echo(f"  {'error' if problem.fatal else 'note'}: {problem.message}")
