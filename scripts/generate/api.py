"""Generation as one call, for the commands `generate` and `audit`."""

import asyncio
import contextlib
import math
import platform
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from rupeebias.dataset_builder.prompts import Prompt

from ..errors import IncompleteRunError, RupeeBiasError, UsageError
from ..selection import Selection, select
from .manifest import Counts, Manifest, RunIdentity, write_manifest
from .models import open_model
from .outputs import Key
from .progress import open_progress
from .run_directory import OUTPUTS, RUNS, OpenRun, check_same_run, open_run, run_state
from .runner import RunOptions, RunResult, run
from .types import JSON, Model, ModelOptions, Request

ARMS = ("standard", "fairness")
_CONNECTIONS = 16
_ORDER_SEED = 20260101


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """What `rupeebias generate` can be told, the selection aside."""

    model: str
    """`sim/...`, `local/...` or a LiteLLM name."""
    model_options: ModelOptions = field(default_factory=ModelOptions)
    """What changes the answers."""
    run_options: RunOptions = field(default_factory=RunOptions)
    """How hard to try; `max_connections` is overruled by the next field."""
    max_connections: int | None = None
    """Calls at once; None: what suits the model."""
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
    dry_run: bool = False
    """Say what would be done; make no call and write nothing."""
    quiet: bool = False
    """Show neither plan nor progress."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """State of a run after a call of `generate_outputs`."""

    folder: Path
    """The run directory."""
    counts: Counts
    """Requests, done, failed and left of the whole run."""
    calls: int
    """Requests that got a record in this session."""
    elapsed_s: float
    """Time of this session."""
    cost_usd: float | None
    """Sum of the known costs of the whole run; None if none is known."""
    unknown_costs: int
    """Valid replies whose cost is unknown."""

    @property
    def outputs(self) -> Path:
        """The file with the replies."""
        return self.folder / OUTPUTS

    @property
    def error_share(self) -> float:
        """Failed requests as a share of all, in [0, 1]."""
        return self.counts.failed / self.counts.requests if self.counts.requests else 0.0


Say = Callable[[str], None]


def generate_outputs(options: GenerateOptions, selection: Selection, *, say: Say = print) -> RunSummary:
    """Ask the model all that the run still lacks, and return the state of the run.

    `say` gets the few lines meant for the user. Raises UsageError for bad options and for a run
    directory that holds another run, RupeeBiasError if the run stops for a cause that must be
    removed first, IncompleteRunError if it stops at a limit. KeyboardInterrupt passes through after
    the replies are safe. In all these cases calling again with the same arguments resumes the run.
    """
    _check(options)
    say = _silent if options.quiet else say
    model = open_model(options.model, options.model_options)
    prompts, fingerprint = _prompts(options.arm, selection)
    identity = RunIdentity(model.name, model.settings, options.arm, selection, fingerprint)
    folder = options.run or RUNS / identity.directory_name
    planned = _planned(identity, options, len(prompts), model)
    for name, reason in _not_sent(model.settings):
        say(f"{name}: not sent ({reason})")
    if options.dry_run:
        return _dry_run(folder, planned, options, say)
    with open_run(folder, planned, fresh=options.fresh) as opened:
        return _Session(options, opened, model, prompts, say).generate()


def check_error_share(summary: RunSummary, tolerated: float | None) -> None:
    """Raise IncompleteRunError if requests are left, or if more failed than `tolerated` (None:
    any).
    """
    counts = summary.counts
    if counts.left:
        raise IncompleteRunError(
            f"{counts.left:,} of {counts.requests:,} requests are left; run the same command again"
        )
    if summary.error_share > (tolerated or 0.0):
        raise IncompleteRunError(
            f"{counts.failed:,} of {counts.requests:,} requests failed ({summary.error_share:.2%}); "
            "add --retry-errors to ask them again, or tolerate them with --fail-on-error RATE"
        )


def shuffled_requests(prompts: Sequence[Prompt], repeats: int, skip: AbstractSet[Key]) -> Iterator[Request]:
    """Yield a request per prompt and repeat that is not in `skip`, in one fixed shuffled order.

    Shuffled, so that an outage or a silent change of the model does not line up with one group of
    people.
    """
    order = list(range(len(prompts) * repeats))
    random.Random(_ORDER_SEED).shuffle(order)  # noqa: S311 - an order, not a secret
    for index in order:
        prompt, repeat = prompts[index // repeats], index % repeats
        if (prompt.prompt_id, repeat) not in skip:
            yield Request(prompt.prompt_id, repeat, prompt.system_prompt, prompt.prompt, prompt.use_case)


class _Session:
    """One go at a run that is open: ask what is left, keep the manifest true whatever happens."""

    def __init__(
        self,
        options: GenerateOptions,
        opened: OpenRun,
        model: Model,
        prompts: Sequence[Prompt],
        say: Say,
    ) -> None:
        self._options = options
        self._opened = opened
        self._model = model
        self._prompts = prompts
        self._say = say
        self._expected = {
            (prompt.prompt_id, repeat) for prompt in prompts for repeat in range(options.repeats)
        }
        self._skip = _settled(opened.journal.done, opened.journal.failed, options)
        self._started = time.monotonic()

    def generate(self) -> RunSummary:
        before = self._counts()
        pending = len(self._expected - self._skip)
        self._say(_plan(before, pending, self._opened.folder))
        if pending == 0:
            return self._save(calls=0)
        try:
            result = asyncio.run(self._run(pending, before))
        except BaseException as error:
            self._opened.journal.close()
            with contextlib.suppress(OSError):  # a full disk must not hide the first error
                self._save(calls=0)
            if isinstance(error, KeyboardInterrupt):
                self._say(f"\nInterrupted: {self._progress_text()} The same command goes on.")
            raise
        summary = self._save(calls=result.replied + result.failed)
        if result.stopped is not None:
            text = f"stopped: {result.stopped}\n{self._progress_text()} The same command resumes."
            raise RupeeBiasError(text) if result.fatal else IncompleteRunError(text)
        return summary

    async def _run(self, pending: int, before: Counts) -> RunResult:
        total = before.requests
        progress = open_progress(total, total - pending, quiet=self._options.quiet)
        requests = shuffled_requests(self._prompts, self._options.repeats, self._skip)
        options = _run_options(self._options, self._model, before)
        try:
            await self._model.open()
            return await run(requests, self._model.complete, self._opened.journal, options, progress)
        finally:
            progress.close()
            await self._model.close()

    def _progress_text(self) -> str:
        counts = self._counts()
        folder = self._opened.folder
        return f"{counts.done:,} of {counts.requests:,} are done and saved in {folder}."

    def _counts(self) -> Counts:
        journal = self._opened.journal
        return Counts(
            requests=len(self._expected),
            done=len(journal.done & self._expected),
            failed=len(journal.failed & self._expected),
        )

    def _save(self, calls: int) -> RunSummary:
        journal = self._opened.journal
        elapsed = time.monotonic() - self._started
        known = len(journal.done) > journal.unknown_costs
        manifest = replace(
            self._opened.manifest,
            counts=self._counts(),
            updated_at=_now(),
            elapsed_s=self._opened.manifest.elapsed_s + elapsed,
            cost_usd=round(journal.cost_usd, 6) if known else None,
            unknown_costs=journal.unknown_costs,
            response_models=journal.response_models,
        )
        write_manifest(self._opened.folder, manifest)
        return RunSummary(
            folder=self._opened.folder,
            counts=manifest.counts,
            calls=calls,
            elapsed_s=elapsed,
            cost_usd=manifest.cost_usd,
            unknown_costs=manifest.unknown_costs,
        )


def _check(options: GenerateOptions) -> None:
    rate = options.fail_on_error
    run_options = options.run_options
    checks = (
        (options.arm in ARMS, f"--arm {options.arm}: expected {' or '.join(ARMS)}"),
        (options.repeats >= 1, f"--repeats {options.repeats}: expected 1 or more"),
        (
            options.max_connections is None or options.max_connections >= 1,
            f"--max-connections {options.max_connections}: expected 1 or more",
        ),
        (rate is None or 0 <= rate <= 1, f"--fail-on-error {rate}: expected a share from 0 to 1"),
        (run_options.max_retries >= 0, f"--max-retries {run_options.max_retries}: expected 0 or more"),
        (
            _positive(run_options.timeout_s) and _positive(run_options.attempt_timeout_s),
            "--timeout and --attempt-timeout: expected seconds above 0",
        ),
    )
    for is_good, message in checks:
        if not is_good:
            raise UsageError(message)


def _positive(seconds: float) -> bool:
    return math.isfinite(seconds) and seconds > 0


def _prompts(arm: str, selection: Selection) -> tuple[list[Prompt], str]:
    """Return the prompts of a run and the fingerprint of the dataset that they belong to."""
    from rupeebias.dataset_builder.components import load_components
    from rupeebias.dataset_builder.prompts import iter_prompts, with_fairness
    from rupeebias.metric.design import DATASET_FINGERPRINT

    components = load_components()
    prompts = select(iter_prompts(components), selection)
    if arm == "fairness":
        prompts = [
            replace(prompt, system_prompt=with_fairness(prompt.system_prompt, components))
            for prompt in prompts
        ]
    return prompts, DATASET_FINGERPRINT


def _planned(identity: RunIdentity, options: GenerateOptions, n_prompts: int, model: Model) -> Manifest:
    run_options = options.run_options
    return Manifest(
        identity=identity,
        repeats=options.repeats,
        counts=Counts(n_prompts * options.repeats, 0, 0),
        created_at=_now(),
        updated_at=_now(),
        versions=_versions(model),
        options={
            "max_connections": options.max_connections or model.max_connections or _CONNECTIONS,
            "max_retries": run_options.max_retries,
            "timeout_s": run_options.timeout_s,
            "attempt_timeout_s": run_options.attempt_timeout_s,
        },
    )


def _versions(model: Model) -> dict[str, str]:
    from rupeebias import __version__

    versions = {"rupeebias": __version__, "python": platform.python_version()}
    if not model.name.startswith("sim/"):
        versions["litellm"] = metadata.version("litellm")
    return versions


def _run_options(options: GenerateOptions, model: Model, before: Counts) -> RunOptions:
    rate = options.fail_on_error
    kept_failures = 0 if options.retry_errors else before.failed
    return replace(
        options.run_options,
        max_connections=options.max_connections or model.max_connections or _CONNECTIONS,
        max_failures=(None if rate is None else max(math.floor(rate * before.requests) - kept_failures, 0)),
    )


def _settled(done: AbstractSet[Key], failed: AbstractSet[Key], options: GenerateOptions) -> AbstractSet[Key]:
    """Return the keys that this session leaves alone."""
    return set(done) if options.retry_errors else done | failed


def _dry_run(folder: Path, planned: Manifest, options: GenerateOptions, say: Say) -> RunSummary:
    resumes = not options.fresh and check_same_run(folder, planned) is not None
    state = run_state(folder) if resumes else None
    counts = Counts(
        planned.counts.requests,
        len(state.done) if state else 0,
        len(state.failed) if state else 0,
    )
    pending = counts.left + (counts.failed if options.retry_errors else 0)
    say(_plan(counts, pending, folder) + "; dry run, nothing was asked")
    return RunSummary(folder, counts, 0, 0.0, None, 0)


def _plan(counts: Counts, pending: int, folder: Path) -> str:
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    return f"{counts.requests:,} requests: {counts.done:,} done{failed}, {pending:,} to do; {folder}"


def _not_sent(settings: dict[str, JSON]) -> Iterable[tuple[str, JSON]]:
    not_sent = settings.get("not_sent")
    return not_sent.items() if isinstance(not_sent, dict) else ()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _silent(_: str) -> None:
    pass
