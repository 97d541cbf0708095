"""Routes of the Hub's stand-in that take files and commits."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import hub_rules
from hub_http import Answer, Call, as_json, repo_of, revision_of, url_of
from hub_store import Blob, RefusedError, Repo, changed

if TYPE_CHECKING:
    from hub_server import HubServer


def _writable(hub: "HubServer", call: Call, found: re.Match[str]) -> Repo:
    """Return the repository of a push; anybody signed in may open a pull request or add to their own."""
    repo = repo_of(hub, call, found)
    number = re.fullmatch(r"refs/pr/(\d+)", revision_of(found))
    pull = repo.discussions.get(int(number[1])) if number else None
    own = call.query.get("create_pr") or (pull and pull.author == call.signed_in().name)
    if own and call.signed_in().role == "write":
        return repo
    return repo_of(hub, call, found, write=True)


def preupload(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = _writable(hub, call, found)
    tree = repo.at(revision_of(found)).files
    files = []
    for each in call.json()["files"]:
        mode = "lfs" if repo.is_lfs(each["path"], each["size"]) else "regular"
        entry = {"path": each["path"], "uploadMode": mode, "shouldIgnore": False}
        files.append(entry | ({"oid": tree[each["path"]].etag} if each["path"] in tree else {}))
    return as_json({"files": files})


def lfs_batch(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    call.signed_in()
    home = f"{hub.url}/lfs/{repo.kind}s/{repo.name}"
    objects = []
    for each in call.json()["objects"]:
        entry = {"oid": each["oid"], "size": each["size"]}
        if each["oid"] not in repo.lfs:
            upload = {"href": f"{home}/{each['oid']}"}
            entry["actions"] = {"upload": upload, "verify": {"href": f"{home}/verify"}}
        objects.append(entry)
    return as_json({"transfer": "basic", "objects": objects})


def lfs_upload(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    # the address is as good as a signature: such uploads carry no token
    repo = hub.repos[found["kind"].removesuffix("s/"), found["repo"]]
    if hashlib.sha256(call.body).hexdigest() != found["oid"]:
        raise RefusedError(400, "content does not have this SHA-256")
    repo.lfs[found["oid"]] = call.body
    return Answer()


def lfs_verify(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo = repo_of(hub, call, found)
    wanted = call.json()
    if len(repo.lfs.get(wanted["oid"], b"")) != wanted["size"]:
        raise RefusedError(404, "LFS object was not uploaded")
    return as_json({})


def commit(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    repo, user = _writable(hub, call, found), call.signed_in()
    header, *lines = [json.loads(line) for line in call.body.splitlines()]
    ref = revision_of(found)
    if header["value"].get("parentCommit", repo.at(ref).sha) != repo.at(ref).sha:
        raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
    tree = changed(repo.at(ref).files, [_operation(repo, line) for line in lines])
    _refuse_faulty(hub, repo.kind, tree)
    title, text = header["value"]["summary"], header["value"].get("description", "")
    pull = None
    if call.query.get("create_pr"):
        pull = repo.open_discussion(title, text, user.name, pull=True)
        ref = f"refs/pr/{pull.num}"
    made = repo.add_commit(ref, tree, title, user.name)
    return as_json(
        {
            "success": True,
            "commitOid": made.sha,
            "commitUrl": f"{url_of(hub, repo)}/commit/{made.sha}",
            "pullRequestUrl": f"{url_of(hub, repo)}/discussions/{pull.num}" if pull else None,
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


def _refuse_faulty(hub: "HubServer", kind: str, tree: Mapping[str, Blob]) -> None:
    card = tree["README.md"].data if "README.md" in tree else b""
    if kind != "model" and (errors := hub_rules.card_errors(kind, card)):
        raise RefusedError(400, "Invalid metadata in README.md: " + "; ".join(errors))
    registered = tree.get("eval.yaml") if kind == "dataset" else None
    if registered and (errors := hub_rules.eval_yaml_errors(registered.data, card, hub.frameworks)):
        raise RefusedError(400, "Invalid eval.yaml: " + "; ".join(errors))


def validate_yaml(hub: "HubServer", call: Call, found: re.Match[str]) -> Answer:
    wanted = call.json()
    errors = []
    if wanted["repoType"] != "model":
        errors = hub_rules.card_errors(wanted["repoType"], wanted["content"].encode())
    content = {"errors": [{"message": each} for each in errors], "warnings": []}
    return as_json(content, 400 if errors else 200)
