"""What a run will ask: its prompts, their order, the manifest that says so, and what they may cost."""

import platform
import random
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rupeebias.dataset_builder.prompts import Prompt

from ..errors import RupeeBiasError
from ..models.prices import RULE, Estimate, Price, estimate
from ..models.types import JSON, Model, Request
from ..runs.directory import RunState, check_same_run, run_state
from ..runs.journal import Key
from ..runs.manifest import Counts, Manifest, PromptSet, RunIdentity, now
from ..runs.selection import Selection, expected_prompt_ids
from .options import GenerateOptions

if TYPE_CHECKING:
    from rupeebias.dataset_builder.records import Components

_CONNECTIONS = 64
_OWN_SERVER_CONNECTIONS = 16
_ORDER_SEED = 20260101


def prompts_of(
    arm: str, selection: Selection, components: "Components | None" = None
) -> tuple[list[Prompt], str]:
    """Return the prompts of a run, controls last, and the fingerprint of the dataset that they belong to.

    `components` are those to render, None: the package's own. Raises RupeeBiasError if they are not those of
    the selection's benchmark: then selection and scoring would speak of other prompts.
    """
    from rupeebias.dataset_builder.columns import control_fingerprint, dataset_fingerprint
    from rupeebias.dataset_builder.components import load_components
    from rupeebias.dataset_builder.prompts import iter_control_prompts, iter_prompts, with_fairness

    design, fingerprint = selection.benchmark, dataset_fingerprint(components)
    is_same = fingerprint == design.fingerprint
    if selection.controls != "none" and design.controls is not None:
        is_same = is_same and control_fingerprint(components) == design.controls.fingerprint
    components = components or load_components()
    expected = expected_prompt_ids(selection)
    wanted = set(expected)
    prompts = [*iter_prompts(components, wanted), *iter_control_prompts(components, wanted)]
    if not is_same or [prompt.prompt_id for prompt in prompts] != expected:
        raise RupeeBiasError(
            f"these components are not those of the design of {design.label}: after a change of RupeeBias's "
            "run `python -m rupeebias.dataset_builder.metric_design` in the checkout"
        )
    if arm == "fairness":
        prompts = [
            replace(prompt, system_prompt=with_fairness(prompt.system_prompt, components))
            for prompt in prompts
        ]
    return prompts, fingerprint


