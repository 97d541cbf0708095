"""What `rupeebias generate` can be told, the selection aside."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from ..models.types import JSON, ModelOptions
from ..naming import is_simulated_name
from .runner import RunOptions

ARMS = ("standard", "fairness")
_MOST = 2**63 - 1
_MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `rupeebias generate` can be told, the selection aside."""

    model: str
    """`sim/...`, `local/...` or a LiteLLM name."""
    model_options: ModelOptions = field(default_factory=ModelOptions)
    """What changes the answers."""
    run_options: RunOptions = field(default_factory=RunOptions)
    """How hard to try; its `bounds.max_connections` and `bounds.max_tokens` are set from here."""
    max_connections: int | None = None
    """Calls at once; None: what suits the model."""
    workers: int = 1
    """Processes that make the calls, where one is too slow for the server."""
    arm: str = "standard"
    """System prompt arm."""
    repeats: int = 1
    """How often each prompt is asked."""
    run: Path | None = None
    """Run directory; None: `runs/` and a name made of model, settings and selection."""
    fresh: bool = False
    """Move an old run aside and start again."""
    retry_errors: bool = False
    """Ask again what failed in earlier sessions."""
    fail_on_error: float | None = None
    """Largest tolerated share of failed requests: beyond it the run stops. None: run to the end."""
    price_in: float | None = None
    """USD per million tokens in; None: the price that the model knows."""
    price_out: float | None = None
    """USD per million tokens out."""
    max_cost: float | None = None
    """USD that the whole run may cost; None: no bound."""
    dry_run: bool = False
    """Say what would be done; make no call and write nothing."""
    quiet: bool = False
    """Show neither plan nor progress."""


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
