"""`rupeebias publish`: dataset and metric to the Hub, checked first, in one commit each."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..names import DATASET, repository
from .checks import check_staged
from .plan import Plan, make_plan
from .remote import read_remote
from .rights import require_rights
from .staging import Staged, StagedRepo, stage
from .upload import Sent, send

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Say = Callable[[str], object]
Prepare = Callable[[str, Path], Staged]


def publish(
    org: str,
    *,
    dry_run: bool = False,
    private: bool = False,
    prepare: Prepare | None = None,
    api: "HfApi | None" = None,
    say: Say = print,
) -> list[Sent]:
    """Publish dataset and metric for `org` and return what was done; a dry run sends nothing.

    `prepare` makes both folders inside a temporary one, by default `built_and_checked`. `api` is by default
    a client with the token of HF_TOKEN or `hf auth login`; a dry run needs none for public repositories.
    `say` hears what would be or was done, line by line. Raises RupeeBiasError (UsageError for a bad name)
    before anything is sent if rights are missing, a check fails or a published version would change.
    """
    repository(org, DATASET)
    api = api or hub_client()
    if not dry_run:
        require_rights(api, org)
    with tempfile.TemporaryDirectory(prefix="rupeebias-publish-") as folder:
        say(f"building and checking dataset and metric for {org}")
        staged = (prepare or built_and_checked)(org, Path(folder))
        plans = [_plan(api, repo, private=private) for repo in (staged.dataset, staged.metric)]
        for line in (line for plan in plans for line in plan_lines(plan)):
            say(line)
        return _show_dry_run(api, say) if dry_run else _send_all(api, plans, private=private, say=say)


def built_and_checked(org: str, folder: Path, *, eval_yaml: bool = True) -> Staged:
    """Build both folders for `org` and verify them; `eval_yaml=False` leaves that file out."""
    staged = stage(org, folder, eval_yaml=eval_yaml)
    check_staged(staged)
    return staged


def _show_dry_run(api: "HfApi", say: Say) -> list[Sent]:
    if not api.token:
        say("no token: a private repository looks as if it did not exist")
    say("dry run: nothing was sent")
    return []


def _send_all(api: "HfApi", plans: list[Plan], *, private: bool, say: Say) -> list[Sent]:
    sent = []
    for plan in plans:
        sent.append(send(api, plan, private=private))
        say(sent_line(sent[-1]))
    return sent


def hub_client() -> "HfApi":
    """Return a client with the token of HF_TOKEN or `hf auth login`, or with none."""
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    return HfApi(token=get_token() or False, library_name="rupeebias")


def _plan(api: "HfApi", repo: StagedRepo, *, private: bool) -> Plan:
    return make_plan(repo, read_remote(api, repo), private=private)


def plan_lines(plan: Plan) -> list[str]:
    """Return what a plan does, a line for the repository and one for each file that it touches."""
    repo, pending = plan.repo, plan.pending
    where = "to be created" if plan.head is None else f"at {plan.head[:7]}"
    unchanged = len(plan.changes) - len(pending)
    kept = f", {unchanged} files unchanged" if unchanged else ""
    tag = f"tag {repo.tag} to be set" if plan.tag_at is None else f"tag {repo.tag} at {plan.tag_at[:7]}"
    size = sum(change.size for change in pending if change.state != "deleted")
    head = f"{repo.kind} {repo.name} ({where}): {len(pending)} files to change, {size:,} bytes{kept}, {tag}"
    return [head, *(f"  {change.state:8} {change.size:>9,}  {change.path}" for change in pending)]


def sent_line(sent: Sent) -> str:
    """Return what was done with one repository."""
    repo = sent.plan.repo
    done = f"commit {sent.commit[:7]}" if sent.commit else "nothing had changed"
    if sent.tagged:
        return f"{repo.kind} {repo.name}: {done}, tagged {repo.tag}"
    texts = " (texts only: its numbers are the same)" if sent.commit else ""
    return f"{repo.kind} {repo.name}: {done}, tag {repo.tag} stays where it is{texts}"
