"""The lines of a batch: the bodies that are sent, and the results of OpenAI and Anthropic."""

import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import orjson

from ..errors import UsageError
from ..models.errors import plain_finish_reason, redacted
from ..models.types import JSON, CallError, Reply, Request
from .types import LineResult, line_error

_SENT: Final = ("temperature", "reasoning_effort", "max_tokens", "max_completion_tokens", "seed")
_ABOUT: Final = ("provider", "base_url", "extras", "not_sent")
_ABOUT_CALLS: Final = ("extra_headers", "timeout", "organization", "extra_query")
"""Extras that shape a live call and have no place in the body of a request."""
_LONGEST: Final = 300
_UNHANDLED: Final = {"batch_expired", "batch_cancelled"}
_THOUGHT: Final = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
}
"""Anthropic's words in OpenAI's, as LiteLLM gives them for live calls."""


class Bodies:
    """Makes bodies for one model and its settings, those of the run's manifest.

    Raises UsageError for settings that a batch cannot carry.
    """

    def __init__(self, litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> None:
        check_settings(litellm, settings)
        self._model, provider, _, _ = litellm.get_llm_provider(model)
        sent = {name: settings[name] for name in _SENT if name in settings}
        try:
            self._parameters: dict[str, Any] = litellm.utils.get_optional_params(
                model=self._model, custom_llm_provider=provider, **sent, **_extras(settings)
            )
        except litellm.BadRequestError as error:
            raise UsageError(redacted(" ".join(str(error).split()))[:_LONGEST]) from None
        self._config = litellm.utils.ProviderConfigManager.get_provider_chat_config(
            model=self._model, provider=litellm.LlmProviders(provider)
        )

    def body(self, request: Request) -> dict[str, Any]:
        """Return the body for one request."""
        body: dict[str, Any] = self._config.transform_request(
            model=self._model,
            messages=[
                {"role": "system", "content": request.system_prompt},
                {"role": "user", "content": request.prompt},
            ],
            optional_params=dict(self._parameters),
            litellm_params={},
            headers={},
        )
        # LiteLLM's client would take these two apart; nobody streams a batch.
        body.update(body.pop("extra_body", None) or {})
        body.pop("stream", None)
        return body


def _extras(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    extras = settings.get("extras")
    return extras if isinstance(extras, dict) else {}


def check_settings(litellm: ModuleType, settings: Mapping[str, JSON]) -> None:
    """Raise UsageError for a setting that shapes live calls and cannot go into a batch."""
    about_calls = {*litellm.types.utils.all_litellm_params, *_ABOUT_CALLS}
    unknown = [name for name in settings if name not in _SENT and name not in _ABOUT]
    unknown += [f"-M {name}" for name in _extras(settings) if name in about_calls]
    if unknown:
        raise UsageError(f"--batch cannot send {unknown[0]}; leave it out, or run without --batch")


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
    except CallError as fault:  # the answer was broken off
        return LineResult(custom_id, error=fault)
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
    text, refusal = _text(choice["message"].get("content")), choice["message"].get("refusal")
    reason = plain_finish_reason(choice.get("finish_reason"))
    return Reply(
        text=text or refusal or text,
        finish_reason="refusal" if refusal and not text else reason,
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
