"""The routes of the Hub's stand-in: each takes a Call and gives an Answer or raises RefusedError."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import hub_rules
from hub_store import Blob, Commit, Discussion, RefusedError, Repo, User, changed

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


def answer(hub: "HubServer", call: Call) -> Answer:
    """Find the route of a request; RefusedError 404 if there is none."""
    for method, pattern, route in ROUTES:
        if method in (call.method, "GET" if call.method == "HEAD" else None) and (
            found := re.fullmatch(pattern, call.path)
        ):
            return route(hub, call, found)
    raise RefusedError(404, f"Not found: {call.method} {call.path}")


def _json(content: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(content).encode(), status, {"Content-Type": "application/json"})


def _repo(hub: "HubServer", call: Call, found: re.Match[str], *, write: bool = False) -> Repo:
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


def _revision(found: re.Match[str]) -> str:
    return unquote(found["rev"] or "main")


def _url(hub: "HubServer", repo: Repo) -> str:
    return f"{hub.url}/{PREFIX[repo.kind]}{repo.name}"


# --- accounts and repositories


def _whoami(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    user = call.signed_in()
    orgs = [{"name": name, "roleInOrg": role, "type": "org"} for name, role in user.orgs.items()]
    token = {"type": "access_token", "accessToken": {"displayName": "test", "role": user.role}}
    return _json({"type": "user", "name": user.name, "orgs": orgs, "auth": token})


def _create(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
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
    content = {"url": _url(hub, repo), "name": name}
    return _json(
        content if made else {**content, "error": "You already created this repo"}, 200 if made else 409
    )


def _info(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    commit = repo.at(_revision(found))
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
    return _json(content | ({"sdk": card.get("sdk", "static")} if repo.kind == "space" else {}))


def _blob_info(blob: Blob) -> dict[str, Any]:
    lfs = {"size": len(blob.data), "sha256": blob.sha256, "pointerSize": len(blob.pointer)}
    return {"size": len(blob.data), "blobId": blob.git_sha1} | ({"lfs": lfs} if blob.lfs else {})


def _refs(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    pulls = {name: sha for name, sha in repo.refs.items() if name.startswith("refs/pr/")}
    branches = {name: sha for name, sha in repo.refs.items() if name not in pulls}
    content = {
        "branches": [_ref(name, f"refs/heads/{name}", sha) for name, sha in branches.items()],
        "tags": [_ref(name, f"refs/tags/{name}", sha) for name, sha in repo.tags.items()],
        "converts": [],
    }
    if "include_prs" in call.query:
        content["pullRequests"] = [_ref(name.split("/")[-1], name, sha) for name, sha in pulls.items()]
    return _json(content)


def _ref(name: str, ref: str, sha: str) -> dict[str, str]:
    return {"name": name, "ref": ref, "targetCommit": sha}


def _tag(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found, write=True)
    name = call.json()["tag"]
    if name in repo.tags:
        raise RefusedError(409, f"Tag reference exists already: {name}")
    repo.tags[name] = repo.at(_revision(found)).sha
    return _json({})


def _untag(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found, write=True)
    if repo.tags.pop(_revision(found), None) is None:
        raise RefusedError(404, "Tag not found", "RevisionNotFound")
    return _json({})


# --- reading


def _tree(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    commit = repo.at(_revision(found))
    below = unquote(found["path"] or "")
    entries = _entries(commit, below)
    if below and not entries:
        raise RefusedError(404, f"{below} does not exist", "EntryNotFound")
    recursive = call.query.get("recursive", "").lower() in ("1", "true")
    depth = len(below.split("/")) if below else 0
    return _json([each for each in entries if recursive or each["path"].count("/") == depth])


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


def _paths_info(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    commit = _repo(hub, call, found).at(_revision(found))
    wanted = set(parse_qs(call.body.decode()).get("paths", []))
    return _json([each for each in _entries(commit) if each["path"] in wanted])


def _commits(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    history = _repo(hub, call, found).history(_revision(found))
    return _json(
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


def _resolve(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    commit = _repo(hub, call, found).at(_revision(found))
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


# --- committing


def _writable(hub: "HubServer", call: Call, found: re.Match[str]) -> Repo:
    """Return the repository of a push; anybody signed in may open a pull request or add to their own."""
    repo = _repo(hub, call, found)
    number = re.fullmatch(r"refs/pr/(\d+)", _revision(found))
    pull = repo.discussions.get(int(number[1])) if number else None
    own = call.query.get("create_pr") or (pull and pull.author == call.signed_in().name)
    if own and call.signed_in().role == "write":
        return repo
    return _repo(hub, call, found, write=True)


def _preupload(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _writable(hub, call, found)
    tree = repo.at(_revision(found)).files
    files = []
    for each in call.json()["files"]:
        mode = "lfs" if repo.is_lfs(each["path"], each["size"]) else "regular"
        entry = {"path": each["path"], "uploadMode": mode, "shouldIgnore": False}
        files.append(entry | ({"oid": tree[each["path"]].etag} if each["path"] in tree else {}))
    return _json({"files": files})


def _lfs_batch(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    call.signed_in()
    home = f"{hub.url}/lfs/{repo.kind}s/{repo.name}"
    objects = []
    for each in call.json()["objects"]:
        entry = {"oid": each["oid"], "size": each["size"]}
        if each["oid"] not in repo.lfs:
            upload = {"href": f"{home}/{each['oid']}"}
            entry["actions"] = {"upload": upload, "verify": {"href": f"{home}/verify"}}
        objects.append(entry)
    return _json({"transfer": "basic", "objects": objects})


def _lfs_upload(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    # the address is as good as a signature: such uploads carry no token
    repo = hub.repos[found["kind"].removesuffix("s/"), found["repo"]]
    if hashlib.sha256(call.body).hexdigest() != found["oid"]:
        raise RefusedError(400, "content does not have this SHA-256")
    repo.lfs[found["oid"]] = call.body
    return Answer()


def _lfs_verify(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    wanted = call.json()
    if len(repo.lfs.get(wanted["oid"], b"")) != wanted["size"]:
        raise RefusedError(404, "LFS object was not uploaded")
    return _json({})


def _commit(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user = _writable(hub, call, found), call.signed_in()
    header, *lines = [json.loads(line) for line in call.body.splitlines()]
    ref = _revision(found)
    if header["value"].get("parentCommit", repo.at(ref).sha) != repo.at(ref).sha:
        raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
    tree = changed(repo.at(ref).files, [_operation(repo, line) for line in lines])
    _refuse_faulty(repo.kind, tree)
    title, text = header["value"]["summary"], header["value"].get("description", "")
    pull = None
    if call.query.get("create_pr"):
        pull = repo.open_discussion(title, text, user.name, pull=True)
        ref = f"refs/pr/{pull.num}"
    made = repo.add_commit(ref, tree, title, user.name)
    return _json(
        {
            "success": True,
            "commitOid": made.sha,
            "commitUrl": f"{_url(hub, repo)}/commit/{made.sha}",
            "pullRequestUrl": f"{_url(hub, repo)}/discussions/{pull.num}" if pull else None,
        }
    )


def _operation(repo: Repo, line: dict[str, Any]) -> tuple[str, str, Blob | None]:
    key, value = line["key"], line["value"]
    if key == "file":
        return key, value["path"], Blob(base64.b64decode(value["content"]))
    if key == "lfsFile":
        if value["oid"] not in repo.lfs:
            raise RefusedError(400, f"LFS object {value['oid']} was not uploaded")
        return key, value["path"], Blob(repo.lfs[value["oid"]], lfs=True)
    return key, value["path"], None


def _refuse_faulty(kind: str, tree: Mapping[str, Blob]) -> None:
    card = tree["README.md"].data if "README.md" in tree else b""
    if kind != "model" and (errors := hub_rules.card_errors(kind, card)):
        raise RefusedError(400, "Invalid metadata in README.md: " + "; ".join(errors))
    registered = tree.get("eval.yaml") if kind == "dataset" else None
    if registered and (errors := hub_rules.eval_yaml_errors(registered.data, card)):
        raise RefusedError(400, "Invalid eval.yaml: " + "; ".join(errors))


def _validate_yaml(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    wanted = call.json()
    errors = []
    if wanted["repoType"] != "model":
        errors = hub_rules.card_errors(wanted["repoType"], wanted["content"].encode())
    content = {"errors": [{"message": each} for each in errors], "warnings": []}
    return _json(content, 400 if errors else 200)


# --- discussions and pull requests


def _discussions(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    every = [each for each in reversed(repo.discussions.values()) if _is_wanted(each, call.query)]
    listed = [_discussion(repo, each) for each in every]
    return _json({"discussions": listed, "count": len(listed), "start": 0, "numClosedDiscussions": 0})


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


def _details(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _repo(hub, call, found)
    each = _numbered(repo, found)
    said = [(each.author, each.description), *each.comments]
    events = [_comment(at, author, text) for at, (author, text) in enumerate(said)]
    changes = {"base": "refs/heads/main"}
    extra = {"events": events, "changes": changes, "filesWithConflicts": [], "diff": ""}
    return _json(_discussion(repo, each) | extra)


def _comment(at: int, author: str, text: str) -> dict[str, Any]:
    data = {"edited": False, "hidden": False, "latest": {"raw": text, "html": text}}
    return {"id": str(at), "type": "comment", "createdAt": DATE, "author": {"name": author}, "data": data}


def _open(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user, wanted = _repo(hub, call, found), call.signed_in(), call.json()
    pull = bool(wanted.get("pullRequest"))
    opened = repo.open_discussion(wanted["title"], wanted.get("description") or "", user.name, pull=pull)
    if pull:
        opened.status = "draft"
    return _json({"num": opened.num, "url": f"{_url(hub, repo)}/discussions/{opened.num}"})


def _change(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user = _repo(hub, call, found), call.signed_in()
    each, wanted = _numbered(repo, found), call.json() if call.body else {}
    if found["what"] == "comment":
        each.comments.append((user.name, wanted["comment"]))
        return _json({"newMessage": _comment(len(each.comments), user.name, wanted["comment"])})
    _repo(hub, call, found, write=found["what"] == "merge" or user.name != each.author)
    if found["what"] == "merge":
        repo.merge(each.num, user.name)
        return _json({})
    each.status = wanted["status"]
    data = {"status": each.status}
    event = {
        "id": "0",
        "type": "status-change",
        "createdAt": DATE,
        "author": {"name": user.name},
        "data": data,
    }
    return _json({"newStatus": event})


def _numbered(repo: Repo, found: re.Match[str]) -> Discussion:
    if int(found["num"]) not in repo.discussions:
        raise RefusedError(404, "Discussion not found")
    return repo.discussions[int(found["num"])]


_NAME = r"(?P<repo>[^/]+/[^/]+)"
_API = rf"/api/(?P<kind>models/|datasets/|spaces/){_NAME}"
_REV = r"(?P<rev>[^/]+)"
_NUM = r"/discussions/(?P<num>\d+)"
ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", "/api/whoami-v2", _whoami),
    ("POST", "/api/repos/create", _create),
    ("POST", "/api/validate-yaml", _validate_yaml),
    ("GET", rf"{_API}/refs", _refs),
    ("POST", rf"{_API}/tag/{_REV}", _tag),
    ("DELETE", rf"{_API}/tag/{_REV}", _untag),
    ("GET", rf"{_API}/tree/{_REV}(?:/(?P<path>.+))?", _tree),
    ("POST", rf"{_API}/paths-info/{_REV}", _paths_info),
    ("GET", rf"{_API}/commits/{_REV}", _commits),
    ("POST", rf"{_API}/preupload/{_REV}", _preupload),
    ("POST", rf"{_API}/commit/{_REV}", _commit),
    ("GET", rf"{_API}/discussions", _discussions),
    ("POST", rf"{_API}/discussions", _open),
    ("GET", rf"{_API}{_NUM}", _details),
    ("POST", rf"{_API}{_NUM}/(?P<what>comment|status|merge)", _change),
    ("GET", rf"{_API}(?:/revision/{_REV})?", _info),
    ("POST", rf"/(?P<kind>datasets/|spaces/|){_NAME}\.git/info/lfs/objects/batch", _lfs_batch),
    ("PUT", rf"/lfs/(?P<kind>models/|datasets/|spaces/){_NAME}/(?P<oid>[0-9a-f]{{64}})", _lfs_upload),
    ("POST", rf"/lfs/(?P<kind>models/|datasets/|spaces/){_NAME}/verify", _lfs_verify),
    ("GET", rf"/(?P<kind>datasets/|spaces/|){_NAME}/resolve/{_REV}/(?P<path>.+)", _resolve),
)
