"""One go at a run that is open: ask what is left, keep the manifest true whatever happens."""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path

from rupeebias.dataset_builder.prompts import Prompt

from ..errors import IncompleteRunError, RupeeBiasError
from ..models.prices import FREE, Price, priced, worst_case_usd
from ..models.types import Adjustable, Complete, Model, Request
from ..runs.batches import keys_in_flight
from ..runs.directory import OUTPUTS, OpenRun
from ..runs.journal import Key
from ..runs.manifest import FILE, Counts, now, write_manifest
from .limits import Budget
from .options import GenerateOptions, RunOptions
from .plan import by_system_prompt, connections, plan_line, settled, shuffled_requests
from .progress import Progress, open_display
from .runner import RunResult, run

Say = Callable[[str], None]


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
    response_models: dict[str, int] = field(default_factory=dict)
    """Valid replies of the whole run by the model that the provider named."""
    lost_usd: float = 0.0
    """At most so much was paid beyond that, for calls whose reply or cost is not known."""
    statuses: dict[str, int] = field(default_factory=dict)
    """Replies of the whole run that are no whole answer: truncated, empty, reasoning_only."""

    @property
    def outputs(self) -> Path:
        """The file with the replies."""
        return self.folder / OUTPUTS

    @property
    def error_share(self) -> float:
        """Failed requests as a share of all, in [0, 1]."""
        return self.counts.failed / self.counts.requests if self.counts.requests else 0.0


class Session:
    """One go at a run that is open: ask what is left, keep the manifest true whatever happens."""

    def __init__(
        self,
        options: GenerateOptions,
        opened: OpenRun,
        model: Model,
        price: Price | None,
        prompts: Sequence[Prompt],
        say: Say,
    ) -> None:
        self._options = options
        self._opened = opened
        self._folder = opened.folder
        self._journal = opened.journal
        self._model = model
        self._price = price
        self._prompts = prompts
        self._say = say
        self._expected = {
            (prompt.prompt_id, repeat) for prompt in prompts for repeat in range(options.repeats)
        }
        self._in_batches = keys_in_flight(self._folder, self._expected)
        self._skip = settled(self._journal, options) | self._in_batches
        self._started = time.monotonic()

    def generate(self) -> RunSummary:
        """Ask what is left; see `generate_outputs` for what is raised."""
        before = self._counts()
        pending = len(self._expected - self._skip)
        self._say(plan_line(before, pending, self._folder))
        self._tell_of_others()
        if pending == 0:
            return self._save(calls=0)
        try:
            result = asyncio.run(self._run(pending, before))
        except BaseException as error:
            with contextlib.suppress(OSError):  # a full disk must not hide the first error
                self._journal.close()
                self._save(calls=0)
            if isinstance(error, KeyboardInterrupt):
                self._say(f"\nInterrupted: {self._progress_text()} The same command goes on.")
            raise
        self._journal.flush()  # the manifest must never count replies that a power failure can take
        summary = self._save(calls=result.replied + result.failed)
        if result.stopped is not None:
            text = f"stopped: {result.stopped}\n{self._progress_text()} The same command resumes."
            raise RupeeBiasError(text) if result.fatal else IncompleteRunError(text)
        return summary

    def _tell_of_others(self) -> None:
        """Say which records and requests this session has nothing to do with."""
        if self._in_batches:
            self._say(
                f"{len(self._in_batches):,} are in batches under way and are not asked here; "
                f"`rupeebias batch collect {self._folder}` fetches them"
            )
        lost = self._opened.manifest.counts.done - self._counts().done
        if lost > 0:
            self._say(
                f"warning: {self._folder / OUTPUTS} has {lost:,} replies fewer than {self._folder / FILE} "
                "counts; what is missing is asked again"
            )
        others = len((self._journal.done | self._journal.failed) - self._expected)
        if others:
            self._say(f"{others:,} records in {self._folder / OUTPUTS} belong to no request of this run")

    async def _run(self, pending: int, before: Counts) -> RunResult:
        total = before.requests
        design = self._opened.manifest.identity.design
        progress = Progress(total, total - pending, self._opened.ledger.spent_usd, design)
        requests = shuffled_requests(self._prompts, self._options.repeats, self._skip)
        if getattr(self._model, "shares_prefix", False):
            requests = by_system_prompt(requests)
        try:
            await self._model.open()
            with open_display(progress, quiet=self._options.quiet):
                return await run(
                    requests,
                    self._complete(),
                    self._journal,
                    _run_options(self._options, self._model, before),
                    progress,
                    budget=self._budget(),
                    leave_out=self._leave_out if self._may_adjust() else None,
                    notice=self._say,
                )
        finally:
            await self._model.close()

    def _complete(self) -> Complete:
        if self._price is None or self._price is FREE:
            return self._model.complete
        return priced(self._model.complete, self._price, overrule=self._options.price_in is not None)

    def _budget(self) -> Budget | None:
        """Return what keeps the money of this session, None where calls cost nothing."""
        price, options = self._price, self._options
        if price is FREE:
            return None

        def worst_usd(request: Request) -> float | None:
            longest = options.model_options.max_tokens or (price.max_output_tokens if price else None)
            return worst_case_usd(request, price, longest) if price and longest else None

        return Budget(self._opened.ledger, worst_usd, options.max_cost)

    def _may_adjust(self) -> bool:
        """Only before the first reply: after it all requests must be sent alike."""
        return isinstance(self._model, Adjustable) and not self._journal.done

    def _leave_out(self, parameter: str, reason: str) -> None:
        assert isinstance(self._model, Adjustable)  # noqa: S101 - see `_may_adjust`
        self._model.leave_out(parameter, reason)
        self._say(f"{parameter}: not sent from here on ({reason})")
        manifest = self._opened.manifest
        identity = replace(manifest.identity, settings=self._model.settings)
        self._opened = replace(self._opened, manifest=replace(manifest, identity=identity))
        write_manifest(self._folder, self._opened.manifest)  # before the first reply under these settings

    def _progress_text(self) -> str:
        counts = self._counts()
        return f"{counts.done:,} of {counts.requests:,} are done and saved in {self._folder}."

    def _counts(self) -> Counts:
        return counts_of(self._opened, self._expected)

    def _save(self, calls: int) -> RunSummary:
        return save_state(self._opened, self._expected, calls, time.monotonic() - self._started)


