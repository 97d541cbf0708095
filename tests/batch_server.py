"""The batch interfaces of OpenAI (files, batches) and Anthropic (message batches) on loopback, both in one
server whose faults a test scripts; real sockets, nothing patched.

The nth accepted batch follows the nth of `plans`, later ones the plain `Plan()`. `answered` counts, by the
text of the user message, how often an answer was produced: it is what a provider would bill.
"""

import json
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

ANSWER = "### 850000 INR"
SERVED = "served-2026-01-01"


@dataclass(frozen=True)
class Fault:
    """What becomes of one line instead of an answer."""

    status: int = 500
    code: str = "server_error"
    message: str = "scripted"


@dataclass(frozen=True)
class Plan:
    """The fate of one batch."""

    polls: int = 1
    """Looks at it that find it unfinished."""
    ending: str = "completed"
    """`completed`, `expired`, `failed` (after being accepted) or `cancelled`."""
    answered: int | None = None
    """Lines handled before the ending; None: all of them."""
    faults: Mapping[int, Fault] = field(default_factory=dict)
    """Faults by line number."""
    every_fault: Fault | None = None
    """One fault for all lines."""
    duplicates: int = 0
    """The first lines that are answered twice in the results."""
    strays: int = 0
    """Results for ids that were never sent."""
    garbage: int = 0
    """The first result lines that are not JSON."""
    reason: tuple[str, str] = ("invalid_request", "scripted")
    """Code and message of a batch that fails as a whole."""


@dataclass
class Batch:
    """A batch that the server took."""

    id: str
    plan: Plan
    lines: list[dict[str, Any]]
    metadata: dict[str, str]
    style: str
    created: float
    status: str = "in_progress"
    polls: int = 0
    results: list[dict[str, Any]] = field(default_factory=list)
    reason: tuple[str, str] | None = None


class BatchServer:
    """Serves both interfaces on a free port while its context lasts."""

    def __init__(self, plans: Sequence[Plan] = (), *, token_limit: int | None = None) -> None:
        self.plans = list(plans)
        self.token_limit = token_limit
        """Tokens (a fourth of the characters of the messages) that may be queued at once."""
        self.lost_replies = 0
        """So many of the next accepted batches get no reply: the connection just ends."""
        self.refusals: list[tuple[int, dict[str, Any], dict[str, str]]] = []
        """Status, body and headers for the next requests that create a batch."""
        self.hidden = 0
        """So many of the newest batches are missing from the next listing."""
        self.output_tokens = 10
        """What each answer is billed for, beside 40 tokens of input."""
        self.batches: list[Batch] = []
        self.files: dict[str, bytes] = {}
        self.answered: Counter[str] = Counter()
        self.live: list[dict[str, Any]] = []
        """Bodies of requests outside any batch."""
        self.log: list[str] = []
        """Method and path of every request."""
        self.headers: list[dict[str, str]] = []
        self.most_queued = 0
        self._lock = threading.RLock()
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def root(self) -> str:
        """Base URL for Anthropic's interface."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """Base URL for OpenAI's interface."""
        return f"{self.root}/v1"

    def count(self, start: str) -> int:
        """Requests whose `METHOD /path` begins so."""
        return sum(entry.startswith(start) for entry in self.log)

    def bought(self) -> int:
        """Answers produced, live and in batches."""
        return sum(self.answered.values())

    def __enter__(self) -> "BatchServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def accept(self, lines: list[dict[str, Any]], style: str, metadata: dict[str, str]) -> Batch:
        with self._lock:
            number = len(self.batches)
            plan = self.plans[number] if number < len(self.plans) else Plan()
            kind = "batch" if style == "openai" else "msgbatch"
            batch = Batch(f"{kind}_{number:04d}", plan, lines, metadata, style, time.time())
            self.batches.append(batch)
            queued = sum(_tokens(b) for b in self.batches if b.status == "in_progress")
            if self.token_limit is not None and queued > self.token_limit:
                self._fail(batch, ("token_limit_exceeded", _limit_message(self.token_limit)))
            else:
                self.most_queued = max(self.most_queued, queued)
            return batch

    def look(self, batch_id: str) -> Batch | None:
        """Return a batch after one more look at it."""
        with self._lock:
            batch = self.find(batch_id)
            if batch is not None and batch.status in ("in_progress", "cancelling"):
                batch.polls += 1
                if batch.polls > batch.plan.polls:
                    self._end(batch)
            return batch

    def find(self, batch_id: str) -> Batch | None:
        return next((b for b in self.batches if b.id == batch_id), None)

    def cancel(self, batch_id: str) -> Batch | None:
        with self._lock:
            batch = self.find(batch_id)
            if batch is not None and batch.status == "in_progress":
                batch.status = "cancelling"
            return batch

    def answer(self, body: dict[str, Any], style: str) -> dict[str, Any]:
        """Return a reply to one request, and bill it."""
        self.answered[_question(body)] += 1
        make = _openai_reply if style == "openai" else _anthropic_reply
        return make(self.output_tokens)

    def _end(self, batch: Batch) -> None:
        cancelled = batch.status == "cancelling"
        if batch.plan.ending == "failed" and not cancelled:
            self._fail(batch, batch.plan.reason)
            return
        handled = len(batch.lines) if batch.plan.answered is None else batch.plan.answered
        if cancelled and batch.plan.answered is None:
            handled = 0
        batch.status = "cancelled" if cancelled else batch.plan.ending
        for number, line in enumerate(batch.lines):
            if number < handled:
                batch.results.append(self._outcome(batch, number, line))
            else:
                batch.results.append({"id": line["custom_id"], "unhandled": batch.status})
        extra = [r for r in batch.results if "reply" in r][: batch.plan.duplicates]
        strays = [
            {"id": f"stray-{n}", "reply": (_openai_reply if batch.style == "openai" else _anthropic_reply)(1)}
            for n in range(batch.plan.strays)
        ]
        # Out of order: the last first.
        batch.results = [*strays, *reversed(batch.results), *extra]

    def _outcome(self, batch: Batch, number: int, line: dict[str, Any]) -> dict[str, Any]:
        fault = batch.plan.every_fault or batch.plan.faults.get(number)
        if fault is not None:
            return {"id": line["custom_id"], "fault": fault}
        body = line["body"] if batch.style == "openai" else line["params"]
        return {"id": line["custom_id"], "reply": self.answer(body, batch.style)}

    def _fail(self, batch: Batch, reason: tuple[str, str]) -> None:
        batch.status, batch.reason = "failed", reason


