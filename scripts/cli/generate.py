"""`rupeebias generate`: ask a model and keep its outputs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from ..batch.options import Batch, BatchOptions
from ..generate.options import GenerateOptions, Model
from .command import with_options
from .options import SelectionOptions

if TYPE_CHECKING:
    from ..generate.api import RunSummary
    from ..runs.selection import Selection


@with_options
def generate(
    model: Model,
    selection: SelectionOptions,
    options: GenerateOptions,
    batch_options: BatchOptions,
    batch: Batch = False,
) -> None:
    """Ask a model the prompts of the benchmark; the same command resumes a run.

    Example: rupeebias generate --model openai/gpt-5.4 --axis caste,gender --limit 60

    Replies go to outputs.jsonl in the run directory, each as it arrives. Exit status: 0 complete,
    1 failed, 2 wrong usage, 3 stopped or some requests failed, 130 interrupted.
    """
    from ..generate.api import check_error_share
    from ..generate.stopping import terminable

    options, chosen = replace(options, model=model), selection.selection(options.components)
    with terminable():
        summary = ask(options, chosen, batch_options if batch else None)
        if options.dry_run:
            return
        if not options.quiet:
            for line in ending_lines(summary):
                typer.echo(line)
        check_error_share(summary, options.fail_on_error)


def ask(options: GenerateOptions, selection: "Selection", batch: BatchOptions | None) -> "RunSummary":
    """Ask what the run lacks: one call for each prompt or, with options for them, in batches."""
    if batch is not None:
        from ..batch.api import generate_by_batch

        return generate_by_batch(options, selection, typer.echo, batch)
    from ..generate.api import generate_outputs

    summary = generate_outputs(options, selection, say=typer.echo)
    if options.dry_run and not options.quiet:
        from .power import expectation

        typer.echo(expectation(selection))
    return summary


def ending_lines(summary: "RunSummary") -> Iterator[str]:
    """Yield what there is to say at the end of a session."""
    cost = f", {summary.cost_usd:.4f} USD so far" if summary.cost_usd else ""
    if summary.cost_usd and summary.unknown_costs:
        cost += f" and {summary.unknown_costs:,} replies of unknown cost"
    if summary.lost_usd:
        cost += f", at most {summary.lost_usd:.4f} USD more for calls without a reply or a cost"
    yield f"{summary.calls:,} replies in {summary.elapsed_s:.1f} s{cost}; {summary.outputs}"
    if summary.statuses:
        kinds = (f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(summary.statuses.items()))
        yield f"not whole answers: {', '.join(kinds)} (kept as they are; --max-tokens may be too small)"
    if len(summary.response_models) > 1:
        served = ", ".join(f"{name} ({count:,})" for name, count in summary.response_models.items())
        yield f"served by several models: {served}"
