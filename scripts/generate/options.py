"""What `rupeebias generate` can be told, the selection aside."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from ..errors import UsageError
from ..models.types import JSON, ModelOptions
from ..naming import is_simulated_name
from .retry import RetryRules

ARMS = ("standard", "fairness")
_MOST = 2**63 - 1
_MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may be asked."""

    max_connections: int = 16
    """Calls at once, at most: fewer while the provider says 429."""
    requests_per_minute: Annotated[
        float | None,
        Option("--max-requests-per-minute", "--rpm", help="Calls a minute at most. [default: no bound]"),
    ] = None
    """None: no bound."""
    tokens_per_minute: Annotated[
        float | None,
        Option("--max-tokens-per-minute", "--tpm", help="Tokens a minute at most. [default: no bound]"),
    ] = None
    """Tokens in and out; None: no bound."""
    max_tokens: int | None = None
    """Longest answer, to estimate tokens before a call; None: not known."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How hard to try. None of it changes an answer, so all of it may change when a run is resumed."""

    bounds: Bounds = field(default_factory=Bounds)
    """How much is asked at once and per minute."""
    retries: RetryRules = field(default_factory=RetryRules)
    """How often and how soon a failed call is tried again."""
    timeout_s: Annotated[float, Option("--timeout", help="Seconds for one request, retries included.")] = (
        1800.0
    )
    """Deadline of one request from its first attempt on, all attempts and waits included."""
    attempt_timeout_s: Annotated[float, Option("--attempt-timeout", help="Seconds for one attempt.")] = 120.0
    """Deadline of one attempt, from the moment it is sent; a model is told it as well."""
    max_failures_in_a_row: int = 20
    """Requests that fail one after the other before the run stops."""
    max_failures: int | None = None
    """Failed requests of this session beyond which the run stops; None: no bound."""


Model = Annotated[
    str,
    Option("--model", help="sim/NAME, local/smollm2, local/PATH.gguf or any LiteLLM name (openai/gpt-5.4)."),
]
"""The option that says which model is asked; some commands can do without it."""


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `rupeebias generate` can be told, the selection aside."""

    model: str = ""
    """`sim/...`, `local/...` or a LiteLLM name."""
    run: Annotated[
        Path | None, Option(help="Run directory. [default: runs/ and a name from the settings]")
    ] = None
    """Run directory; None: `runs/` and a name made of model, settings and selection."""
    model_options: ModelOptions = field(default_factory=ModelOptions)
    """What changes the answers."""
    arm: Annotated[str, Option(help="standard, or fairness: asks for a fair response (not sim/).")] = (
        "standard"
    )
    """System prompt arm."""
    repeats: Annotated[int, Option(help="Times each prompt is asked.")] = 1
    """How often each prompt is asked."""
    max_connections: Annotated[
        int | None,
        Option("--max-connections", "-j", help="Calls at once. [default: what suits the model]"),
    ] = None
    """Calls at once; None: what suits the model."""
    run_options: RunOptions = field(default_factory=RunOptions)
    """How hard to try; its `bounds.max_connections` and `bounds.max_tokens` are set from here."""
    workers: Annotated[int, Option(help="Processes that make the calls, for a server faster than one.")] = 1
    """Processes that make the calls, where one is too slow for the server."""
    max_cost: Annotated[
        float | None, Option(metavar="USD", help="Stop before the run can cost more. [default: no bound]")
    ] = None
    """USD that the whole run may cost; None: no bound."""
    price_in: Annotated[
        float | None,
        Option(metavar="USD", help="Per million tokens in. [default: LiteLLM's price map]"),
    ] = None
    """USD per million tokens in; None: the price that the model knows."""
    price_out: Annotated[
        float | None,
        Option(metavar="USD", help="Per million tokens out. [default: LiteLLM's price map]"),
    ] = None
    """USD per million tokens out."""
    components: Annotated[
        Path | None,
        Option(help="Components of an own benchmark, a folder. [default: RupeeBias's]"),
    ] = None
    """Folder of the benchmark's YAML files; the selection must be of the same benchmark."""
    fail_on_error: Annotated[
        float | None,
        Option(help="Tolerated share of failed requests; the run stops beyond it. [default: 0, at the end]"),
    ] = None
    """Largest tolerated share of failed requests: beyond it the run stops. None: run to the end."""
    retry_errors: Annotated[
        Literal["failed", "empty"] | None,
        Option(
            "--retry-errors",
            help="Ask failed requests again; with =empty also those whose reply is empty. "
            "[without a value: failed]",
        ),
    ] = None
    """Ask again what failed in earlier sessions, or what failed or came back without a text."""
    fresh: Annotated[bool, Option("--fresh", help="Move an old run aside and start again.")] = False
    """Move an old run aside and start again."""
    dry_run: Annotated[bool, Option("--dry-run", help="Print requests, tokens and cost; ask nothing.")] = (
        False
    )
    """Say what would be done; make no call and write nothing."""
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only errors.")] = False
    """Show neither plan nor progress."""

    def __post_init__(self) -> None:
        """Tell the model the deadline of a call, which is declared where it is enforced."""
        told = replace(self.model_options, attempt_timeout_s=self.run_options.attempt_timeout_s)
        object.__setattr__(self, "model_options", told)