def _limit_message(limit: int) -> str:
    return (
        f"Enqueued token limit reached for the model in organization org-1. Limit: {limit:,} enqueued "
        "tokens. Please try again once some in_progress batches have been completed."
    )


def _question(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _tokens(batch: Batch) -> int:
    characters = sum(
        len(message["content"])
        for line in batch.lines
        for message in line.get("body", {}).get("messages", ())
    )
    return characters // 4


def _openai_reply(tokens: int) -> dict[str, Any]:
    return {
        "id": "r-1",
        "object": "chat.completion",
        "created": 1,
        "model": SERVED,
        "usage": {"prompt_tokens": 40, "completion_tokens": tokens, "total_tokens": 40 + tokens},
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        ],
    }


def _anthropic_reply(tokens: int) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": SERVED,
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 40, "output_tokens": tokens},
    }


def openai_object(batch: Batch) -> dict[str, Any]:
    """The batch as OpenAI shows it."""
    replies = sum("reply" in result for result in batch.results)
    faults = sum("fault" in result for result in batch.results)
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": "file-in",
        "completion_window": "24h",
        "created_at": int(batch.created),
        "status": batch.status,
        "metadata": batch.metadata,
        "output_file_id": f"{batch.id}-output" if replies else None,
        "error_file_id": f"{batch.id}-errors" if len(batch.results) > replies else None,
        "request_counts": {"total": len(batch.lines), "completed": replies, "failed": faults},
        "errors": None
        if batch.reason is None
        else {"object": "list", "data": [{"code": batch.reason[0], "message": batch.reason[1]}]},
    }


def openai_file(batch: Batch, kind: str) -> bytes:
    """The output or error file of a batch."""
    lines = []
    for result in batch.results:
        if ("reply" in result) != (kind == "output"):
            continue
        response: dict[str, Any] | None = None
        error: dict[str, Any] | None = None
        if "reply" in result:
            response = {"status_code": 200, "request_id": "q", "body": result["reply"]}
        elif "fault" in result:
            fault = result["fault"]
            body = {"error": {"code": fault.code, "message": fault.message, "type": "error"}}
            response = {"status_code": fault.status, "request_id": "q", "body": body}
        else:
            code = "batch_expired" if result["unhandled"] == "expired" else "batch_cancelled"
            error = {"code": code, "message": "This request could not be executed in time."}
        lines.append(json.dumps({"id": "l", "custom_id": result["id"], "response": response, "error": error}))
    return _garbled(lines, batch.plan.garbage if kind == "output" else 0)


def anthropic_object(batch: Batch, root: str) -> dict[str, Any]:
    """The batch as Anthropic shows it."""
    ended = batch.status not in ("in_progress", "cancelling")
    counts = Counter(_anthropic_type(result) for result in batch.results)
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended"
        if ended
        else "canceling"
        if batch.status == "cancelling"
        else "in_progress",
        "request_counts": {
            "processing": 0 if ended else len(batch.lines),
            **{kind: counts[kind] for kind in ("succeeded", "errored", "canceled", "expired")},
        },
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(batch.created)),
        "results_url": f"{root}/v1/messages/batches/{batch.id}/results" if ended else None,
    }


