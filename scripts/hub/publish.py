"""`rupeebias publish`: dataset and metric to the Hub, checked first, in one commit each."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import HubError
from ..generate.stopping import terminable
from ..words import counted, listed
from .client import DATASET, bound_requests, hub_client, repository, require_clean, require_rights
from .publication import Staged, check_staged, stage
from .repository import LocalRepo, Plan, Sent, make_plan, read_remote, send

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Prepare = Callable[[str, Path], Staged]
Say = Callable[[str], object]


def warn_on_stderr(line: str) -> None:
    """Write a line to stderr, if it can be written."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        return


def publish(
    org: str,
    *,
    dry_run: bool = False,
    private: bool = False,
    delete_others: bool = False,
    prepare: Prepare | None = None,
    api: "HfApi | None" = None,
    say: Say = print,
    warn: Say = warn_on_stderr,
) -> list[Sent]:
    """Publish dataset and metric for `org` and return what was done; a dry run sends nothing.

    `prepare` makes both folders inside a temporary one, by default `built_and_checked`. `api` is by default
    a client with the token of HF_TOKEN or `hf auth login`; a dry run needs none for public repositories.
    `say` hears what would be or was done, line by line, and `warn` of an interruption and if `say` fails.
    Files in the repositories that no publication wrote stay unless `delete_others`. Raises RupeeBiasError
    (UsageError for a bad name) before anything is sent if rights are missing, a check fails, a published
    version would change or the Hub cannot be read; in the last case a dry run has said what is known here.
    """
    repository(org, DATASET)
    api = api or hub_client()
    require_clean(api.token)
    bound_requests()
    if not dry_run:
        require_rights(api, org)
    say, sent = _unbroken(say, warn), list[Sent]()
    with terminable(), tempfile.TemporaryDirectory(prefix="rupeebias-publish-") as folder:
        try:
            say(f"building and checking dataset and metric for {org}")
            staged = (prepare or built_and_checked)(org, Path(folder))
            with _told_unread(staged, say, dry_run=dry_run):
                plans = _plans(api, staged, private=private, delete_others=delete_others)
            for line in _plan_lines(plans, private=private):
                say(line)
            if dry_run and not api.token:
                say("no token: a private repository looks as if it did not exist")
            if dry_run:
                say("dry run: nothing was sent")
            for plan in [] if dry_run else plans:
                sent.append(send(api, plan, delete_others=delete_others))
                say(_sent_line(sent[-1]))
        except KeyboardInterrupt:
            done = "; ".join(map(_sent_line, sent)) or "nothing was finished"
            warn(f"interrupted: {done}. Run the command again: it goes on where it stopped")
            raise
    return sent


def built_and_checked(org: str, folder: Path, *, eval_yaml: bool = True) -> Staged:
    """Build both folders for `org` and verify them; `eval_yaml=False` leaves that file out."""
    staged = stage(org, folder, eval_yaml=eval_yaml)
    check_staged(staged)
    return staged


def _plans(api: "HfApi", staged: Staged, *, private: bool, delete_others: bool) -> list[Plan]:
    """Compare both; a repository that is to be made becomes as visible as the one that is there."""
    repos = (staged.dataset, staged.metric)
    remotes = [read_remote(api, repo) for repo in repos]
    seen = [remote.private for remote in remotes if remote is not None]
    wanted = private or (seen[0] if seen else None)
    return [
        make_plan(repo, remote, private=private if remote else wanted, delete_others=delete_others)
        for repo, remote in zip(repos, remotes, strict=True)
    ]


# --- what is said, on an output that may be closed meanwhile


def _unbroken(say: Say, warn: Say) -> Say:
    """Return a `say` that fails once at most: a closed or full output must not stop a publication half-way.

    `warn` is told of it once; later lines are dropped.
    """
    is_broken = False

    def go_on(line: str) -> None:
        nonlocal is_broken
        if is_broken:
            return
        try:
            say(line)
        except OSError:
            is_broken = True
            _drop_output()
            warn("the output is closed or full: publishing goes on without it")

    return go_on


def _drop_output() -> None:
    """Lead stdout to nowhere, so that what is left in its buffer does not fail at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


@contextmanager
def _told_unread(staged: Staged, say: Say, *, dry_run: bool) -> Iterator[None]:
    """Let a dry run say what a publication holds where the Hub cannot be read, before that error goes on."""
    try:
        yield
    except HubError:
        for line in _unread_lines((staged.dataset, staged.metric)) if dry_run else ():
            say(line)
        raise


def _unread_lines(repos: Iterable[LocalRepo]) -> Iterator[str]:
    yield "the Hub could not be read: of these files those would be sent that it lacks or has otherwise"
    for repo in repos:
        sizes = {path: file.stat().st_size for path, file in repo.files.items()}
        yield (
            f"{repo.target} (state unknown): {counted(len(sizes), 'file')}, {sum(sizes.values()):,} bytes, "
            f"tag {repo.tag}"
        )
        yield from (f"  {'unknown':8} {size:>9,}  {path}" for path, size in sizes.items())
    yield "dry run: nothing was sent, and nothing was compared with the Hub"


def _plan_lines(plans: list[Plan], *, private: bool) -> Iterator[str]:
    """Yield what the plans do, and who can see the repositories: both kinds at once, or kept private."""
    for plan in plans:
        yield from plan_lines(plan)
    if len({plan.private for plan in plans}) > 1:
        names = " but ".join(f"{plan.repo.target} is {_visibility(plan)}" for plan in plans)
        yield f"WARNING: {names}; make them alike in their settings"
    elif plans[0].private and not private:
        yield "private repositories stay private; make them public in their settings"


def plan_lines(plan: Plan) -> Iterator[str]:
    """Yield what a plan does, a line for the repository and one for each file that it touches."""
    repo, pending = plan.repo, plan.pending
    where = "to be created" if plan.head is None else f"at {plan.head[:7]}"
    unchanged = sum(change.state == "unchanged" for change in plan.changes)
    kept = f", {unchanged} files unchanged" if unchanged else ""
    size = sum(change.size for change in pending if change.state != "deleted")
    tag = f"tag {repo.tag} to be set" if plan.tag_at is None else f"tag {repo.tag} at {plan.tag_at[:7]}"
    yield (
        f"{repo.target} ({_visibility(plan)}, {where}): {len(pending)} files to change, "
        f"{size:,} bytes{kept}, {tag}"
    )
    yield from (f"  {change.state:8} {change.size:>9,}  {change.path}" for change in pending)
    if plan.foreign:
        names = ", ".join(plan.foreign[:5]) + (", ..." if len(plan.foreign) > 5 else "")
        yield (f"  left alone: {len(plan.foreign)} files not of ours ({names}); --delete-others deletes them")


def _visibility(plan: Plan) -> str:
    """Return `public`, `private`, or what is known of a repository that its owner's default decides."""
    if plan.private is None:
        return "public unless the owner's default is private"
    return "private" if plan.private else "public"


def _sent_line(sent: Sent) -> str:
    plan, repo = sent.plan, sent.plan.repo
    done = f"commit {sent.commit[:7]}" if sent.commit else "nothing had changed"
    head = f"{repo.target} ({_visibility(plan)}): {done}"
    if sent.tagged:
        return f"{head}, tagged {repo.tag}"
    what = "texts only: its numbers are the same"
    if plan.restored:
        what = f"numbers were restored to those of the tag: {listed(plan.restored, between=', ')}"
    note = f" ({what})" if sent.commit else ""
    return f"{head}, tag {repo.tag} stays where it is{note}"
