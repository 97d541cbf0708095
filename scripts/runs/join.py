"""Putting the shards of a run together, so that they can be resumed and scored as one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from .directory import OUTPUTS, locked, open_run
from .journal import Journal, Record, latest_valid, read_outputs
from .ledger import Spending, read_spending
from .manifest import Counts, Manifest, PromptSet, now, read_manifest, shortened, write_manifest
from .selection import expected_prompt_ids


def join_shards(folders: Sequence[Path], target: Path) -> Manifest:
    """Write a new run directory with all that the shards in `folders` have; they stay as they are.

    Raises UsageError if they are not all different shards of one run, if one of them is in use, or if
    `target` exists. A missing shard is no error: the joined run lacks its requests, and asks them when it
    is resumed without --shard.
    """
    if target.exists():
        raise UsageError(f"{target} exists; give a new directory")
    manifests = [read_manifest(folder) for folder in folders]
    _check_one_run(folders, manifests)
    records: list[Record] = []
    spent: list[Spending] = []
    for folder in folders:
        with locked(folder):
            replies = latest_valid(read_outputs(folder / OUTPUTS)).values()
            known = [cost for record in replies if (cost := record.get("cost_usd")) is not None]
            spent.append(read_spending(folder, Spending(sum(known))))
            records += replies
    first = _without_shard(manifests[0])
    prompts = PromptSet.of(expected_prompt_ids(first.identity.selection))
    whole = replace(
        first,
        counts=Counts(prompts.count * first.repeats, 0, 0),
        prompts=prompts,
        created_at=min(manifest.created_at for manifest in manifests),
        updated_at=now(),
        elapsed_s=sum(manifest.elapsed_s for manifest in manifests),
    )
    with open_run(target, whole) as opened:
        for record in records:
            opened.journal.append(record)
        for folder, spending in zip(folders, spent, strict=True):
            opened.ledger.add(folder.name, spending)
        joined = with_totals(whole, opened.journal)
        write_manifest(target, joined)
    return joined


def _check_one_run(folders: Sequence[Path], manifests: Sequence[Manifest]) -> None:
    shards = [manifest.identity.selection.shard for manifest in manifests]
    for folder, shard in zip(folders, shards, strict=True):
        if shard is None:
            raise UsageError(f"{folder} is a whole run, no shard: it was not made with --shard")
        if shards.count(shard) > 1:
            raise UsageError(f"--shard {shard[0]}/{shard[1]} is given twice, also as {folder}")
    first = _without_shard(manifests[0])
    for folder, manifest, shard in zip(folders, manifests, shards, strict=True):
        differences = first.identity.differences(_without_shard(manifest).identity)
        if shard is not None and shards[0] is not None and shard[1] != shards[0][1]:
            differences.append(f"number of shards: {shards[0][1]} -> {shard[1]}")
        if manifest.repeats != first.repeats:
            differences.append(f"repeats: {first.repeats} -> {manifest.repeats}")
        if manifest.identity.selection.controls != first.identity.selection.controls:
            differences.append("controls: one has them, the other not")
        if differences:
            raise UsageError(
                f"{folder} is no shard of the same run as {folders[0]}: {shortened(differences)}"
            )
        if manifest.prompt_ids() is None:
            raise UsageError(
                f"{folder} was begun by a version whose selection meant other prompts: join with that version"
            )


def _without_shard(manifest: Manifest) -> Manifest:
    selection = replace(manifest.identity.selection, shard=None)
    return replace(manifest, identity=replace(manifest.identity, selection=selection))


def with_totals(manifest: Manifest, journal: Journal) -> Manifest:
    """Return the manifest of a run that was not asked here, with the counts and costs of its journal."""
    is_known = len(journal.done) > journal.unknown_costs
    return replace(
        manifest,
        counts=replace(manifest.counts, done=len(journal.done), failed=len(journal.failed)),
        cost_usd=round(journal.cost_usd, 6) if is_known else None,
        unknown_costs=journal.unknown_costs,
        response_models=dict(journal.response_models),
    )
