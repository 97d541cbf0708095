"""Carries a plan out: one commit and one tag. What is done already is not done again."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import RupeeBiasError
from ..faults import hub_errors
from .plan import Plan, make_plan
from .remote import read_remote

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi


@dataclass(frozen=True, slots=True)
class Sent:
    """What was done with one repository."""

    plan: Plan
    commit: str | None
    """The commit that was made; None if nothing had changed."""
    tagged: bool
    """Whether the tag was set now."""


def send(api: "HfApi", plan: Plan, *, delete_others: bool = False) -> Sent:
    """Create the repository if need be, commit what differs on top of the planned head, set the tag.

    The commit is all or nothing. A failure before it leaves the repository as it was, and one after it is
    made good by the next run. Raises RupeeBiasError, also if somebody else pushed in between.
    """
    if plan.head is None:
        plan = _created(api, plan, delete_others=delete_others)
    commit = _commit(api, plan) if plan.pending else None
    tagged = plan.tag_at is None
    if tagged:
        _tag(api, plan, commit or str(plan.head))
    return Sent(plan, commit, tagged)


def _created(api: "HfApi", plan: Plan, *, delete_others: bool) -> Plan:
    """Create the repository and plan again: the Hub puts files of its own into a new one."""
    repo = plan.repo
    sdk = "static" if repo.kind == "space" else None
    with hub_errors(f"create {repo.kind} {repo.name}", api.token):
        # None: the organisation's own default holds
        api.create_repo(repo.name, repo_type=repo.kind, private=plan.private, space_sdk=sdk, exist_ok=True)
    remote = read_remote(api, repo)
    if remote is None:
        raise RupeeBiasError(f"{repo.kind} {repo.name} was created but cannot be read; run the command again")
    return make_plan(repo, remote, private=plan.private, delete_others=delete_others)


def _commit(api: "HfApi", plan: Plan) -> str:
    repo = plan.repo
    with hub_errors(f"commit to {repo.kind} {repo.name}", api.token):
        made = api.create_commit(
            repo.name,
            _operations(plan),
            commit_message=f"RupeeBias {'dataset' if repo.kind == 'dataset' else 'metric'} {repo.version}",
            repo_type=repo.kind,
            parent_commit=plan.head,
        )
    return str(made.oid)


def _operations(plan: Plan) -> list["CommitOperationAdd | CommitOperationDelete"]:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    here = plan.repo.files
    return [
        CommitOperationDelete(change.path)
        if change.state == "deleted"
        else CommitOperationAdd(change.path, here[change.path])
        for change in plan.pending
    ]


def _tag(api: "HfApi", plan: Plan, commit: str) -> None:
    repo = plan.repo
    with hub_errors(f"tag {repo.kind} {repo.name}", api.token):
        api.create_tag(repo.name, tag=repo.tag, revision=commit, repo_type=repo.kind)
