"""`rupeebias batch`: generation through a provider's batch interface, step by step."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..batch.options import BatchOptions
from ..generate.options import GenerateOptions
from .command import Only, with_options
from .options import RunArgument, SelectionOptions

if TYPE_CHECKING:
    from ..generate.session import RunSummary

app = typer.Typer(
    help="Ask through a provider's batch interface (half the price, within a day), step by step.\n\n"
    "`rupeebias generate --batch` does all of it in one go.",
    no_args_is_help=True,
)
_Settings = Annotated[
    GenerateOptions,
    Only(
        *("run", "base_url", "extras", "temperature", "max_tokens", "seed", "reasoning_effort", "arm"),
        *("repeats", "retry_errors", "fresh", "price_in", "price_out", "max_cost", "components"),
    ),
]
_OF_ANY_RUN = {"model", "run", "retry_errors", "tokens", "price_in", "price_out", "max_cost"}
"""What may be given beside a run that goes on; everything else was settled when it began."""


@app.command()
@with_options
def submit(
    context: typer.Context,
    selection: SelectionOptions,
    options: _Settings,
    batch: BatchOptions,
    model: Annotated[
        str | None,
        typer.Option(help="openai/... or anthropic/.... [default: the run's, with all its settings]"),
    ] = None,
) -> None:
    """Hand in what a run still lacks; do not wait for it.

    Example: rupeebias batch submit --model openai/gpt-5.4 --axis caste,gender

    With --run alone it goes on with that run. What is answered or under way is never handed in again.
    """
    from ..batch import api
    from ..generate.stopping import terminable

    with terminable():
        if model is None:
            _tell(api.submit_rest(_run_alone(context, options.run), typer.echo, batch, options))
        else:
            _tell(
                api.submit(
                    replace(options, model=model), selection.selection(options.components), typer.echo, batch
                )
            )


@app.command()
def status(run: RunArgument) -> None:
    """Show how far the batches of a run are; nothing is changed.

    Example: rupeebias batch status runs/openai-gpt-5.4-1a2b3c4d
    """
    from ..batch.api import status

    status(run, typer.echo)


@app.command()
@with_options
def collect(run: RunArgument, options: Annotated[GenerateOptions, Only("price_in", "price_out")]) -> None:
    """Take in the results of the batches that are over.

    Example: rupeebias batch collect runs/openai-gpt-5.4-1a2b3c4d

    Exit status 3 as long as requests of the run are left or failed. `batch submit --run RUN` hands in again
    what expired, was cancelled or met a passing fault.
    """
    from ..batch import api
    from ..errors import IncompleteRunError
    from ..generate.api import check_error_share
    from ..generate.stopping import terminable

    with terminable():
        summary = api.collect(run, typer.echo, options=options)
    _tell(summary)
    if summary.counts.left:
        raise IncompleteRunError(
            f"{summary.counts.left:,} requests are left: collect again when their batches are over, "
            f"or hand in what is in none with `rupeebias batch submit --run {run}`"
        )
    check_error_share(summary, None)


@app.command()
def cancel(run: RunArgument) -> None:
    """Have the provider stop the batches of a run.

    Example: rupeebias batch cancel runs/openai-gpt-5.4-1a2b3c4d

    What they have answered by then is paid for: `rupeebias batch collect` takes it in.
    """
    from ..batch.api import cancel

    cancel(run, typer.echo)


def _run_alone(context: typer.Context, run: Path | None) -> Path:
    """Return the run to go on with. Raises UsageError if there is none, or settings that it would ignore."""
    from ..errors import UsageError

    if run is None:
        raise UsageError("give --model for a new run, or --run for one to go on with")
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        is_given = source is not None and source.name == "COMMANDLINE"
        if is_given and parameter.name not in _OF_ANY_RUN:
            raise UsageError(f"{parameter.opts[0]} needs --model; with --run alone the run's settings hold")
    return run


def _tell(summary: "RunSummary") -> None:
    counts = summary.counts
    cost = f", {summary.cost_usd:.4f} USD so far" if summary.cost_usd else ""
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    typer.echo(f"{counts.done:,} of {counts.requests:,} done{failed}{cost}; {summary.outputs}")
