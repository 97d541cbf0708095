"""What passes between the runner and a model: a request out, a reply or an error back.

The network is handed to the runner as a function (`Complete`), so a provider, a simulated
respondent and the plain function of a test are the same thing to it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Protocol, TypeAlias, runtime_checkable

from typer import Option

from ..options import Typed, parse_extras

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    prompt_id: str
    """The row of the benchmark that is asked."""
    repeat: int
    """0, 1, ...: which of the repeats of this prompt it is."""
    system_prompt: str
    """The system message, as the run's arm has it."""
    prompt: str
    """The user message."""
    use_case: str
    """Slug of the use case; it says which answer format is asked for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, before any reading of it."""

    text: str | None
    """The answer's content, never its reasoning; None if the model returned no content."""
    finish_reason: str | None = None
    """Why the model stopped (`stop`, `length`, ...), None if not told."""
    usage: dict[str, int] | None = None
    """Token counts by name (`input_tokens`, `output_tokens`, ...), None if not told."""
    cost_usd: float | None = None
    """Price of this call; None means unknown, never free."""
    response_model: str | None = None
    """The model that the provider says it served."""
    has_reasoning: bool = False
    """True if the model returned reasoning beside the answer; its text is not kept."""


class CallError(Exception):
    """One call failed. The runner decides from the fields whether and when to ask again."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after_s: float | None = None,
        fatal: bool = False,
        throttled: bool = False,
        rejected: str | None = None,
        stops_run: bool = False,
        about_prompt: bool = False,
        no_server: bool = False,
        cost_usd: float | None = None,
    ) -> None:
        """Describe a failed call.

        `retryable`: the same call may succeed later (429, 5xx, network). `retry_after_s`: seconds
        that the server asked to wait, None if it did not say. `fatal`: every call of the run would
        fail alike (wrong key, unknown model, no quota), so the run must stop; a fatal error is not
        retried. `throttled`: the server says that it is asked too often (429). `rejected`: the
        parameter that the server does not take from this model. `stops_run`: the run is to stop and may be
        resumed as it is; a fatal error always does. `about_prompt`: key, model and parameters are right, a
        filter turned this prompt down. `no_server`: nobody took the call. `cost_usd`: what it cost, 0 for a
        call that was refused or never arrived; None for one that may have been worked on, which counts at its
        worst case. The message must not hold a key.
        """
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.fatal = fatal
        self.throttled = throttled
        self.rejected = rejected
        self.stops_run = stops_run or fatal
        self.about_prompt = about_prompt
        self.no_server = no_server
        self.cost_usd = 0.0 if no_server or throttled or rejected is not None else cost_usd


Complete: TypeAlias = Callable[[Request], Awaitable[Reply]]
"""Ask once, without retries of its own; raises CallError when there is no reply."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the command line says about the model; each kind of model takes what applies to it.

    The modules `rupeebias.models.simulated` and `rupeebias.models.local` each offer
    `create_model(name, options, design) -> Model` and `model_names() -> list[str]`.
    """

    base_url: Annotated[
        str | None, Option("--base-url", "--api-base", help="Address of an OpenAI-compatible server.")
    ] = None
    """Where the server is, for OpenAI-compatible servers."""
    extras: Annotated[
        dict[str, JSON],
        Option("-M", metavar="KEY=VALUE", help="Provider extra; JSON values. Repeatable."),
        Typed(list[str] | None, parse_extras),
    ] = field(default_factory=dict)
    """The `-M key=value` options."""
    temperature: Annotated[float | None, Option(help="Sampling temperature.")] = 0.0
    """None: not sent."""
    max_tokens: Annotated[int | None, Option(help="Longest answer. [default: the provider's]")] = None
    """None: the model's own default."""
    seed: Annotated[int | None, Option(help="Sampling seed. [default: not sent]")] = None
    """None: not sent."""
    reasoning_effort: Annotated[str | None, Option(help="none, low, ...; 'default' sends nothing.")] = "none"
    """None: not sent."""
    constrain: Annotated[
        bool | None, Option(help="Hold answers to the format: llama.cpp, vLLM. [default: local/ only]")
    ] = None
    """Hold answers to the asked format on the server; None: the model's own default."""
    attempt_timeout_s: float = 120.0
    """Deadline of one call; the runner enforces it, a model may pass it on."""
    log_dir: Path | None = None
    """Where a model that starts a server may put its log; None: a temporary place."""

    def __post_init__(self) -> None:
        """Read the word that people type for "nothing is sent"."""
        if self.reasoning_effort == "default":
            object.__setattr__(self, "reasoning_effort", None)


class Model(Protocol):
    """A source of replies. `open` and `close` enclose all calls of `complete`."""

    @property
    def name(self) -> str:
        """The name given to `--model`."""

    @property
    def settings(self) -> dict[str, JSON]:
        """Return what changes the answers: kept in the manifest and compared on resume, never a
        key.

        It must be known before `open`, so that a wrong resume is refused before anything starts.
        """

    @property
    def max_connections(self) -> int | None:
        """Return how many calls at once suit this model, None if it has no wish of its own."""

    async def open(self) -> None:
        """Make ready for calls; raises a RupeeBiasError with the remedy if that cannot be done."""

    async def close(self) -> None:
        """Release what `open` took; also called when `open` or a call failed."""

    async def complete(self, request: Request) -> Reply:
        """Ask once; raises CallError."""


@runtime_checkable
class Adjustable(Protocol):
    """A model whose parameters can be left out one by one, where a server turns one down."""

    def leave_out(self, parameter: str, reason: str) -> None:
        """Send `parameter` no more; `settings` then has it under `not_sent`, with the reason."""


@runtime_checkable
class Keyed(Protocol):
    """A model that needs a key."""

    def check_key(self) -> None:
        """Raise UsageError, naming the environment variable, if there is none that can be sent."""
