"""Routes of the Hub's stand-in for discussions and pull requests."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hub_http import DATE, Answer, Call, as_json, repo_of, url_of
from hub_store import Discussion, RefusedError, Repo

if TYPE_CHECKING:
    from hub_server import HubServer


def discussions(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    every = [each for each in reversed(repo.discussions.values()) if _is_wanted(each, call.query)]
    listed = [_discussion(repo, each) for each in every]
    return as_json({"discussions": listed, "count": len(listed), "start": 0, "numClosedDiscussions": 0})


def _is_wanted(each: Discussion, query: Mapping[str, str]) -> bool:
    kind = {"pull_request": True, "discussion": False}.get(query.get("type", ""), each.is_pull_request)
    status = query.get("status", "all")
    is_open = each.status in ("open", "draft")
    return (
        kind == each.is_pull_request
        and status in ("all", "open" if is_open else "closed")
        and query.get("author", each.author) == each.author
    )


def _discussion(repo: Repo, each: Discussion) -> dict[str, Any]:
    return {
        "num": each.num,
        "title": each.title,
        "author": {"name": each.author},
        "status": each.status,
        "isPullRequest": each.is_pull_request,
        "createdAt": DATE,
        "repo": {"name": repo.name, "type": repo.kind},
    }


def details(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    each = _numbered(repo, found)
    said = [(each.author, each.description), *each.comments]
    events = [_comment(at, author, text) for at, (author, text) in enumerate(said)]
    changes = {"base": "refs/heads/main"}
    extra = {"events": events, "changes": changes, "filesWithConflicts": [], "diff": ""}
    return as_json(_discussion(repo, each) | extra)


def _comment(at: int, author: str, text: str) -> dict[str, Any]:
    data = {"edited": False, "hidden": False, "latest": {"raw": text, "html": text}}
    return {"id": str(at), "type": "comment", "createdAt": DATE, "author": {"name": author}, "data": data}


def open_one(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user, wanted = repo_of(hub, call, found), call.signed_in(), call.json()
    pull = bool(wanted.get("pullRequest"))
    opened = repo.open_discussion(wanted["title"], wanted.get("description") or "", user.name, pull=pull)
    if pull:
        opened.status = "draft"
    return as_json({"num": opened.num, "url": f"{url_of(hub, repo)}/discussions/{opened.num}"})


def change(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user = repo_of(hub, call, found), call.signed_in()
    each, wanted = _numbered(repo, found), call.json() if call.body else {}
    if found["what"] == "comment":
        each.comments.append((user.name, wanted["comment"]))
        return as_json({"newMessage": _comment(len(each.comments), user.name, wanted["comment"])})
    repo_of(hub, call, found, write=found["what"] == "merge" or user.name != each.author)
    if found["what"] == "merge":
        repo.merge(each.num, user.name)
        return as_json({})
    each.status = wanted["status"]
    data = {"status": each.status}
    event = {
        "id": "0",
        "type": "status-change",
        "createdAt": DATE,
        "author": {"name": user.name},
        "data": data,
    }
    return as_json({"newStatus": event})


def _numbered(repo: Repo, found: re.Match[str]) -> Discussion:
    if int(found["num"]) not in repo.discussions:
        raise RefusedError(404, "Discussion not found")
    return repo.discussions[int(found["num"])]