def anthropic_results(batch: Batch) -> bytes:
    """The results of a batch, as Anthropic streams them."""
    lines = []
    for result in batch.results:
        kind = _anthropic_type(result)
        outcome: dict[str, Any] = {"type": kind}
        if kind == "succeeded":
            outcome["message"] = result["reply"]
        elif kind == "errored":
            fault = result["fault"]
            outcome["error"] = {"type": "error", "error": {"type": fault.code, "message": fault.message}}
        lines.append(json.dumps({"custom_id": result["id"], "result": outcome}))
    return _garbled(lines, batch.plan.garbage)


def _garbled(lines: list[str], broken: int) -> bytes:
    lines = ["{" + line[10:] if n < broken else line for n, line in enumerate(lines)]
    return "".join(f"{line}\n" for line in lines).encode()


def _anthropic_type(result: dict[str, Any]) -> str:
    if "reply" in result:
        return "succeeded"
    if "fault" in result:
        return "errored"
    return "expired" if result["unhandled"] == "expired" else "canceled"


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing about a client that was killed; a fault of this server is still shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        owner = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    owner: BatchServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would wait for each other's acknowledgement
    disable_nagle_algorithm = True

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass

    def do_GET(self) -> None:
        path = self._note()
        if found := re.fullmatch(r"/v1/files/(batch_\d+)-(output|errors)/content", path):
            batch = self.owner.find(found[1])
            assert batch is not None
            self._send(openai_file(batch, found[2]), "application/octet-stream")
        elif found := re.fullmatch(r"/v1/(?:messages/)?batches/(\w+)/results", path):
            batch = self.owner.find(found[1])
            assert batch is not None
            self._send(anthropic_results(batch), "application/x-jsonl")
        elif found := re.fullmatch(r"/v1/(?:messages/)?batches/(\w+)", path):
            self._show(self.owner.look(found[1]))
        else:
            self._list(path)

    def do_POST(self) -> None:
        path = self._note()
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        if path == "/v1/files":
            self._take_file(content)
        elif path in ("/v1/chat/completions", "/v1/messages"):
            body = json.loads(content)
            self.owner.live.append(body)
            self._json(self.owner.answer(body, "openai" if "chat" in path else "anthropic"))
        elif found := re.fullmatch(r"/v1/(?:messages/)?batches/(\w+)/cancel", path):
            self._show(self.owner.cancel(found[1]))
        else:
            self._create(path, json.loads(content))

    def _note(self) -> str:
        path = urlsplit(self.path).path
        self.owner.log.append(f"{self.command} {path}")
        self.owner.headers.append({name.lower(): value for name, value in self.headers.items()})
        return path

    def _take_file(self, content: bytes) -> None:
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        for part in BytesParser().parsebytes(head + content).walk():
            if part.get_filename():
                payload = part.get_payload(decode=True)
                assert isinstance(payload, bytes)
                file_id = f"file-{len(self.owner.files)}"
                self.owner.files[file_id] = payload
                shown = {"id": file_id, "object": "file", "bytes": len(payload), "created_at": 1}
                self._json(
                    {**shown, "filename": part.get_filename(), "purpose": "batch", "status": "processed"}
                )

    def _create(self, path: str, body: dict[str, Any]) -> None:
        if self.owner.refusals:
            status, answer, headers = self.owner.refusals.pop(0)
            self._json(answer, status, headers)
            return
        if path == "/v1/batches":
            lines = [json.loads(line) for line in self.owner.files[body["input_file_id"]].splitlines()]
            batch = self.owner.accept(lines, "openai", body.get("metadata") or {})
        else:
            batch = self.owner.accept(body["requests"], "anthropic", {})
        if self.owner.lost_replies > 0:
            self.owner.lost_replies -= 1
            self.close_connection = True
            return
        self._show(batch)

    def _list(self, path: str) -> None:
        style = "openai" if path == "/v1/batches" else "anthropic"
        query = parse_qs(urlsplit(self.path).query)
        limit = int(query.get("limit", ["20"])[0])
        after = query.get("after", query.get("after_id", [None]))[0]
        batches = [batch for batch in reversed(self.owner.batches) if batch.style == style][
            self.owner.hidden :
        ]
        self.owner.hidden = 0
        ids = [batch.id for batch in batches]
        rest = batches[ids.index(after) + 1 :] if after in ids else batches
        page = [self._object(batch) for batch in rest[:limit]]
        ends = {"first_id": page[0]["id"] if page else None, "last_id": page[-1]["id"] if page else None}
        self._json({"object": "list", "data": page, "has_more": len(rest) > limit, **ends})

    def _object(self, batch: Batch) -> dict[str, Any]:
        if batch.style == "openai":
            return openai_object(batch)
        return anthropic_object(batch, self.owner.root)

    def _show(self, batch: Batch | None) -> None:
        if batch is None:
            self._json({"error": {"message": "no such batch", "type": "not_found_error"}}, 404)
        else:
            self._json(self._object(batch))

    def _json(self, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self._send(json.dumps(body).encode(), "application/json", status, headers)

    def _send(
        self, content: bytes, kind: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
