"""Requests and answers of the Hub's stand-in, and what all its routes need."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from hub_store import RefusedError, Repo, User

if TYPE_CHECKING:
    from hub_server import HubServer

PREFIX = {"model": "", "dataset": "datasets/", "space": "spaces/"}
DATE = "2026-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def ranged(self, wanted: str | None) -> "Answer":
        """Return the part that a Range header asks for; 416 if it begins behind the end."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted or "")
        if self.status != 200 or not found:
            return self
        size = len(self.body)
        first, last = int(found[1]), min(int(found[2] or size - 1), size - 1)
        if first >= size:
            return Answer(b"", 416, {"Content-Range": f"bytes */{size}"})
        headers = {**self.headers, "Content-Range": f"bytes {first}-{last}/{size}"}
        return Answer(self.body[first : last + 1], 206, headers)


@dataclass(frozen=True)
class Call:
    """One request. `user` is None for an anonymous one."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes
    user: User | None

    def json(self) -> Any:
        return json.loads(self.body)

    def signed_in(self) -> User:
        if self.user is None:
            raise RefusedError(401, "Invalid username or password.")
        return self.user


Route = Callable[["HubServer", Call, re.Match[str]], Answer]
"""Serves one kind of request; the match is that of its path."""


def as_json(content: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(content).encode(), status, {"Content-Type": "application/json"})


def repo_of(hub: "HubServer", call: Call, found: re.Match[str], *, write: bool = False) -> Repo:
    """Return the repository that a path names, if the caller may see (or change) it."""
    kind = (found["kind"] or "models").rstrip("/").removesuffix("s")
    repo = hub.repos.get((kind, found["repo"]))
    if repo is None or (repo.private and not (call.user and repo.namespace in _namespaces(call.user))):
        raise RefusedError(404 if call.user else 401, "Repository not found", "RepoNotFound")
    if write and not call.signed_in().may_write(repo.namespace):
        raise RefusedError(403, "Forbidden: you must use a token with write access to this repository")
    return repo


def _namespaces(user: User) -> set[str]:
    return {user.name, *user.orgs}


def revision_of(found: re.Match[str]) -> str:
    return unquote(found["rev"] or "main")


def url_of(hub: "HubServer", repo: Repo) -> str:
    return f"{hub.url}/{PREFIX[repo.kind]}{repo.name}"
