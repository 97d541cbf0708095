"""`rupeebias validate-submission`: what is wrong with submissions, in plain words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..hub.submission.records import CheckedSubmission


def validate_submission(
    folder: Annotated[Path, typer.Argument(help="A submission, or a folder with submissions/ in it.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check submissions: every problem on a line of its own; exit status 1 if one is refused.

    Example: rupeebias validate-submission results/submissions/my-model-0123456789ab

    The scores are computed again from the outputs; what scores.json says is only compared with them.
    """
    import orjson

    from ..hub.submission.check import check_submission

    found = []
    for path in _folders(folder):
        checked = check_submission(path)
        found.append(_finding(checked))
        if not json:
            _print(checked)
    if json:
        typer.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    elif not found:
        typer.echo(f"no submissions in {folder}")
    if not all(each["accepted"] for each in found):
        raise typer.Exit(1)


def _folders(folder: Path) -> list[Path]:
    from ..errors import UsageError
    from ..hub.submission.folders import find_submissions
    from ..hub.submission.records import FOLDER, MANIFEST

    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: give a submission, or a folder with {FOLDER}/ in it")
    is_results = (folder / FOLDER).is_dir() and not (folder / MANIFEST).exists()
    return find_submissions(folder) if is_results else [folder.resolve()]


def _finding(checked: "CheckedSubmission") -> dict[str, Any]:
    problems = [{"message": each.message, "fatal": each.fatal} for each in checked.problems]
    result = checked.result or {}
    return {
        "name": checked.folder.name,
        "accepted": checked.accepted,
        "problems": problems,
        "mean_delta_pct": result.get("mean_delta_pct"),
    }


def _print(checked: "CheckedSubmission") -> None:
    from ..hub.submission.texts import printable

    verdict = "accepted" if checked.accepted else "refused"
    typer.echo(f"{printable(checked.folder.name)}: {verdict}")
    for problem in checked.problems:
        typer.echo(f"  {'error' if problem.fatal else 'note'}: {problem.message}")
