"""From options, or from a run directory alone, to a run whose batches can be worked on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Final

from ..errors import UsageError
from ..generate.api import Prepared, check_cap, prepare, price_of
from ..generate.options import GenerateOptions, check
from ..generate.plan import prompts_of
from ..generate.session import Say
from ..models import open_model
from ..models.prices import Price, worst_case_usd
from ..models.types import JSON, Model, ModelOptions, Request
from ..runs.batches import BatchRecord, keys_by_hash, read_batches
from ..runs.directory import OpenRun, open_run
from ..runs.journal import Key
from ..runs.manifest import Manifest, read_manifest
from ..runs.selection import Selection, expected_prompt_ids
from .collecting import Collector
from .engine import Budget, Engine
from .lines import check_settings
from .options import BatchOptions
from .types import BatchClient

PROVIDERS: Final = ("openai", "anthropic")
_LONG_PROMPT_TOKENS: Final = 2_000
"""More than any prompt has, for replies that do not tell their tokens."""


@dataclass(frozen=True, slots=True)
class Work:
    """A run that this process holds, and what works on its batches."""

    options: GenerateOptions
    """What the command was told, or what the manifest says in its place."""
    prepared: Prepared
    """Model, prompts and folder."""
    opened: OpenRun
    """The run directory."""
    keys: frozenset[Key]
    """All requests of the run."""
    batches: BatchRecord
    """Its batches."""
    batch: BatchOptions
    """Options of the batches."""
    say: Say
    """Tells the user."""

    def engine(self, client: BatchClient) -> Engine:
        """Return what moves the batches along through `client`."""
        price = price_of(self.options, self.prepared.model, batch=True)
        longest = self.options.model_options.max_tokens or (price.max_output_tokens if price else None)
        collector = Collector(
            self.opened.journal,
            self.opened.ledger,
            keys_by_hash(self.keys),
            price,
            unknown_usd=price.cost(_LONG_PROMPT_TOKENS, longest) if price and longest else None,
            max_tries=self.batch.max_tries,
        )
        budget = _budget(self.options, price)
        rules = self.options.run_options.retries
        return Engine(self.batches, client, collector, self.say, rules=rules, budget=budget)


def prepare_batch(options: GenerateOptions, selection: Selection, say: Say) -> Prepared:
    """Return what `options` mean. Raises UsageError for bad ones, and for a model without batches."""
    if options.workers > 1:
        raise UsageError("--workers has no use with --batch: the provider does the work")
    prepared = prepare(options, selection, say)
    check_provider(prepared.model.name, prepared.model.settings)
    check_settings(_litellm(), prepared.model.settings)
    _check_batch_cap(options, prepared.model)
    return prepared


def prepared_from(
    folder: Path, options: GenerateOptions | None = None, *, asks: bool = False
) -> tuple[GenerateOptions, Prepared]:
    """Return the options and the plan of the run in `folder`, from its manifest.

    `options` tells what a manifest does not: `retry_errors`, prices and the cap. Only if the command `asks`
    anything does the plan hold the prompts. Raises UsageError if there is no run, if its model has no
    batches, or if it asks and the dataset has changed since.
    """
    manifest = read_manifest(folder)
    run = manifest.identity
    if manifest.prompt_ids() is None:
        version = manifest.versions.get("rupeebias", "another version")
        raise UsageError(
            f"{folder} was begun by rupeebias {version}, for which its selection meant other prompts; "
            "use that version"
        )
    check_provider(run.model, run.settings)
    options = replace(
        options or GenerateOptions(),
        model=run.model,
        model_options=_model_options(run.settings),
        arm=run.arm,
        repeats=manifest.repeats,
        run=folder,
    )
    check(options)
    prompts, fingerprint = prompts_of(run.arm, run.selection) if asks else ([], run.dataset_fingerprint)
    if fingerprint != run.dataset_fingerprint:
        raise UsageError(f"{folder} is a run on another version of the dataset; use the version that made it")
    model = open_model(run.model, options.model_options)
    _check_batch_cap(options, model)
    return options, Prepared(model, price_of(options, model), prompts, folder, manifest)


@contextmanager
def open_work(options: GenerateOptions, prepared: Prepared, batch: BatchOptions, say: Say) -> Iterator[Work]:
    """Hold the run directory until the context ends; see `open_run` for errors."""
    if options.fresh:
        _check_nothing_under_way(prepared.folder)
    with open_run(prepared.folder, prepared.planned, fresh=options.fresh) as opened:
        batches = read_batches(opened.folder) or BatchRecord(opened.folder)
        if batch.tokens is not None:
            batches.token_limit = batch.tokens
        yield Work(options, prepared, opened, keys_of(opened.manifest), batches, batch, say)


def _check_nothing_under_way(folder: Path) -> None:
    """Raise UsageError if starting afresh would forget batches that are being paid for."""
    batches = read_batches(folder)
    count = len(batches.open_entries) if batches is not None else 0
    if count:
        raise UsageError(
            f"--fresh: {count} batches of {folder} are under way; first run "
            f"`rupeebias batch cancel {folder}` and `rupeebias batch collect {folder}`"
        )


def keys_of(manifest: Manifest) -> frozenset[Key]:
    """Return all requests of a run."""
    ids = expected_prompt_ids(manifest.identity.selection)
    return frozenset((prompt_id, repeat) for prompt_id in ids for repeat in range(manifest.repeats))


def client_of(manifest: Manifest) -> BatchClient:
    """Return the batch interface for a run. Raises UsageError without a key."""
    return open_client(_litellm(), manifest.identity.model, manifest.identity.settings)


def _litellm() -> ModuleType:
    """Return LiteLLM, which was set up when the run's model was made."""
    import litellm

    module: ModuleType = litellm
    return module


def _check_batch_cap(options: GenerateOptions, model: Model) -> None:
    check_cap(options, f"{model.name} in batches", price_of(options, model, batch=True))


def _model_options(settings: dict[str, JSON]) -> ModelOptions:
    """Return options under which a model sends what `settings` say."""
    known = ("base_url", "extras", "temperature", "max_tokens", "seed", "reasoning_effort")
    sent = {name: settings.get(name) for name in known}
    sent["max_tokens"] = sent["max_tokens"] or settings.get("max_completion_tokens")
    return ModelOptions(**{**sent, "extras": sent["extras"] or {}})  # type: ignore[arg-type]


def _budget(options: GenerateOptions, price: Price | None) -> Budget:
    if options.max_cost is None or price is None:
        return Budget()
    longest = options.model_options.max_tokens or price.max_output_tokens or 0

    def worst_usd(request: Request) -> float:
        return worst_case_usd(request, price, longest)

    return Budget(options.max_cost, worst_usd)


def check_provider(model: str, settings: Mapping[str, JSON]) -> str:
    """Return the provider of a model. Raises UsageError if it has no batch interface that is known here."""
    provider = settings.get("provider")
    if provider in PROVIDERS:
        return str(provider)
    raise UsageError(
        f"--batch does not work with {model}: it knows openai/... (with --base-url any server of that "
        "interface) and anthropic/...; run without --batch"
    )


def open_client(litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> BatchClient:
    """Return the batch interface for a model. Raises UsageError if there is none, or no key for it."""
    from .anthropic_client import AnthropicClient
    from .openai_client import OpenAIClient

    makers: dict[str, Callable[[ModuleType, str, Mapping[str, JSON]], BatchClient]] = {
        "openai": OpenAIClient,
        "anthropic": AnthropicClient,
    }
    return makers[check_provider(model, settings)](litellm, model, settings)
