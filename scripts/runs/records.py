"""From a reply or an error to the line of `outputs.jsonl`."""

from datetime import UTC, datetime
from typing import Final

from ..models.types import Reply, Request
from .outputs import Record

ANSWER: Final = "answer"
TRUNCATED: Final = "truncated"
EMPTY: Final = "empty"
REASONING_ONLY: Final = "reasoning_only"
ERROR: Final = "error"
_CUT: Final = frozenset({"length", "max_tokens"})


def reply_record(request: Request, reply: Reply, latency_s: float, attempts: int) -> Record:
    """Return the record of a reply.

    Its `status` says what came: an `answer`, one that was cut off (`truncated`), no text at all
    (`empty`), or reasoning and nothing else (`reasoning_only`). All four are outcomes that were paid
    for; none is asked again.
    """
    return {
        "prompt_id": request.prompt_id,
        "repeat": request.repeat,
        "output": reply.text,
        "finish_reason": reply.finish_reason,
        "error": None,
        "usage": reply.usage,
        "cost_usd": reply.cost_usd,
        "latency_s": round(latency_s, 4),
        "attempts": attempts,
        "created_at": _now(),
        "response_model": reply.response_model,
        "status": reply_status(reply),
    }


def error_record(request: Request, error: str, latency_s: float, attempts: int) -> Record:
    """Return the record of a request that failed for good."""
    record = reply_record(request, Reply(None), latency_s, attempts)
    return {**record, "error": error or "unknown error", "status": ERROR}


def reply_status(reply: Reply) -> str:
    """Return what kind of reply it is, by its content alone."""
    if reply.text is not None and reply.text.strip():
        return TRUNCATED if reply.finish_reason in _CUT else ANSWER
    has_reasoned = bool((reply.usage or {}).get("reasoning_tokens"))
    return REASONING_ONLY if reply.has_reasoning or has_reasoned else EMPTY


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
