"""`rupeebias publish`: dataset and metric to the Hub, checked first, in one commit each."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...generate.stopping import terminable
from ..client import bound_requests, hub_client, require_clean
from ..faults import HubError
from ..names import DATASET, repository
from ..rights import require_rights
from .checks import check_staged
from .plan import Plan, make_plan
from .remote import read_remote
from .saying import (
    Say,
    plan_lines,
    sent_line,
    stopped_line,
    unbroken,
    unread_lines,
    visibility_lines,
    warn_on_stderr,
)
from .staging import Staged, stage
from .upload import Sent, send

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Prepare = Callable[[str, Path], Staged]


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
    say, sent = unbroken(say, warn), list[Sent]()
    with terminable(), tempfile.TemporaryDirectory(prefix="rupeebias-publish-") as folder:
        try:
            say(f"building and checking dataset and metric for {org}")
            staged = (prepare or built_and_checked)(org, Path(folder))
            with _told_unread(staged, say, dry_run=dry_run):
                plans = _plans(api, staged, private=private, delete_others=delete_others)
            _show(plans, say, private=private)
            if dry_run:
                _show_dry_run(api, say)
            else:
                _send_all(api, plans, sent, delete_others=delete_others, say=say)
        except KeyboardInterrupt:
            warn(stopped_line(sent))
            raise
    return sent


def built_and_checked(org: str, folder: Path, *, eval_yaml: bool = True) -> Staged:
    """Build both folders for `org` and verify them; `eval_yaml=False` leaves that file out."""
    staged = stage(org, folder, eval_yaml=eval_yaml)
    check_staged(staged)
    return staged


def _show(plans: list[Plan], say: Say, *, private: bool) -> None:
    for line in (line for plan in plans for line in plan_lines(plan)):
        say(line)
    for line in visibility_lines(plans, private=private):
        say(line)


@contextmanager
def _told_unread(staged: Staged, say: Say, *, dry_run: bool) -> Iterator[None]:
    """Let a dry run say what a publication holds where the Hub cannot be read, before that error goes on."""
    try:
        yield
    except HubError:
        if dry_run:
            for line in unread_lines((staged.dataset, staged.metric)):
                say(line)
        raise


def _show_dry_run(api: "HfApi", say: Say) -> None:
    if not api.token:
        say("no token: a private repository looks as if it did not exist")
    say("dry run: nothing was sent")


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


def _send_all(api: "HfApi", plans: list[Plan], sent: list[Sent], *, delete_others: bool, say: Say) -> None:
    for plan in plans:
        sent.append(send(api, plan, delete_others=delete_others))
        say(sent_line(sent[-1]))