def shuffled_requests(prompts: Sequence[Prompt], repeats: int, skip: AbstractSet[Key]) -> Iterator[Request]:
    """Yield a request per prompt and repeat that is not in `skip`, in one fixed shuffled order.

    Whole slots are shuffled, and the identifiers within each: a run that ends early has complete matched
    sets, whose members were asked close in time, and an outage or a silent change of the model lines up with
    no group of people.
    """
    slots: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        slots.setdefault(prompt.slot_id, []).append(prompt)
    names = list(slots)
    order = list(range(len(names) * repeats))
    chance = random.Random(_ORDER_SEED)  # noqa: S311 - an order, not a secret
    chance.shuffle(order)
    for index in order:
        members, repeat = list(slots[names[index // repeats]]), index % repeats
        chance.shuffle(members)
        for prompt in members:
            if (prompt.prompt_id, repeat) not in skip:
                yield Request(prompt.prompt_id, repeat, prompt.system_prompt, prompt.prompt, prompt.use_case)


def by_system_prompt(requests: Iterable[Request]) -> Iterator[Request]:
    """Yield the requests grouped by system prompt, otherwise in their order.

    A server on this machine keeps what it made of a common beginning, so alike ones in a row take far less
    time. The use cases that share a system prompt come one after the other; groups of people do not.
    """
    return iter(sorted(requests, key=lambda request: request.system_prompt))


class _State(Protocol):
    @property
    def done(self) -> AbstractSet[Key]: ...
    @property
    def failed(self) -> AbstractSet[Key]: ...
    @property
    def empty(self) -> AbstractSet[Key]: ...


def settled(state: _State, options: GenerateOptions) -> AbstractSet[Key]:
    """Return the keys that a session leaves alone."""
    if options.retry_errors is None:
        return state.done | state.failed
    return state.done - state.empty if options.retry_errors == "empty" else set(state.done)


def connections(options: GenerateOptions, model: Model) -> int:
    """Return the calls at once that a session may make.

    A provider says 429 when it is too many; a server of the user's own has a queue that only grows,
    until calls time out, so it gets fewer.
    """
    usual = _OWN_SERVER_CONNECTIONS if options.model_options.base_url else _CONNECTIONS
    return options.max_connections or model.max_connections or usual * options.workers


def planned_manifest(
    identity: RunIdentity, options: GenerateOptions, prompts: Sequence[Prompt], model: Model
) -> Manifest:
    """Return the manifest of a run that has not begun."""
    return Manifest(
        identity=identity,
        repeats=options.repeats,
        counts=Counts(len(prompts) * options.repeats, 0, 0),
        created_at=now(),
        updated_at=now(),
        versions=_versions(model),
        options=_throughput(options, model),
        prompts=PromptSet.of(prompt.prompt_id for prompt in prompts),
        fresh=options.fresh,
    )


def _throughput(options: GenerateOptions, model: Model) -> dict[str, JSON]:
    run_options = options.run_options
    return {
        "max_connections": connections(options, model),
        "workers": options.workers,
        "max_retries": run_options.retries.max_retries,
        "timeout_s": run_options.timeout_s,
        "attempt_timeout_s": run_options.attempt_timeout_s,
        "max_requests_per_minute": run_options.bounds.requests_per_minute,
        "max_tokens_per_minute": run_options.bounds.tokens_per_minute,
        "max_cost_usd": options.max_cost,
    }


def _versions(model: Model) -> dict[str, str]:
    from .. import __version__

    versions = {"rupeebias": __version__, "python": platform.python_version()}
    if not model.name.startswith("sim/"):
        versions["litellm"] = metadata.version("litellm")
    return versions


def state_of(folder: Path, planned: Manifest, *, fresh: bool) -> RunState:
    """Return what the run in `folder` has already, nothing if there is no run or it would be moved aside."""
    resumes = not fresh and check_same_run(folder, planned) is not None
    return run_state(folder) if resumes else RunState(frozenset(), frozenset())


def estimate_lines(
    requests: Iterable[Request], price: Price | None, max_tokens: int | None, max_cost: float | None
) -> list[str]:
    """Return the lines about tokens and cost of what is still to be asked."""
    tokens = estimate(requests, max_tokens)
    lines = [
        f"about {_span(tokens.input_low, tokens.input_high)} tokens in ({RULE}), "
        f"{_span(tokens.output_low, tokens.output_high)} out ({_answers(tokens, max_tokens)})"
    ]
    if price is None:
        return [*lines, "cost: unknown; give --price-in and --price-out"]
    lines.append(_cost_line("cost", tokens, price))
    batch = price.batch()
    if batch is not None:
        lines.append(_cost_line("cost with --batch", tokens, batch))
    if max_cost is not None and tokens.cost_usd(price)[0] > max_cost:
        lines.append(f"--max-cost {max_cost:g} USD will stop the run before its end")
    return lines


def plan_line(counts: Counts, pending: int, folder: Path) -> str:
    """Return what is done and what is to do, in one line."""
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    return f"{counts.requests:,} requests: {counts.done:,} done{failed}, {pending:,} to do; {folder}"


def _cost_line(name: str, tokens: Estimate, price: Price) -> str:
    low, high = tokens.cost_usd(price)
    per_million = f"{price.input:g} USD in and {price.output:g} USD out per million tokens"
    return f"{name}: {low:,.2f} to {high:,.2f} USD ({per_million}: {price.source})"


def _span(low: int, high: int) -> str:
    return f"{low:,} to {high:,}"


def _answers(tokens: Estimate, max_tokens: int | None) -> str:
    if tokens.is_bounded:
        return f"at most {max_tokens:,} an answer"
    return "8 to 1,000 an answer; --max-tokens sets a bound"
