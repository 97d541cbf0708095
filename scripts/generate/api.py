"""Generation as one call, for the commands `generate` and `audit`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import Prompt

from ..errors import IncompleteRunError, UsageError
from ..models import open_model
from ..models.prices import FREE, Price, Priced
from ..models.types import JSON, Keyed, Model
from ..runs.directory import RUNS, open_run
from ..runs.journal import Key
from ..runs.manifest import FILE, Counts, Manifest, RunIdentity
from ..runs.reuse import adopt_rejections, adopt_relatives_rejections, take_over, to_take_over
from ..runs.selection import Selection, has_comparisons
from .options import ARMS, GenerateOptions, check
from .plan import (
    estimate_lines,
    plan_line,
    planned_manifest,
    prompts_of,
    settled,
    shuffled_requests,
    state_of,
)
from .session import RunSummary, Say, Session

__all__ = [
    "ARMS",
    "GenerateOptions",
    "Prepared",
    "RunSummary",
    "Say",
    "check_error_share",
    "check_key",
    "check_model",
    "generate_outputs",
    "prepare",
    "shuffled_requests",
]


def generate_outputs(
    options: GenerateOptions, selection: Selection, *, say: Say = print, model: Model | None = None
) -> RunSummary:
    """Ask the model all that the run still lacks, and return the state of the run.

    `say` gets the few lines meant for the user; `model` stands in for the one that the options name. Raises
    UsageError for bad options and for a run directory that holds another run, RupeeBiasError if the
    run stops for a cause that must be removed first, IncompleteRunError if it stops at a limit.
    KeyboardInterrupt passes through after the replies are safe. In all these cases calling again
    with the same arguments resumes the run.
    """
    say = _silent if options.quiet else say
    prepared = prepare(options, selection, say, model=model)
    if options.dry_run:
        return _dry_run(options, prepared, say)
    check_key(options, prepared)
    with open_run(prepared.folder, prepared.planned, fresh=options.fresh) as opened:
        if options.run is None:
            take_over(opened, prepared.keys(options.repeats), say)
        session = Session(options, opened, prepared.model, prepared.price, prepared.prompts, say)
        return session.generate()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that has been checked and not been opened."""

    model: Model
    """The model, not opened yet."""
    price: Price | None
    """What its tokens cost, None if nobody says."""
    prompts: list[Prompt]
    """The prompts of the selection in dataset order."""
    folder: Path
    """The run directory."""
    planned: Manifest
    """The manifest that it is to have."""

    def keys(self, repeats: int) -> set[Key]:
        """Return all requests of the run."""
        return {(prompt.prompt_id, repeat) for prompt in self.prompts for repeat in range(repeats)}


def prepare(
    options: GenerateOptions, selection: Selection, say: Say, *, model: Model | None = None
) -> Prepared:
    """Return what `options` mean. Raises UsageError for bad ones; nothing is written or asked."""
    check(options)
    if model is None:
        design = selection.benchmark
        model = open_model(options.model, options.model_options, workers=options.workers, design=design)
    price = price_of(options, model)
    check_cap(options, model.name, price)
    components = None if options.components is None else load_components(options.components)
    prompts, fingerprint = prompts_of(options.arm, selection, components)
    identity = RunIdentity(model.name, model.settings, options.arm, selection, fingerprint)
    folder = options.run or RUNS / identity.directory_name
    if not options.fresh:
        adopt_rejections(model, folder)
        if options.run is None and not (folder / FILE).exists():
            adopt_relatives_rejections(model, identity)
        identity = replace(identity, settings=model.settings)
    for name, reason in _not_sent(model.settings):
        say(f"{name}: not sent ({reason})")
    if not has_comparisons(selection):
        say("note: no gap can be computed from this run alone: no slot of it has two identifiers")
    return Prepared(model, price, prompts, folder, planned_manifest(identity, options, prompts, model))


def check_model(options: GenerateOptions) -> None:
    """Raise UsageError for bad options and for a model that nothing knows; nothing is written or asked."""
    check(options)
    open_model(options.model, options.model_options, workers=options.workers)


def check_key(options: GenerateOptions, prepared: Prepared) -> None:
    """Raise UsageError if a new run lacks its key, before there is a directory for it."""
    is_new = options.fresh or not (prepared.folder / FILE).exists()
    if is_new and isinstance(prepared.model, Keyed):
        prepared.model.check_key()


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


def _dry_run(options: GenerateOptions, prepared: Prepared, say: Say) -> RunSummary:
    state = state_of(prepared.folder, prepared.planned, fresh=options.fresh)
    keys = prepared.keys(options.repeats)
    empty, done, failed = state.empty & keys, state.done & keys, state.failed & keys
    if options.run is None and not options.fresh:
        taken = to_take_over(prepared.folder, prepared.planned, keys - done, say)
        done, failed = done | taken, failed - taken
    counts = Counts(len(keys), len(done), len(failed))
    skip = settled(replace(state, done=done, failed=failed, empty=empty), options)
    say(plan_line(counts, len(keys - skip), prepared.folder) + "; dry run, nothing was asked")
    requests = shuffled_requests(prepared.prompts, options.repeats, skip)
    if prepared.price is not FREE:
        max_tokens = options.model_options.max_tokens
        for line in estimate_lines(requests, prepared.price, max_tokens, options.max_cost):
            say(line)
    return RunSummary(prepared.folder, counts, 0, 0.0, None, 0)


def price_of(options: GenerateOptions, model: Model, *, batch: bool = False) -> Price | None:
    """Return what tokens cost: what the user says, else the price that the model knows; None if unknown."""
    known = model.price if isinstance(model, Priced) else None
    if options.price_in is not None and options.price_out is not None:
        longest = known.max_output_tokens if known is not None else None
        source = "--price-in, --price-out"
        return Price(options.price_in, options.price_out, source, max_output_tokens=longest)
    if model.name.startswith(("sim/", "local/")):
        return FREE
    return known.batch() if batch and known is not None else known


def check_cap(options: GenerateOptions, name: str, price: Price | None) -> None:
    """Raise UsageError for a cap that nothing can be held against."""
    if options.max_cost is None or price is FREE:
        return
    if price is None:
        raise UsageError(
            f"--max-cost: the price of {name} is unknown; give --price-in and --price-out "
            "(USD per million tokens)"
        )
    if not (options.model_options.max_tokens or price.max_output_tokens):
        raise UsageError("--max-cost needs --max-tokens: without it an answer's worst case has no bound")


def _not_sent(settings: dict[str, JSON]) -> Iterable[tuple[str, JSON]]:
    not_sent = settings.get("not_sent")
    return not_sent.items() if isinstance(not_sent, dict) else ()


def _silent(_: str) -> None:
    pass
