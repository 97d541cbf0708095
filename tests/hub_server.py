"""A stand-in for the Hub: the HTTP API that huggingface_hub, datasets and evaluate use, on loopback.

The clients are the real ones, told where to go by the environment. In a test:

    @pytest.fixture
    def hub() -> Iterator[HubServer]:
        with HubServer(users={"hf_good": User("asha", {"rupee-org": "write"})}) as server:
            yield server

    def test_it(hub: HubServer, tmp_path: Path) -> None:
        hub.create("model", "someone/tiny")                      # past the API, as other people do
        done = subprocess.run([...], env=hub.environment(tmp_path, token="hf_good"), ...)
        repo = hub.repo("model", "someone/tiny")                 # `.files()`, `.history()`, `.tags`,
        assert ".eval_results/x.yaml" in repo.files("refs/pr/1")  # `.pull_requests`, `.merge(1, "owner")`

In the same process, and faster: `HfApi(endpoint=hub.url, token="hf_good")`. Commits with LFS files (Parquet)
need HF_HUB_DISABLE_XET=1 before huggingface_hub is imported: conftest.py and `environment` set it. Its
uploads warn: `pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")`.

`hub.requests` is the log: method, path, status, user. `hub.writes` are those that change something.
`hub.fail("PUT", "/lfs/", 507, after=2)` lets two such requests through and then fails the rest; 507 is not
retried by the clients, 500 and 503 are (up to half a minute). `status=0` breaks the connection instead.
`hub.before("POST", "/commit/", call)` runs `call()` once, just before such a request is served.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hub_api import answer
from hub_http import Answer, Call
from hub_store import RefusedError, Repo, User

__all__ = ["HubServer", "Request", "User"]

DEFAULT_USERS = {
    "hf_good": User("asha", {"rupee-org": "write"}),
    "hf_other": User("ravi", {"rupee-org": "read"}),
    "hf_readonly": User("asha", {"rupee-org": "write"}, role="read"),
}


@dataclass(frozen=True)
class Request:
    """One request of the log."""

    method: str
    path: str
    status: int
    """0: the connection was broken."""
    user: str | None
    token: str | None


@dataclass
class Fault:
    """Requests that fail."""

    method: str
    pattern: str
    status: int
    after: int
    times: int
    message: str
    headers: Mapping[str, str]
    body: bytes | None
    """Sent as it is, with the status."""


class HubServer:
    """Serves repositories on a free port while its context lasts."""

    def __init__(self, users: Mapping[str, User] = DEFAULT_USERS) -> None:
        self.users = dict(users)
        self.repos: dict[tuple[str, str], Repo] = {}
        self.renamed: dict[str, str] = {}
        """Former names of repositories to the present ones."""
        self.requests: list[Request] = []
        self.frameworks: set[str] | None = None
        """Evaluation frameworks that an eval.yaml may name; None: any."""
        self._faults: list[Fault] = []
        self._hooks: list[tuple[str, str, Callable[[], object]]] = []
        self._lock = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """What HF_ENDPOINT is to be."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def writes(self) -> list[Request]:
        """Requests that changed, or tried to change, anything."""
        asking = re.compile(r"/paths-info/|/validate-yaml")
        return [
            each
            for each in self.requests
            if each.method not in ("GET", "HEAD") and not asking.search(each.path)
        ]

    def environment(self, home: Path, token: str | None = None) -> dict[str, str]:
        """Return the environment of a client that knows only this Hub, with a fresh cache in `home`."""
        ours = ("HF_", "HUGGING", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(ours)}
        settings = {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        return kept | settings | ({"HF_TOKEN": token} if token else {})

    def create(self, kind: str, name: str, *, private: bool = False, author: str | None = None) -> Repo:
        """Make a repository (`model`, `dataset` or `space`), past the HTTP API."""
        with self._lock:
            made = Repo(kind, name, author or name.split("/")[0], private=private)
            self.repos[kind, name] = made
            return made

    def repo(self, kind: str, name: str) -> Repo:
        """Return a repository; KeyError if there is none."""
        return self.repos[kind, name]

    def fail(
        self,
        method: str,
        pattern: str,
        status: int,
        *,
        after: int = 0,
        times: int = 1_000_000,
        message: str = "scripted",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> None:
        """Answer requests whose path `pattern` finds with `status`, but not the first `after` of them.

        `headers` are added; a `body` is sent as it is, also with status 200, as by something that is no Hub.
        """
        self._faults.append(Fault(method, pattern, status, after, times, message, headers or {}, body))

    def rename(self, kind: str, old: str, new: str) -> None:
        """Give a repository another name; requests for the old one are led on, as on the Hub."""
        with self._lock:
            repo = self.repos[kind, new] = self.repos.pop((kind, old))
            repo.name = new
            self.renamed[old] = new

    def heal(self) -> None:
        """Forget every fault and hook."""
        self._faults.clear()
        self._hooks.clear()

    def before(self, method: str, pattern: str, call: Callable[[], object]) -> None:
        """Run `call` once, before the next such request is served."""
        self._hooks.append((method, pattern, call))

    def __enter__(self) -> "HubServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
        """Answer one request; None: break the connection."""
        token = headers.get("authorization", "").removeprefix("Bearer ") or None
        user = self.users.get(token) if token else None
        with self._lock:
            found = self._answer(method, target, body, token, user)
            status = 0 if found is None else found.status
            name = user.name if user else None
            self.requests.append(Request(method, target, status, name, token))
        return found

    def _answer(
        self, method: str, target: str, body: bytes, token: str | None, user: User | None
    ) -> Answer | None:
        self._run_hooks(method, target)
        if fault := self._fault(method, target):
            return _scripted(fault)
        for old, new in self.renamed.items():
            there = re.sub(rf"/{re.escape(old)}(?=[/?.]|$)", f"/{new}", target)
            if there != target:
                return Answer(b"", 307, {"Location": f"{self.url}{there}"})
        try:
            if token and user is None:
                raise RefusedError(401, "Invalid credentials in Authorization header")
            split = urlsplit(target)
            query = {name: values[0] for name, values in parse_qs(split.query).items()}
            return answer(self, Call(method, split.path, query, body, user))
        except RefusedError as refused:
            return _refused(refused)

    def _run_hooks(self, method: str, target: str) -> None:
        for hook in [each for each in self._hooks if each[0] == method and re.search(each[1], target)]:
            self._hooks.remove(hook)
            hook[2]()

    def _fault(self, method: str, target: str) -> Fault | None:
        for fault in self._faults:
            if fault.method == method and re.search(fault.pattern, target):
                fault.after -= 1
                if fault.after < 0 and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None


def _scripted(fault: Fault) -> Answer | None:
    if not fault.status:
        return None
    plain = _refused(RefusedError(fault.status, fault.message))
    if fault.body is not None:
        return Answer(fault.body, fault.status, fault.headers)
    return Answer(plain.body, plain.status, {**plain.headers, **fault.headers})


def _refused(refused: RefusedError) -> Answer:
    headers = {"X-Error-Message": refused.message}
    if refused.code:
        headers["X-Error-Code"] = refused.code
    return Answer(json.dumps({"error": refused.message}).encode(), refused.status, headers)


def _handler(hub: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one packet: no client waits for the second
        disable_nagle_algorithm = True

        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = _chunks(self.rfile)
            headers = {name.lower(): value for name, value in self.headers.items()}
            found = hub.handle(self.command, self.path, headers, body)
            if found is None:
                self.close_connection = True
                return
            found = found.ranged(headers.get("range"))
            self.send_response(found.status)
            for name, value in {"Content-Length": str(len(found.body)), **found.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(found.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = serve  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Print nothing: `hub.requests` is the log."""

    return Handler


def _chunks(stream: Any) -> bytes:
    parts = []
    while size := int(stream.readline().split(b";")[0], 16):
        parts.append(stream.read(size))
        stream.readline()
    stream.readline()
    return b"".join(parts)
