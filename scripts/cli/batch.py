"""`rupeebias batch`: generation through a provider's batch interface, step by step."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as opt
from .told import options_of, selection_of

if TYPE_CHECKING:
    from ..generate.session import RunSummary

app = typer.Typer(
    help="Ask through a provider's batch interface (half the price, within a day), step by step.\n\n"
    "`rupeebias generate --batch` does all of it in one go.",
    no_args_is_help=True,
)

FolderArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory.")]
NewModelOption = Annotated[
    str | None,
    typer.Option("--model", help="openai/... or anthropic/.... [default: the run's, with all its settings]"),
]
_OF_ANY_RUN = {"model", "run", "retry_errors", "batch_tokens", "price_in", "price_out", "max_cost"}


@app.command()
def submit(
    context: typer.Context,
    model: NewModelOption = None,
    use_case: opt.UseCase = None,
    language: opt.Language = None,
    axis: opt.Axis = None,
    identifier: opt.Identifier = None,
    profile: opt.Profile = None,
    question: opt.Question = None,
    limit: opt.Limit = None,
    shard: opt.Shard = None,
    run: opt.Run = None,
    base_url: opt.BaseUrl = None,
    extra: opt.Extra = None,
    temperature: opt.Temperature = 0.0,
    max_tokens: opt.MaxTokens = None,
    seed: opt.Seed = None,
    reasoning_effort: opt.Reasoning = "none",
    arm: opt.Arm = "standard",
    repeats: opt.Repeats = 1,
    retry_errors: opt.RetryErrors = False,
    fresh: opt.Fresh = False,
    batch_tokens: opt.BatchTokens = None,
    price_in: opt.PriceIn = None,
    price_out: opt.PriceOut = None,
    max_cost: opt.MaxCost = None,
) -> None:
    """Hand in what a run still lacks; do not wait for it.

    Example: rupeebias batch submit --model openai/gpt-5.4 --axis caste,gender

    With --run alone it goes on with that run. What is answered or under way is never handed in again.
    """
    told = locals()
    from ..batch import api
    from ..generate.stopping import terminable

    options = options_of(told)
    batch = api.BatchOptions(tokens=batch_tokens)
    with terminable():
        if model is None:
            _tell(api.submit_rest(_run_alone(context, run), typer.echo, batch, options))
        else:
            _tell(api.submit(options, selection_of(told), typer.echo, batch))


@app.command()
def status(run: FolderArgument) -> None:
    """Show how far the batches of a run are; nothing is changed.

    Example: rupeebias batch status runs/openai-gpt-5.4-1a2b3c4d
    """
    from ..batch.api import status

    status(run, typer.echo)


@app.command()
def collect(run: FolderArgument, price_in: opt.PriceIn = None, price_out: opt.PriceOut = None) -> None:
    """Take in the results of the batches that are over.

    Example: rupeebias batch collect runs/openai-gpt-5.4-1a2b3c4d

    Exit status 3 as long as requests of the run are left or failed. `batch submit --run RUN` hands in again
    what expired, was cancelled or met a passing fault.
    """
    from ..batch import api
    from ..errors import IncompleteRunError
    from ..generate.api import check_error_share
    from ..generate.options import GenerateOptions
    from ..generate.stopping import terminable

    options = GenerateOptions(model="", price_in=price_in, price_out=price_out)
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
def cancel(run: FolderArgument) -> None:
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
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in _OF_ANY_RUN:
            raise UsageError(
                f"--{name.replace('_', '-')} needs --model; with --run alone the run's settings hold"
            )
    return run


def _tell(summary: "RunSummary") -> None:
    counts = summary.counts
    cost = f", {summary.cost_usd:.4f} USD so far" if summary.cost_usd else ""
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    typer.echo(f"{counts.done:,} of {counts.requests:,} done{failed}{cost}; {summary.outputs}")
