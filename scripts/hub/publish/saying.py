"""Lines for the user: of a plan and of what was done, on an output that may be closed meanwhile."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator

from .plan import Plan
from .staging import StagedRepo
from .upload import Sent

Say = Callable[[str], object]


def unbroken(say: Say, warn: Say) -> Say:
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


def warn_on_stderr(line: str) -> None:
    """Write a line to stderr, if it can be written."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        return


def _drop_output() -> None:
    """Lead stdout to nowhere, so that what is left in its buffer does not fail at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def plan_lines(plan: Plan) -> list[str]:
    """Return what a plan does, a line for the repository and one for each file that it touches."""
    repo, pending = plan.repo, plan.pending
    where = "to be created" if plan.head is None else f"at {plan.head[:7]}"
    unchanged = sum(change.state == "unchanged" for change in plan.changes)
    kept = f", {unchanged} files unchanged" if unchanged else ""
    tag = f"tag {repo.tag} to be set" if plan.tag_at is None else f"tag {repo.tag} at {plan.tag_at[:7]}"
    size = sum(change.size for change in pending if change.state != "deleted")
    head = (
        f"{repo.kind} {repo.name} ({visibility(plan)}, {where}): {len(pending)} files to change, "
        f"{size:,} bytes{kept}, {tag}"
    )
    files = [f"  {change.state:8} {change.size:>9,}  {change.path}" for change in pending]
    return [head, *files, *_foreign_lines(plan.foreign)]


def unread_lines(repos: Iterable[StagedRepo]) -> Iterator[str]:
    """Yield what a publication holds, where nothing is known of the repositories."""
    yield "the Hub could not be read: of these files those would be sent that it lacks or has otherwise"
    for repo in repos:
        sizes = {path: file.stat().st_size for path, file in repo.files.items()}
        total = sum(sizes.values())
        yield f"{repo.kind} {repo.name} (state unknown): {len(sizes)} files, {total:,} bytes, tag {repo.tag}"
        yield from (f"  {'unknown':8} {size:>9,}  {path}" for path, size in sizes.items())
    yield "dry run: nothing was sent, and nothing was compared with the Hub"


def _foreign_lines(paths: list[str]) -> list[str]:
    if not paths:
        return []
    more = ", ..." if len(paths) > 5 else ""
    names = ", ".join(paths[:5])
    return [f"  left alone: {len(paths)} files not of ours ({names}{more}); --delete-others deletes them"]


def visibility(plan: Plan) -> str:
    """Return `public`, `private`, or what is known of a repository that its owner's default decides."""
    if plan.private is None:
        return "public unless the owner's default is private"
    return "private" if plan.private else "public"


def visibility_lines(plans: list[Plan], *, private: bool) -> list[str]:
    """Return what should be known of who can see the repositories: both kinds at once, or kept private."""
    if len({plan.private for plan in plans}) > 1:
        names = " but ".join(f"{plan.repo.kind} {plan.repo.name} is {visibility(plan)}" for plan in plans)
        return [f"WARNING: {names}; make them alike in their settings"]
    if plans[0].private and not private:
        return ["private repositories stay private; make them public in their settings"]
    return []


def sent_line(sent: Sent) -> str:
    """Return what was done with one repository."""
    plan, repo = sent.plan, sent.plan.repo
    done = f"commit {sent.commit[:7]}" if sent.commit else "nothing had changed"
    head = f"{repo.kind} {repo.name} ({visibility(plan)}): {done}"
    if sent.tagged:
        return f"{head}, tagged {repo.tag}"
    note = f" ({_what_changed(plan)})" if sent.commit else ""
    return f"{head}, tag {repo.tag} stays where it is{note}"


def _what_changed(plan: Plan) -> str:
    if not plan.restored:
        return "texts only: its numbers are the same"
    more = ", ..." if len(plan.restored) > 3 else ""
    return f"numbers were restored to those of the tag: {', '.join(plan.restored[:3])}{more}"


def stopped_line(sent: list[Sent]) -> str:
    """Return what an interrupted publication has done."""
    done = "; ".join(sent_line(each) for each in sent) or "nothing was finished"
    return f"interrupted: {done}. Run the command again: it goes on where it stopped"
