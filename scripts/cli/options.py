"""The options that commands share, each declared once; `told.py` reads what was given."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from rupeebias.metric.constants import IDENTIFIERS, LANGUAGES, USE_CASES

_PANEL = "Selection"
_MANY = "Repeatable, or comma-separated."


def _some_of(names: Iterable[str]) -> str:
    return f"One or more of {', '.join(names)}. {_MANY} [default: all]"


UseCase = Annotated[
    list[str] | None,
    typer.Option("--use-case", help=_some_of(USE_CASES), rich_help_panel=_PANEL),
]
Language = Annotated[
    list[str] | None,
    typer.Option("--language", help=_some_of(LANGUAGES), rich_help_panel=_PANEL),
]
Axis = Annotated[
    list[str] | None,
    typer.Option("--axis", help=_some_of(IDENTIFIERS), rich_help_panel=_PANEL),
]
Identifier = Annotated[
    list[str] | None,
    typer.Option("--identifier", help=f'Such as dalit or "Tier 1 city". {_MANY}', rich_help_panel=_PANEL),
]
Profile = Annotated[
    list[str] | None,
    typer.Option("--profile", help=f"Such as P01. {_MANY}", rich_help_panel=_PANEL),
]
Question = Annotated[
    list[str] | None,
    typer.Option("--question", help=f"Such as Q1. {_MANY}", rich_help_panel=_PANEL),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", help="At most this many whole slots, spread evenly.", rich_help_panel=_PANEL),
]

Model = Annotated[
    str,
    typer.Option(
        "--model",
        help="sim/NAME, local/smollm2, local/PATH.gguf or any LiteLLM name (openai/gpt-5.4).",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", "--api-base", help="Address of an OpenAI-compatible server."),
]
Extra = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="KEY=VALUE", help="Provider extra; JSON values. Repeatable."),
]
Connections = Annotated[
    int | None,
    typer.Option("--max-connections", "-j", help="Calls at once. [default: what suits the model]"),
]
Retries = Annotated[int, typer.Option("--max-retries", help="Retries of one request.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds for one request, retries included.")]
AttemptTimeout = Annotated[float, typer.Option("--attempt-timeout", help="Seconds for one attempt.")]
Rpm = Annotated[
    float | None,
    typer.Option("--max-requests-per-minute", "--rpm", help="Calls a minute at most. [default: no bound]"),
]
Tpm = Annotated[
    float | None,
    typer.Option("--max-tokens-per-minute", "--tpm", help="Tokens a minute at most. [default: no bound]"),
]
Workers = Annotated[
    int, typer.Option("--workers", help="Processes that make the calls, for a server faster than one.")
]
Shard = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Only the I-th of N parts, in whole slots: 1/4."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", help="Stop before the run can cost more. [default: no bound]"),
]
PriceIn = Annotated[
    float | None,
    typer.Option("--price-in", metavar="USD", help="Per million tokens in. [default: LiteLLM's price map]"),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="USD", help="Per million tokens out. [default: LiteLLM's price map]"),
]
Batch = Annotated[
    bool,
    typer.Option("--batch", help="Through the provider's batch interface: half the price, within a day."),
]
BatchTokens = Annotated[
    int | None,
    typer.Option("--batch-tokens", help="Most tokens queued in batches at once. [default: no bound]"),
]
Temperature = Annotated[float, typer.Option("--temperature", help="Sampling temperature.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", help="Longest answer. [default: the provider's]")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Sampling seed. [default: not sent]")]
Reasoning = Annotated[
    str,
    typer.Option("--reasoning-effort", help="none, low, ...; 'default' sends nothing."),
]
Repeats = Annotated[int, typer.Option("--repeats", help="Times each prompt is asked.")]
Arm = Annotated[
    str, typer.Option("--arm", help="standard, or fairness: asks for a fair response (not sim/).")
]
Constrain = Annotated[
    bool | None,
    typer.Option(
        "--constrain/--no-constrain",
        help="Hold answers to the format: llama.cpp, vLLM. [default: local/ only]",
    ),
]
Run = Annotated[
    Path | None,
    typer.Option("--run", help="Run directory. [default: runs/ and a name from the settings]"),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Move an old run aside and start again.")]
RetryErrors = Annotated[bool, typer.Option("--retry-errors", help="Ask failed requests again.")]
FailOnError = Annotated[
    float | None,
    typer.Option(
        "--fail-on-error",
        help="Tolerated share of failed requests; the run stops beyond it. [default: 0, at the end]",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, tokens and cost; ask nothing.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
