"""Reading the result lines of OpenAI's and Anthropic's batches."""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ..models.types import Reply
from .faults import line_error
from .wire import LineResult

_UNHANDLED: Final = {"batch_expired", "batch_cancelled"}
_THOUGHT: Final = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
}
"""Anthropic's words in OpenAI's, as LiteLLM gives them for live calls."""


def read_openai_line(line: bytes) -> LineResult | None:
    """Return what a line of an output or error file says; None if it is not such a line."""
    try:
        item = orjson.loads(line)
        custom_id, error, response = item["custom_id"], item.get("error"), item.get("response")
        if not isinstance(custom_id, str):
            return None
        if response is None and error is None:
            return None
        if response is None and error.get("code") in _UNHANDLED:
            return LineResult(custom_id)
        if response is not None and response["status_code"] == 200 and response["body"].get("choices"):
            return LineResult(custom_id, reply=_openai_reply(response["body"]))
        return _openai_error(custom_id, error or {}, response or {})
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def read_anthropic_line(line: bytes) -> LineResult | None:
    """Return what a line of the results says; None if it is not such a line."""
    try:
        item = orjson.loads(line)
        custom_id, result = item["custom_id"], item["result"]
        if not isinstance(custom_id, str):
            return None
        if result["type"] == "succeeded":
            return LineResult(custom_id, reply=_anthropic_reply(result["message"]))
        if result["type"] == "errored":
            # The error stands in an envelope of the same name, in older results directly.
            error = result["error"].get("error") or result["error"]
            fault = line_error(None, str(error.get("type") or ""), str(error.get("message") or ""))
            return LineResult(custom_id, error=fault)
        return LineResult(custom_id) if result["type"] in ("expired", "canceled") else None
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None


def _openai_error(custom_id: str, error: Mapping[str, Any], response: Mapping[str, Any]) -> LineResult:
    status = response.get("status_code")
    body = response.get("body")
    told = (body.get("error") if isinstance(body, dict) else None) or error
    if not isinstance(told, dict):
        told = {"message": str(told)}
    code = str(told.get("code") or told.get("type") or "")
    text = str(told.get("message") or code or "the response holds no choices")
    # A reply without choices is not an answer, but another attempt may bring one.
    fault = line_error(None if status == 200 else status, code, text, unanswered=status in (None, 200))
    return LineResult(custom_id, error=fault)


def _openai_reply(body: Mapping[str, Any]) -> Reply:
    choice = body["choices"][0]
    usage = body.get("usage") or {}
    counts = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
        "reasoning_tokens": (usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
        "cached_tokens": (usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
    }
    return Reply(
        text=_text(choice["message"].get("content")),
        finish_reason=choice.get("finish_reason"),
        usage=_known(counts),
        response_model=body.get("model"),
        has_reasoning=_has_reasoning(choice["message"]),
    )


def _anthropic_reply(message: Mapping[str, Any]) -> Reply:
    usage = message.get("usage") or {}
    cached = usage.get("cache_read_input_tokens") or 0
    inputs = [usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")]
    counts = {
        "input_tokens": None if inputs[0] is None else sum(count or 0 for count in inputs),
        "output_tokens": usage.get("output_tokens"),
        "cached_tokens": cached or None,
    }
    reason = message.get("stop_reason")
    return Reply(
        text=_text([block for block in message["content"] if block.get("type") == "text"] or None),
        finish_reason=_FINISH.get(reason, reason) if isinstance(reason, str) else None,
        usage=_known(counts),
        response_model=message.get("model"),
        has_reasoning=any("thinking" in str(block.get("type")) for block in message["content"]),
    )


def _text(content: Any) -> str | None:
    """Return the answer alone: blocks of text joined, a leading thought in `<think>` tags left out."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return None if content is None else _THOUGHT.sub("", str(content), count=1)


def _has_reasoning(message: Mapping[str, Any]) -> bool:
    if message.get("reasoning_content") or message.get("reasoning"):
        return True
    content = message.get("content")
    return isinstance(content, str) and _THOUGHT.match(content) is not None


def _known(counts: Mapping[str, Any]) -> dict[str, int] | None:
    known = {name: int(count) for name, count in counts.items() if count is not None}
    return known if any(known.values()) else None