def counts_of(opened: OpenRun, keys: AbstractSet[Key]) -> Counts:
    """Return how far the requests `keys` of a run are."""
    journal = opened.journal
    return Counts(len(keys), len(journal.done & keys), len(journal.failed & keys))


def save_state(opened: OpenRun, keys: AbstractSet[Key], calls: int, elapsed_s: float) -> RunSummary:
    """Write the manifest as the run stands after a session of `calls` and `elapsed_s`; return its state."""
    journal = opened.journal
    known = len(journal.done) > journal.unknown_costs
    manifest = replace(
        opened.manifest,
        counts=counts_of(opened, keys),
        updated_at=now(),
        elapsed_s=opened.manifest.elapsed_s + elapsed_s,
        cost_usd=round(journal.cost_usd, 6) if known else None,
        unknown_costs=journal.unknown_costs,
        response_models=journal.response_models,
    )
    write_manifest(opened.folder, manifest)
    return RunSummary(
        folder=opened.folder,
        counts=manifest.counts,
        calls=calls,
        elapsed_s=elapsed_s,
        cost_usd=manifest.cost_usd,
        unknown_costs=manifest.unknown_costs,
        response_models=manifest.response_models,
        lost_usd=opened.ledger.spending.lost_usd,
        statuses={kind: count for kind, count in journal.statuses.items() if count},
    )


def _run_options(options: GenerateOptions, model: Model, before: Counts) -> RunOptions:
    rate = options.fail_on_error
    kept_failures = 0 if options.retry_errors else before.failed
    bounds = replace(
        options.run_options.bounds,
        max_connections=connections(options, model),
        max_tokens=options.model_options.max_tokens,
    )
    return replace(
        options.run_options,
        bounds=bounds,
        max_failures=(None if rate is None else max(math.floor(rate * before.requests) - kept_failures, 0)),
    )
