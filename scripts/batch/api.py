"""Generation by batch as one call, and its steps one by one.

A batch run and a live run with the same settings are the same run: they share directory, records and
identity, and what one has answered or has under way the other does not buy again.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from ..errors import IncompleteRunError, RupeeBiasError
from ..generate.api import check_key, generate_outputs
from ..generate.options import GenerateOptions
from ..generate.plan import plan_line, settled, shuffled_requests
from ..generate.retry import RetryRules, with_retries
from ..generate.session import RunSummary, Say, Session, counts_of, save_state
from ..models.types import CallError, Request
from ..runs.batches import Entry, Stage, key_hash, read_batches
from ..runs.directory import counts_on_disk, run_state
from ..runs.journal import Key
from ..runs.manifest import read_manifest
from ..runs.reuse import take_over
from ..runs.selection import Selection
from .engine import Engine
from .options import BatchOptions
from .types import BatchClient, State
from .work import Work, client_of, open_work, prepare_batch, prepared_from

__all__ = ["BatchOptions", "cancel", "collect", "generate_by_batch", "status", "submit", "submit_rest"]

_Step = Callable[[Work, Engine], Awaitable[None]]
_QUICK = RetryRules(max_retries=2)
_FIRST_WAIT_S = 1.0
"""Wait before the first look at a batch; it doubles up to the interval between looks."""


def generate_by_batch(
    options: GenerateOptions,
    selection: Selection,
    say: Say = print,
    batch: BatchOptions = BatchOptions(),  # noqa: B008 - frozen
) -> RunSummary:
    """Ask in batches all that the run still lacks, wait for them, and return the state of the run.

    The first request of a new run is asked live: a wrong key, model or parameter shows within seconds instead
    of after a day. Raises as `generate_outputs` does; in all cases calling again with the same arguments
    goes on, with the batches that are under way.
    """
    if options.dry_run:
        return generate_outputs(options, selection, say=say)
    return _submit(options, selection, say, batch, _until_done)


def submit(
    options: GenerateOptions,
    selection: Selection,
    say: Say = print,
    batch: BatchOptions = BatchOptions(),  # noqa: B008
) -> RunSummary:
    """Hand in what the run still lacks and is not under way, as far as limits let it; do not wait."""
    return _submit(options, selection, say, batch, _hand_in)


def submit_rest(
    folder: Path,
    say: Say = print,
    batch: BatchOptions = BatchOptions(),  # noqa: B008
    options: GenerateOptions | None = None,
) -> RunSummary:
    """Hand in what the run in `folder` still lacks, under the settings of its manifest."""
    options, prepared = prepared_from(folder, options, asks=True)
    with open_work(options, prepared, batch, say) as work:
        return _work_on(work, _hand_in)


def collect(
    folder: Path,
    say: Say = print,
    batch: BatchOptions = BatchOptions(),  # noqa: B008
    options: GenerateOptions | None = None,
) -> RunSummary:
    """Take in the results of the batches that are over; nothing is asked."""
    options, prepared = prepared_from(folder, options)
    with open_work(options, prepared, batch, say) as work:
        return _work_on(work, _take_in)


def status(folder: Path, say: Say = print) -> None:
    """Say how far the batches of a run are. Changes nothing, and works while another process waits for
    them.
    """
    manifest = read_manifest(folder)
    batches = read_batches(folder)
    state = run_state(folder)
    counts = counts_on_disk(manifest, state)
    under_way = len(batches.held_back()) if batches is not None else 0
    say(plan_line(counts, max(counts.left - under_way, 0), folder) + f", {under_way:,} in batches under way")
    if batches is None:
        return
    for entry in batches.entries.values():
        if entry.stage is Stage.COLLECTED:
            say(_collected_line(entry))
    if batches.open_entries:
        _with_client(folder, lambda client: _say_remotes(client, batches.open_entries, say))


def cancel(folder: Path, say: Say = print) -> int:
    """Have the provider stop the batches of a run, and return how many there were.

    What they have answered by then is paid for: collect it. Works while another process waits for them.
    """
    read_manifest(folder)  # a folder that is no run is told
    batches = read_batches(folder)
    sent = [entry for entry in batches.open_entries if entry.batch_id] if batches is not None else []
    for entry in sent:
        if not entry.is_certain:
            say(f"batch {entry.batch_id}: left alone, since it may not be of this run; its results will tell")
    sent = [entry for entry in sent if entry.is_certain]
    if not sent:
        say(f"{folder}: no batch is under way")
        return 0
    _with_client(folder, lambda client: _cancel_all(client, sent, say))
    return len(sent)


def _submit(
    options: GenerateOptions, selection: Selection, say: Say, batch: BatchOptions, step: _Step
) -> RunSummary:
    say = _silent if options.quiet else say
    prepared = prepare_batch(options, selection, say)
    check_key(options, prepared)
    with open_work(options, prepared, batch, say) as work:
        if options.run is None:
            take_over(work.opened, work.keys, say)
        say(_plan(work))
        if _is_new(work):
            work = _with_first_reply(work)
        return _work_on(work, step)


def _plan(work: Work) -> str:
    under_way = len(work.batches.held_back())
    pending = sum(1 for _ in _requests(work))
    line = plan_line(counts_of(work.opened, work.keys), pending, work.opened.folder)
    return f"{line}; {under_way:,} in batches under way" if under_way else line


def _is_new(work: Work) -> bool:
    journal = work.opened.journal
    return not (journal.done or journal.failed or work.batches.entries)


def _with_first_reply(work: Work) -> Work:
    """Ask the first request live, and return the run with the settings that this has proved."""
    first = next(_requests(work))
    prompt = next(p for p in work.prepared.prompts if p.prompt_id == first.prompt_id)
    options = replace(work.options, repeats=1, quiet=True)
    work.say("asking one request live, to see that key, model and settings are right")
    price = work.prepared.price
    Session(options, work.opened, work.prepared.model, price, [prompt], work.say).generate()
    manifest = read_manifest(work.opened.folder)
    return replace(work, opened=replace(work.opened, manifest=manifest))


def _work_on(work: Work, step: _Step) -> RunSummary:
    """Run `step` on the batches of a run; save the state of the run whatever happens."""
    started = time.monotonic()
    client = client_of(work.opened.manifest)
    engine = work.engine(client)
    try:
        asyncio.run(_closing(client, step(work, engine)))
    except BaseException as error:
        with contextlib.suppress(OSError):  # a full disk must not hide the first error
            save_state(work.opened, work.keys, engine.collected, time.monotonic() - started)
        if isinstance(error, KeyboardInterrupt):
            work.say(f"\nInterrupted: {_resumes(work)}")
        if isinstance(error, CallError):
            text = f"{error.message}\n{_resumes(work)}"
            raise (RupeeBiasError if error.fatal else IncompleteRunError)(text) from None
        raise
    summary = save_state(work.opened, work.keys, engine.collected, time.monotonic() - started)
    if engine.stopped is not None:
        text = f"stopped: {engine.stopped}\n{_resumes(work)}"
        raise RupeeBiasError(text) if engine.fatal else IncompleteRunError(text)
    return summary


async def _closing(client: BatchClient, work: Awaitable[None]) -> None:
    try:
        await work
    finally:
        await client.close()


async def _until_done(work: Work, engine: Engine) -> None:
    await engine.attach()
    wait = _FIRST_WAIT_S
    while True:
        await _collect_all(engine)
        if engine.stopped is None and await engine.submit(_requests(work, engine.ended_now)):
            wait = _FIRST_WAIT_S
        if engine.stopped is not None or not work.batches.open_entries:
            return
        save_state(work.opened, work.keys, 0, 0.0)
        await asyncio.sleep(min(wait, work.batch.poll_s))
        wait *= 2


async def _hand_in(work: Work, engine: Engine) -> None:
    await engine.attach()
    await engine.submit(_requests(work, engine.ended_now))
    waiting = sum(1 for _ in _requests(work))
    if engine.stopped is None and waiting:
        work.say(f"{waiting:,} requests wait for room; hand them in when a batch is over")


async def _take_in(work: Work, engine: Engine) -> None:
    await engine.attach()
    await _collect_all(engine)


async def _collect_all(engine: Engine) -> None:
    for entry, remote in await engine.refresh():
        await engine.collect(entry, remote)


def _requests(work: Work, ended_now: AbstractSet[Key] = frozenset()) -> Iterator[Request]:
    """Yield what has no outcome and is not under way; what this session has asked has one."""
    skip = settled(work.opened.journal, work.options) | ended_now
    held_back = work.batches.held_back()
    for request in shuffled_requests(work.prepared.prompts, work.options.repeats, skip):
        if key_hash((request.prompt_id, request.repeat)) not in held_back:
            yield request


def _resumes(work: Work) -> str:
    under_way = len(work.batches.held_back())
    done = len(work.opened.journal.done & work.keys)
    text = f"{done:,} of {len(work.keys):,} are done and saved in {work.opened.folder}"
    if under_way:
        text += f", {under_way:,} are in batches that go on (stop them with `rupeebias batch cancel`)"
    return f"{text}. The same command goes on."


def _collected_line(entry: Entry) -> str:
    counts = f"{entry.done:,} replies, {entry.failed:,} failed, {entry.again:,} to ask again"
    cause = f"; most often: {entry.reason}" if entry.reason else ""
    return f"batch {entry.batch_id or entry.chunk}: {entry.word or 'refused'}, collected: {counts}{cause}"


def _with_client(folder: Path, use: Callable[[BatchClient], Awaitable[None]]) -> None:
    """Call `use` with the batch interface of the run in `folder`."""
    _, prepared = prepared_from(folder)
    client = client_of(prepared.planned)
    try:
        asyncio.run(_closing(client, use(client)))
    except CallError as error:
        raise RupeeBiasError(error.message) from None


async def _say_remotes(client: BatchClient, entries: Sequence[Entry], say: Say) -> None:
    for entry in entries:
        if entry.batch_id is None:
            say(f"batch {entry.chunk}: handing it in was interrupted; `rupeebias batch collect` looks for it")
            continue
        remote = await with_retries(lambda i=entry.batch_id: client.retrieve(i), _QUICK)  # type: ignore[misc]
        over = "" if remote.state is State.WORKING else ", over: collect it"
        say(f"batch {remote.id}: {remote.word}, {remote.answered:,} of {entry.requests:,} handled{over}")


async def _cancel_all(client: BatchClient, entries: Sequence[Entry], say: Say) -> None:
    for entry in entries:
        remote = await with_retries(lambda i=entry.batch_id: client.cancel(i), _QUICK)  # type: ignore[misc]
        say(f"batch {remote.id}: {remote.word}")


def _silent(_: str) -> None:
    pass