def check(options: GenerateOptions) -> None:
    """Raise UsageError for the first option that makes no sense."""
    for is_good, message in _checks(options):
        if not is_good:
            raise UsageError(message)


def _checks(options: GenerateOptions) -> Iterator[tuple[bool, str]]:
    rate, run_options, bounds = options.fail_on_error, options.run_options, options.run_options.bounds
    yield options.arm in ARMS, f"--arm {options.arm}: expected {' or '.join(ARMS)}"
    yield options.arm == "standard" or not is_simulated_name(options.model), _unheard(options)
    for name, count, least, most in (
        ("repeats", options.repeats, 1, _MOST_REPEATS),
        ("max-connections", options.max_connections, 1, _MOST),
        ("workers", options.workers, 1, _MOST),
        ("max-retries", run_options.retries.max_retries, 0, _MOST),
        ("max-tokens", options.model_options.max_tokens, 1, _MOST),
        ("seed", options.model_options.seed, -_MOST, _MOST),
    ):
        is_good = count is None or least <= count <= most
        yield is_good, f"--{name} {count}: expected a whole number from {least} to {most:,}"
    yield rate is None or 0 <= rate <= 1, f"--fail-on-error {rate}: expected a share from 0 to 1"
    is_timed = _is_positive(run_options.timeout_s) and _is_positive(run_options.attempt_timeout_s)
    yield is_timed, "--timeout and --attempt-timeout: expected seconds above 0"
    for name, number in (
        ("max-requests-per-minute", bounds.requests_per_minute),
        ("max-tokens-per-minute", bounds.tokens_per_minute),
        ("max-cost", options.max_cost),
    ):
        yield number is None or _is_positive(number), f"--{name} {number}: expected a number above 0"
    warmth = options.model_options.temperature
    is_good = warmth is None or (math.isfinite(warmth) and warmth >= 0)
    yield is_good, f"--temperature {warmth}: expected a number, 0 or more"
    for name, value in options.model_options.extras.items():
        yield _is_storable(value), f"-M {name}: expected finite numbers, and whole ones of at most 64 bits"
    yield from _price_checks(options)


def _unheard(options: GenerateOptions) -> str:
    return (
        f"--arm {options.arm}: {options.model} answers from a formula and reads no instruction, so it would "
        "answer as in the standard arm; ask a model that reads one (local/smollm2 needs no key)"
    )


def _price_checks(options: GenerateOptions) -> Iterator[tuple[bool, str]]:
    prices = (options.price_in, options.price_out)
    yield prices.count(None) != 1, "--price-in and --price-out belong together: give both"
    for price in prices:
        is_good = price is None or (math.isfinite(price) and price >= 0)
        yield is_good, "--price-in and --price-out: expected USD per million tokens, 0 or more"


def _is_storable(value: JSON) -> bool:
    """Return True if `value` can stand in a manifest as it is."""
    if isinstance(value, dict):
        return all(map(_is_storable, value.values()))
    if isinstance(value, list):
        return all(map(_is_storable, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) <= _MOST


def _is_positive(number: float) -> bool:
    return math.isfinite(number) and number > 0
