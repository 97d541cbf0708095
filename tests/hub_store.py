"""What the Hub's stand-in keeps: repositories with commits, branches, tags and pull requests."""

import fnmatch
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

GIT_ATTRIBUTES = b"""\
*.arrow filter=lfs diff=lfs merge=lfs -text
*.bin filter=lfs diff=lfs merge=lfs -text
*.parquet filter=lfs diff=lfs merge=lfs -text
*.png filter=lfs diff=lfs merge=lfs -text
*.zip filter=lfs diff=lfs merge=lfs -text
"""
FIRST_FILES: Mapping[str, Mapping[str, bytes]] = {
    "model": {".gitattributes": GIT_ATTRIBUTES},
    "dataset": {".gitattributes": GIT_ATTRIBUTES},
    "space": {
        ".gitattributes": GIT_ATTRIBUTES,
        "README.md": b"---\ntitle: New\nemoji: \xf0\x9f\x91\x80\nsdk: static\n---\n",
        "index.html": b"<h1>Welcome to your static Space!</h1>\n",
        "style.css": b"body { padding: 2rem; }\n",
    },
}
"""What a new repository holds, as on the Hub."""
LFS_FROM = 10 * 1024 * 1024
"""Files of this size and more are LFS files whatever their name."""


class RefusedError(Exception):
    """A request that the server answers with an error."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True)
class User:
    """Who a token belongs to, and what it may do in which organisation."""

    name: str
    orgs: Mapping[str, str] = field(default_factory=dict)
    """Organisation to role: `admin`, `write` or `read`."""
    role: str = "write"
    """What the token may do: `read` or `write`."""

    def may_write(self, namespace: str) -> bool:
        if self.role != "write":
            return False
        return namespace == self.name or self.orgs.get(namespace) in ("admin", "write")


@dataclass(frozen=True)
class Blob:
    """One file's content, stored in git or by LFS."""

    data: bytes
    lfs: bool = False

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def pointer(self) -> bytes:
        """The text that git stores for an LFS file."""
        head = "version https://git-lfs.github.com/spec/v1"
        return f"{head}\noid sha256:{self.sha256}\nsize {len(self.data)}\n".encode()

    @cached_property
    def git_sha1(self) -> str:
        stored = self.pointer if self.lfs else self.data
        return hashlib.sha1(b"blob %d\x00" % len(stored) + stored).hexdigest()  # noqa: S324 (git's own)

    @cached_property
    def etag(self) -> str:
        return self.sha256 if self.lfs else self.git_sha1


@dataclass(frozen=True)
class Commit:
    """A whole tree and where it came from."""

    sha: str
    parent: str | None
    title: str
    author: str
    files: Mapping[str, Blob]


@dataclass
class Discussion:
    """A discussion or pull request."""

    num: int
    title: str
    description: str
    author: str
    is_pull_request: bool
    base: str = ""
    """Commit from which a pull request starts."""
    status: str = "open"
    comments: list[tuple[str, str]] = field(default_factory=list)
    """(author, text) of each comment after the description."""


class Repo:
    """One repository. `files()` gives what a revision holds, `history()` its commits, newest first."""

    _counter = itertools.count()

    def __init__(self, kind: str, name: str, author: str, *, private: bool = False) -> None:
        self.kind, self.name, self.private = kind, name, private
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        """`main` and other branches, `refs/pr/1` and so on, to commits."""
        self.tags: dict[str, str] = {}
        self.discussions: dict[int, Discussion] = {}
        self.lfs: dict[str, bytes] = {}
        """Uploaded LFS objects by SHA-256, whether or not a commit names them."""
        first = {path: Blob(data) for path, data in FIRST_FILES[kind].items()}
        self.add_commit("main", first, "initial commit", author)

    @property
    def namespace(self) -> str:
        return self.name.split("/")[0]

    @property
    def head(self) -> Commit:
        return self.commits[self.refs["main"]]

    @property
    def pull_requests(self) -> list[Discussion]:
        return [each for each in self.discussions.values() if each.is_pull_request]

    def at(self, revision: str) -> Commit:
        """Return the commit of a branch, tag, pull request or hash."""
        sha = self.refs.get(revision) or self.tags.get(revision) or revision
        if sha not in self.commits:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[sha]

    def files(self, revision: str = "main") -> dict[str, bytes]:
        """Return content by path."""
        return {path: blob.data for path, blob in self.at(revision).files.items()}

    def history(self, revision: str = "main") -> list[Commit]:
        commits = [self.at(revision)]
        while (parent := commits[-1].parent) is not None:
            commits.append(self.commits[parent])
        return commits

    def add_commit(self, ref: str, files: Mapping[str, Blob], title: str, author: str) -> Commit:
        """Put a whole tree on top of a branch."""
        parent = self.refs.get(ref)
        tree = "\n".join(f"{path} {files[path].git_sha1}" for path in sorted(files))
        text = f"{next(self._counter)} {self.name} {parent} {title} {tree}"
        sha = hashlib.sha1(text.encode()).hexdigest()  # noqa: S324 (as long as git's)
        self.commits[sha] = Commit(sha, parent, title, author, dict(files))
        self.refs[ref] = sha
        return self.commits[sha]

    def put(self, files: Mapping[str, bytes], title: str = "Edit", *, ref: str = "main") -> Commit:
        """Commit as somebody else would, past the HTTP API."""
        blobs = {path: self.blob(path, data) for path, data in files.items()}
        return self.add_commit(ref, {**self.at(ref).files, **blobs}, title, "somebody-else")

    def blob(self, path: str, data: bytes) -> Blob:
        return Blob(data, lfs=self.is_lfs(path, len(data)))

    def is_lfs(self, path: str, size: int) -> bool:
        """Return whether the Hub wants a file by LFS: large, or named in .gitattributes."""
        attributes = self.head.files.get(".gitattributes", Blob(b"")).data.decode()
        patterns = [line.split()[0] for line in attributes.splitlines() if "filter=lfs" in line]
        name = path.rsplit("/", 1)[-1]
        return size >= LFS_FROM or any(fnmatch.fnmatch(name, each) for each in patterns)

    def open_discussion(self, title: str, text: str, author: str, *, pull: bool) -> Discussion:
        num = len(self.discussions) + 1
        opened = Discussion(num, title, text, author, pull, base=self.refs["main"])
        self.discussions[num] = opened
        if pull:
            self.refs[f"refs/pr/{num}"] = opened.base
        return opened

    def merge(self, num: int, author: str) -> None:
        """Bring a pull request's changes into main."""
        pull = self.discussions[num]
        old, new = self.commits[pull.base].files, self.at(f"refs/pr/{num}").files
        merged = {path: blob for path, blob in self.head.files.items() if path in new or path not in old}
        merged |= {path: blob for path, blob in new.items() if old.get(path) != blob}
        self.add_commit("main", merged, f"{pull.title} (#{num})", author)
        pull.status = "merged"


def changed(files: Mapping[str, Blob], operations: Iterable[tuple[str, str, Blob | None]]) -> dict[str, Blob]:
    """Return a tree after operations `(key, path, blob)`: file, lfsFile, deletedFile, deletedFolder."""
    tree = dict(files)
    for key, path, blob in operations:
        if blob is not None:
            tree[path] = blob
            continue
        gone = [each for each in tree if each == path or (key == "deletedFolder" and _inside(each, path))]
        if not gone:
            raise RefusedError(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
        for each in gone:
            del tree[each]
    return tree


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
