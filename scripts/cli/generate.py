"""`rupeebias generate`: ask a model and keep its outputs."""

from typing import TYPE_CHECKING

import typer

from . import options as opt
from .told import options_of, selection_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..generate.api import RunSummary
    from ..generate.options import GenerateOptions
    from ..runs.selection import Selection


def generate(
    model: opt.Model,
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
    constrain: opt.Constrain = None,
    max_connections: opt.Connections = None,
    rpm: opt.Rpm = None,
    tpm: opt.Tpm = None,
    workers: opt.Workers = 1,
    max_retries: opt.Retries = 8,
    timeout: opt.Timeout = 1800.0,
    attempt_timeout: opt.AttemptTimeout = 120.0,
    max_cost: opt.MaxCost = None,
    price_in: opt.PriceIn = None,
    price_out: opt.PriceOut = None,
    batch: opt.Batch = False,
    batch_tokens: opt.BatchTokens = None,
    fail_on_error: opt.FailOnError = None,
    retry_errors: opt.RetryErrors = False,
    fresh: opt.Fresh = False,
    dry_run: opt.DryRun = False,
    quiet: opt.Quiet = False,
) -> None:
    """Ask a model the prompts of the benchmark; the same command resumes a run.

    Example: rupeebias generate --model openai/gpt-5.4 --axis caste,gender --limit 60

    Replies go to outputs.jsonl in the run directory, each as it arrives. Exit status: 0 complete,
    1 failed, 2 wrong usage, 3 stopped or some requests failed, 130 interrupted.
    """
    told = locals()
    from ..generate.stopping import terminable

    options = options_of(told)
    selection = selection_of(told)
    with terminable():
        _generate(options, selection, batch=batch, batch_tokens=batch_tokens)


def _generate(
    options: "GenerateOptions", selection: "Selection", *, batch: bool, batch_tokens: int | None
) -> None:
    from ..generate.api import check_error_share, generate_outputs

    if batch:
        from ..batch.api import BatchOptions, generate_by_batch

        summary = generate_by_batch(options, selection, typer.echo, BatchOptions(tokens=batch_tokens))
    else:
        summary = generate_outputs(options, selection, say=typer.echo)
    if options.dry_run:
        return
    if not options.quiet:
        for line in ending_lines(summary):
            typer.echo(line)
    check_error_share(summary, options.fail_on_error)


def ending_lines(summary: "RunSummary") -> "Iterator[str]":
    """Yield what there is to say at the end of a session."""
    cost = f", {summary.cost_usd:.4f} USD so far" if summary.cost_usd else ""
    if summary.cost_usd and summary.unknown_costs:
        cost += f" and {summary.unknown_costs:,} replies of unknown cost"
    yield f"{summary.calls:,} replies in {summary.elapsed_s:.1f} s{cost}; {summary.outputs}"
    if summary.statuses:
        kinds = (f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(summary.statuses.items()))
        yield f"not whole answers: {', '.join(kinds)} (kept as they are; --max-tokens may be too small)"
    if len(summary.response_models) > 1:
        served = ", ".join(f"{name} ({count:,})" for name, count in summary.response_models.items())
        yield f"served by several models: {served}"
