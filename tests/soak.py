"""A run against a server that fails often, killed in the middle: what was paid, and what was kept.

The server decides by a hash of the prompt and of how often it was asked, so a soak has the same faults every
time, whatever the order of calls.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import blake2b
from pathlib import Path

import orjson
from fault_server import Answer, Call, FaultServer, broken_off, drip, failure, hang, html, reply

CLIENT = Path(__file__).with_name("soak_client.py")
FAULT_SHARE = 0.05


def _http_date() -> Answer:
    return failure(429, retry_after=format_datetime(datetime.now(UTC), usegmt=True))


FAULTS: tuple[Callable[[], Answer], ...] = (
    lambda: failure(429),
    lambda: failure(429, retry_after="0"),
    lambda: failure(429, retry_after="0.05"),
    lambda: failure(429, retry_after_ms="30"),
    _http_date,
    lambda: failure(429, x_ratelimit_remaining_requests="0", x_ratelimit_reset_requests="20ms"),
    lambda: failure(500),
    lambda: failure(502),
    lambda: failure(503, retry_after="0.02"),
    lambda: failure(529),
    lambda: hang(600.0),
    drip,
    broken_off,
    html,
    lambda: Answer(200, '{"id": "torn'),
    # Whole replies that are odd: they are paid for, and must not be bought again.
    lambda: reply(None, finish_reason="length", reasoning_content="perhaps 5 lakh"),
    lambda: reply("", finish_reason="stop"),
    lambda: reply("The right amount is", finish_reason="length"),
    lambda: reply(usage=None),
    lambda: reply(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
    lambda: reply(model="served-2026-02-02"),
)


class PaidLog:
    """The server's side: what it answers, and how often each prompt was answered successfully."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.faults: Counter[int] = Counter()
        self.last_s = time.monotonic()

    def behave(self, call: Call) -> Answer:
        """Return the answer to a call: one in twenty is a fault."""
        key = _key(call)
        self.asked[key] += 1
        self.last_s = time.monotonic()
        number = int.from_bytes(blake2b(f"{key}:{self.asked[key]}".encode(), digest_size=8).digest(), "big")
        if number / 2**64 >= FAULT_SHARE:
            return reply()
        kind = number % len(FAULTS)
        self.faults[kind] += 1
        return FAULTS[kind]()

    def note(self, call: Call, answer: Answer) -> None:
        """Note that an answer has been sent."""
        if answer.is_success:
            self.paid[_key(call)] += 1


def _key(call: Call) -> str:
    texts = "\0".join(str(message["content"]) for message in call.body["messages"])
    return blake2b(texts.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Soaked:
    """What a soak showed."""

    requests: int
    """Requests of the run."""
    seconds: float
    calls: int
    """Calls that the server got."""
    faults: int
    """Calls that it answered with a fault, odd replies included."""
    records: int
    """Lines in outputs.jsonl."""
    keys: int
    """Different (prompt_id, repeat) with a valid record."""
    errors: int
    """Error records."""
    paid: int
    """Successful answers that the server sent."""
    paid_twice: int
    """Prompts among them that were answered successfully more than once."""
    lost_at_kills: list[int]
    """For each kill: successful answers that had not reached the journal."""
    explained: bool
    """True if there are as many second payments as answers were lost at the kills."""
    calls_of_rerun: int
    """Calls that the finished run makes when it is run again."""
    shown: str
    """What the last session printed."""


def soak(
    folder: Path, *, limit: int, requests: int, connections: int, kind: str, kill_at: list[int]
) -> Soaked:
    """Generate `limit` slots (0: all), killed whenever the journal has `kill_at` lines, up to the end."""
    log = PaidLog()
    outputs = folder / "run" / "outputs.jsonl"
    started = time.monotonic()
    with FaultServer(log.behave, log.note, keeps_calls=False) as server:
        command = [
            sys.executable,
            str(CLIENT),
            server.url,
            str(folder / "run"),
            str(limit),
            str(connections),
            kind,
        ]
        lost: list[int] = []
        for lines in kill_at:
            _kill_at(command, outputs, lines)
            _wait_for_quiet(log)
            lost.append(sum(log.paid.values()) - sum(lost) - _lines(outputs))
        last = subprocess.run(command, capture_output=True, text=True, check=False)
        assert last.returncode == 0, last.stdout + last.stderr[-3000:]
        calls = server.count
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr[-3000:]
        rerun = server.count - calls
    records = [orjson.loads(line) for line in outputs.read_bytes().splitlines()]
    valid = [record for record in records if record["error"] is None]
    paid_twice = [key for key, count in log.paid.items() if count > 1]
    return Soaked(
        requests=requests,
        seconds=time.monotonic() - started,
        calls=calls,
        faults=log.faults.total(),
        records=len(records),
        keys=len({(record["prompt_id"], record["repeat"]) for record in valid}),
        errors=len(records) - len(valid),
        paid=log.paid.total(),
        paid_twice=len(paid_twice),
        lost_at_kills=lost,
        explained=log.paid.total() - len(log.paid) == sum(lost),
        calls_of_rerun=rerun,
        shown=last.stdout,
    )


def check(result: Soaked, connections: int) -> None:
    """Raise AssertionError unless the run is complete, without doubles, and paid once but for the kills."""
    assert result.keys == result.records == result.requests
    assert result.errors == 0
    assert result.calls_of_rerun == 0
    assert result.faults >= 0.5 * FAULT_SHARE * result.requests
    assert all(0 <= lost <= connections for lost in result.lost_at_kills)
    assert result.explained
    assert result.paid == result.requests + sum(result.lost_at_kills)


def _kill_at(command: list[str], outputs: Path, lines: int) -> None:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while _lines(outputs) < lines:
        assert process.poll() is None, process.communicate()[1][-3000:]
        time.sleep(0.01)
    process.kill()
    process.communicate()


def _wait_for_quiet(log: PaidLog) -> None:
    """Wait until the calls in flight at a kill have run out at the server."""
    while time.monotonic() - log.last_s < 0.5:
        time.sleep(0.05)


def _lines(path: Path) -> int:
    """Return the whole lines of a file, 0 if there is none."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
