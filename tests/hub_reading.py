"""Routes of the Hub's stand-in that create, describe and read repositories."""

import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import hub_rules
from hub_http import DATE, Answer, Call, as_json, repo_of, revision_of, url_of
from hub_store import Blob, Commit, RefusedError

if TYPE_CHECKING:
    from hub_server import HubServer

# --- accounts and repositories


def whoami(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    user = call.signed_in()
    orgs = [{"name": name, "roleInOrg": role, "type": "org"} for name, role in user.orgs.items()]
    token = {"type": "access_token", "accessToken": {"displayName": "test", "role": user.role}}
    return as_json({"type": "user", "name": user.name, "orgs": orgs, "auth": token})


def create(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    user, wanted = call.signed_in(), call.json()
    namespace = wanted.get("organization") or user.name
    if not user.may_write(namespace):
        raise RefusedError(
            403, f"You don't have the rights to create a repo under the namespace {namespace!r}"
        )
    kind, name = wanted.get("type", "model"), f"{namespace}/{wanted['name']}"
    if kind == "space" and wanted.get("sdk") != "static":
        raise RefusedError(402, "A paid plan is required")
    made = (kind, name) not in hub.repos
    private = wanted.get("private", False) or wanted.get("visibility") == "private"
    repo = hub.create(kind, name, private=private, author=user.name) if made else hub.repos[kind, name]
    content = {"url": url_of(hub, repo), "name": name}
    return as_json(
        content if made else {**content, "error": "You already created this repo"}, 200 if made else 409
    )


def info(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    commit = repo.at(revision_of(found))
    card = hub_rules.front_matter(commit.files["README.md"].data) if "README.md" in commit.files else {}
    siblings = [
        {"rfilename": path} | (_blob_info(blob) if "blobs" in call.query else {})
        for path, blob in sorted(commit.files.items())
    ]
    content = {
        "_id": "0",
        "id": repo.name,
        "author": repo.namespace,
        "sha": commit.sha,
        "lastModified": DATE,
        "createdAt": DATE,
        "private": repo.private,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": card.get("tags", []),
        "cardData": card,
        "siblings": siblings,
    }
    return as_json(content | ({"sdk": card.get("sdk", "static")} if repo.kind == "space" else {}))


def _blob_info(blob: Blob) -> dict[str, Any]:
    lfs = {"size": len(blob.data), "sha256": blob.sha256, "pointerSize": len(blob.pointer)}
    return {"size": len(blob.data), "blobId": blob.git_sha1} | ({"lfs": lfs} if blob.lfs else {})


def refs(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    pulls = {name: sha for name, sha in repo.refs.items() if name.startswith("refs/pr/")}
    branches = {name: sha for name, sha in repo.refs.items() if name not in pulls}
    content = {
        "branches": [_ref(name, f"refs/heads/{name}", sha) for name, sha in branches.items()],
        "tags": [_ref(name, f"refs/tags/{name}", sha) for name, sha in repo.tags.items()],
        "converts": [],
    }
    if "include_prs" in call.query:
        content["pullRequests"] = [_ref(name.split("/")[-1], name, sha) for name, sha in pulls.items()]
    return as_json(content)


def _ref(name: str, ref: str, sha: str) -> dict[str, str]:
    return {"name": name, "ref": ref, "targetCommit": sha}


def tag(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found, write=True)
    name = call.json()["tag"]
    if name in repo.tags:
        raise RefusedError(409, f"Tag reference exists already: {name}")
    repo.tags[name] = repo.at(revision_of(found)).sha
    return as_json({})


def untag(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found, write=True)
    if repo.tags.pop(revision_of(found), None) is None:
        raise RefusedError(404, "Tag not found", "RevisionNotFound")
    return as_json({})


# --- reading


def tree(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    commit = repo.at(revision_of(found))
    below = unquote(found["path"] or "")
    entries = _entries(commit, below)
    if below and not entries:
        raise RefusedError(404, f"{below} does not exist", "EntryNotFound")
    recursive = call.query.get("recursive", "").lower() in ("1", "true")
    depth = len(below.split("/")) if below else 0
    return as_json([each for each in entries if recursive or each["path"].count("/") == depth])


def _entries(commit: Commit, below: str = "") -> list[dict[str, Any]]:
    """Return every file and folder inside a folder."""
    prefix = f"{below}/" if below else ""
    paths = [path for path in sorted(commit.files) if path.startswith(prefix)]
    folders = {"/".join(path.split("/")[:n]) for path in paths for n in range(1, path.count("/") + 1)}
    entries = [_folder(each) for each in sorted(folders) if each.startswith(prefix)]
    return entries + [_file(path, commit.files[path]) for path in paths]


def _folder(path: str) -> dict[str, Any]:
    oid = hashlib.sha1(path.encode()).hexdigest()  # noqa: S324 (as long as git's)
    return {"type": "directory", "oid": oid, "size": 0, "path": path}


def _file(path: str, blob: Blob) -> dict[str, Any]:
    entry = {"type": "file", "oid": blob.git_sha1, "size": len(blob.data), "path": path}
    lfs = {"oid": blob.sha256, "size": len(blob.data), "pointerSize": len(blob.pointer)}
    return entry | ({"lfs": lfs} if blob.lfs else {})


def paths_info(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    commit = repo_of(hub, call, found).at(revision_of(found))
    wanted = set(parse_qs(call.body.decode()).get("paths", []))
    return as_json([each for each in _entries(commit) if each["path"] in wanted])


def commits(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    history = repo_of(hub, call, found).history(revision_of(found))
    return as_json(
        [
            {
                "id": each.sha,
                "title": each.title,
                "message": "",
                "date": DATE,
                "authors": [{"user": each.author}],
            }
            for each in history
        ]
    )


def resolve(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    commit = repo_of(hub, call, found).at(revision_of(found))
    blob = commit.files.get(unquote(found["path"]))
    if blob is None:
        raise RefusedError(404, f"Entry not found: {found['path']}", "EntryNotFound")
    headers = {
        "ETag": f'"{blob.etag}"',
        "X-Repo-Commit": commit.sha,
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
    }
    if blob.lfs:
        headers |= {"X-Linked-ETag": f'"{blob.etag}"', "X-Linked-Size": str(len(blob.data))}
    return Answer(blob.data, 200, headers)
