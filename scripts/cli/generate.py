"""`rupeebias generate`: ask a model and keep its outputs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..selection import (
    AxisOption,
    IdentifierOption,
    LanguageOption,
    LimitOption,
    ProfileOption,
    QuestionOption,
    Selection,
    UseCaseOption,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..generate.api import RunSummary
    from ..generate.options import GenerateOptions
    from ..generate.types import JSON, ModelOptions

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        help="sim/NAME, local/smollm2, local/PATH.gguf or any LiteLLM name (openai/gpt-5.4).",
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", "--api-base", help="Address of an OpenAI-compatible server."),
]
ExtraOption = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="KEY=VALUE", help="Provider extra; JSON values. Repeatable."),
]
ConnectionsOption = Annotated[
    int | None,
    typer.Option("--max-connections", "-j", help="Calls at once. [default: what suits the model]"),
]
RetriesOption = Annotated[int, typer.Option("--max-retries", help="Retries of one request.")]
TimeoutOption = Annotated[float, typer.Option("--timeout", help="Seconds for one request, retries included.")]
AttemptTimeoutOption = Annotated[float, typer.Option("--attempt-timeout", help="Seconds for one attempt.")]
RpmOption = Annotated[
    float | None,
    typer.Option("--max-requests-per-minute", "--rpm", help="Calls a minute at most. [default: no bound]"),
]
TpmOption = Annotated[
    float | None,
    typer.Option("--max-tokens-per-minute", "--tpm", help="Tokens a minute at most. [default: no bound]"),
]
WorkersOption = Annotated[
    int, typer.Option("--workers", help="Processes that make the calls, for a server faster than one.")
]
ShardOption = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Only the I-th of N parts, in whole slots: 1/4."),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", help="Stop before the run can cost more. [default: no bound]"),
]
PriceInOption = Annotated[
    float | None,
    typer.Option("--price-in", metavar="USD", help="Per million tokens in. [default: LiteLLM's price map]"),
]
PriceOutOption = Annotated[
    float | None,
    typer.Option("--price-out", metavar="USD", help="Per million tokens out. [default: LiteLLM's price map]"),
]
BatchOption = Annotated[
    bool,
    typer.Option("--batch", help="Through the provider's batch interface: half the price, within a day."),
]
BatchTokensOption = Annotated[
    int | None,
    typer.Option("--batch-tokens", help="Most tokens queued in batches at once. [default: no bound]"),
]
TemperatureOption = Annotated[float, typer.Option("--temperature", help="Sampling temperature.")]
MaxTokensOption = Annotated[
    int | None, typer.Option("--max-tokens", help="Longest answer. [default: the provider's]")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Sampling seed. [default: not sent]")]
ReasoningOption = Annotated[
    str,
    typer.Option("--reasoning-effort", help="none, low, ...; 'default' sends nothing."),
]
RepeatsOption = Annotated[int, typer.Option("--repeats", help="Times each prompt is asked.")]
ArmOption = Annotated[str, typer.Option("--arm", help="standard, or fairness: asks for a fair response.")]
ConstrainOption = Annotated[
    bool | None,
    typer.Option(
        "--constrain/--no-constrain",
        help="Hold answers to the format: llama.cpp, vLLM. [default: local/ only]",
    ),
]
RunOption = Annotated[
    Path | None,
    typer.Option("--run", help="Run directory. [default: runs/ and a name from the settings]"),
]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Move an old run aside and start again.")]
RetryErrorsOption = Annotated[bool, typer.Option("--retry-errors", help="Ask failed requests again.")]
FailOnErrorOption = Annotated[
    float | None,
    typer.Option(
        "--fail-on-error",
        help="Tolerated share of failed requests; the run stops beyond it. [default: 0, at the end]",
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print requests, tokens and cost; ask nothing.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]


def generate(
    model: ModelOption,
    use_case: UseCaseOption = None,
    language: LanguageOption = None,
    axis: AxisOption = None,
    identifier: IdentifierOption = None,
    profile: ProfileOption = None,
    question: QuestionOption = None,
    limit: LimitOption = None,
    shard: ShardOption = None,
    run: RunOption = None,
    base_url: BaseUrlOption = None,
    extra: ExtraOption = None,
    temperature: TemperatureOption = 0.0,
    max_tokens: MaxTokensOption = None,
    seed: SeedOption = None,
    reasoning_effort: ReasoningOption = "none",
    arm: ArmOption = "standard",
    repeats: RepeatsOption = 1,
    constrain: ConstrainOption = None,
    max_connections: ConnectionsOption = None,
    rpm: RpmOption = None,
    tpm: TpmOption = None,
    workers: WorkersOption = 1,
    max_retries: RetriesOption = 8,
    timeout: TimeoutOption = 1800.0,
    attempt_timeout: AttemptTimeoutOption = 120.0,
    max_cost: MaxCostOption = None,
    price_in: PriceInOption = None,
    price_out: PriceOutOption = None,
    batch: BatchOption = False,
    batch_tokens: BatchTokensOption = None,
    fail_on_error: FailOnErrorOption = None,
    retry_errors: RetryErrorsOption = False,
    fresh: FreshOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
) -> None:
    """Ask a model the prompts of the benchmark; the same command resumes a run.

    Example: rupeebias generate --model openai/gpt-5.4 --axis caste,gender --limit 60

    Replies go to outputs.jsonl in the run directory, each as it arrives. Exit status: 0 complete,
    1 failed, 2 wrong usage, 3 stopped or some requests failed, 130 interrupted.
    """
    told = locals()
    from ..generate.terminating import terminable

    options = options_of(told)
    selection = selection_of(told)
    with terminable():
        _generate(options, selection, batch=batch, batch_tokens=batch_tokens)


def _generate(
    options: "GenerateOptions", selection: Selection, *, batch: bool, batch_tokens: int | None
) -> None:
    from ..generate.api import check_error_share, generate_outputs

    if batch:
        from ..generate.batch.api import BatchOptions, generate_by_batch

        summary = generate_by_batch(options, selection, typer.echo, BatchOptions(tokens=batch_tokens))
    else:
        summary = generate_outputs(options, selection, say=typer.echo)
    if options.dry_run:
        return
    if not options.quiet:
        for line in ending_lines(summary):
            typer.echo(line)
    check_error_share(summary, options.fail_on_error)


def selection_of(told: "Mapping[str, Any]") -> Selection:
    """Return what the selection options of a command say; `told` holds its parameters by name."""
    names = ("use_case", "language", "axis", "identifier", "profile", "question")
    plural = ("use_cases", "languages", "axes", "identifiers", "profiles", "questions")
    chosen = {many: told[one] for one, many in zip(names, plural, strict=True)}
    return Selection.parse(**chosen, limit=told["limit"], shard=parse_shard(told.get("shard")))


def options_of(told: "Mapping[str, Any]") -> "GenerateOptions":
    """Return what the other options of a command say; `told` holds its parameters by name.

    An option that the command does not have keeps its default.
    """
    from ..generate.gate import Bounds
    from ..generate.options import GenerateOptions
    from ..generate.retry import RetryRules
    from ..generate.runner import RunOptions

    names = (
        "max_connections", "workers", "arm", "repeats", "run", "fresh", "retry_errors", "fail_on_error",
        "price_in", "price_out", "max_cost", "dry_run", "quiet",
    )  # fmt: skip
    bounds = Bounds(requests_per_minute=told.get("rpm"), tokens_per_minute=told.get("tpm"))
    retries = RetryRules(told["max_retries"]) if "max_retries" in told else RetryRules()
    deadlines = _given(told, timeout="timeout_s", attempt_timeout="attempt_timeout_s")
    return GenerateOptions(
        model=told["model"] or "",
        model_options=_model_options_of(told),
        run_options=RunOptions(bounds=bounds, retries=retries, **deadlines),
        **_given(told, *names),
    )


def _model_options_of(told: "Mapping[str, Any]") -> "ModelOptions":
    from ..generate.types import ModelOptions

    names = ("base_url", "temperature", "max_tokens", "seed", "reasoning_effort", "constrain")
    given = _given(told, *names, attempt_timeout="attempt_timeout_s")
    if given.get("reasoning_effort") == "default":
        given["reasoning_effort"] = None
    return ModelOptions(extras=parse_extras(told["extra"]), **given)


def _given(told: "Mapping[str, Any]", *same: str, **renamed: str) -> dict[str, Any]:
    """Return the parameters that the command has, by the names that the options give them."""
    return {to: told[name] for name, to in {**{n: n for n in same}, **renamed}.items() if name in told}


def parse_extras(items: list[str] | None) -> "dict[str, JSON]":
    """Return the `-M key=value` options; a value that is not JSON is taken as text."""
    import json

    from ..errors import UsageError

    extras: dict[str, JSON] = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-M {item}: expected KEY=VALUE")
        try:
            extras[key.strip()] = json.loads(value)
        except ValueError:  # no JSON, or a number of thousands of digits
            extras[key.strip()] = value
    return extras


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """Return (i, n) for "i/n"; raises UsageError unless 1 <= i <= n."""
    import re

    from ..errors import UsageError

    if text is None:
        return None
    first, slash, last = text.partition("/")
    is_good = slash and re.fullmatch(r"[0-9]{1,9}", first) and re.fullmatch(r"[0-9]{1,9}", last)
    if not is_good or not 1 <= int(first) <= int(last):
        raise UsageError(f"--shard {text}: expected I/N with I from 1 to N, such as 1/4")
    return int(first), int(last)


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
