"""Names that `-M` may not set, because they would replace what the run says of itself."""

from collections.abc import Iterator, Mapping
from typing import Final

from ..errors import UsageError
from .types import JSON

_THE_PROMPTS: Final = "the prompts are the benchmark's; select them with --axis, --limit, ..."
_THE_MODEL: Final = "use --model"
_MAX_TOKENS: Final = "use --max-tokens"
_REASONING: Final = "use --reasoning-effort"
_ADDRESS: Final = "use --base-url"
_RETRIES: Final = "use --max-retries"
_DEADLINE: Final = "use --attempt-timeout"
_ONE_WHOLE_ANSWER: Final = "each call asks for one whole answer; use --repeats for more"
_NO_MOCK: Final = "answers come from the model; use --model sim/... for simulated ones"
_ALL_SENT: Final = "what is sent is what the run records"
_PRICE: Final = "use --price-in and --price-out"

_RESERVED: Final = {
    **dict.fromkeys(
        (
            "messages", "prompt", "prompts", "input", "system", "system_prompt", "instructions", "contents",
            "system_instruction", "prompt_id", "prompt_variables", "initial_prompt_value", "roles",
            "final_prompt_value", "custom_prompt_dict", "supports_system_message",
            "litellm_system_prompt", "user_continue_message", "assistant_continue_message",
        ),
        _THE_PROMPTS,
    ),
    **dict.fromkeys(
        (
            "model", "models", "model_list", "deployment_id", "custom_llm_provider", "fallbacks",
            "context_window_fallback_dict", "content_policy_fallbacks", "default_fallbacks", "max_fallbacks",
            "model_alias_map", "silent_model", "hf_model_name", "base_model", "use_litellm_proxy",
        ),
        _THE_MODEL,
    ),
    "temperature": "use --temperature",
    "seed": "use --seed",
    **dict.fromkeys(
        ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_tokens_to_sample"), _MAX_TOKENS
    ),
    "reasoning_effort": _REASONING,
    **dict.fromkeys(
        ("stream", "stream_options", "stream_response", "n", "best_of", "echo", "suffix"), _ONE_WHOLE_ANSWER
    ),
    **dict.fromkeys(("timeout", "request_timeout", "stream_timeout", "force_timeout"), _DEADLINE),
    **dict.fromkeys(
        ("mock_response", "mock_tool_calls", "mock_timeout", "mock_delay", "cache", "caching"), _NO_MOCK
    ),
    **dict.fromkeys(("api_base", "base_url", "api_type"), _ADDRESS),
    **dict.fromkeys(
        ("num_retries", "max_retries", "retry_policy", "retry_strategy", "cooldown_time"), _RETRIES
    ),
    **dict.fromkeys(
        (
            "complete_response", "guardrails", "drop_params", "additional_drop_params",
            "allowed_openai_params",
        ),
        _ALL_SENT,
    ),
    **dict.fromkeys(("client", "logger_fn", "acompletion", "text_completion", "shared_session"), _ALL_SENT),
}  # fmt: skip
"""Name to what to use instead."""
_FORMATS: Final = frozenset(
    {
        "grammar", "json_schema", "response_format", "structured_outputs", "guided_regex", "guided_json",
        "guided_grammar", "guided_choice",
    }
)  # fmt: skip


def check_extras(extras: Mapping[str, JSON], *, constrained: bool) -> None:
    """Raise UsageError for an extra that would replace the prompts, the model or a setting.

    What stands in `extra_body` goes into the same request, so the same names are refused there.
    """
    for shown, name in _names(extras):
        plain = name.strip().lower().replace("-", "_")
        instead = _RESERVED.get(plain)
        if "cost_per_" in plain:
            instead = _PRICE
        if instead is None and constrained and plain in _FORMATS:
            instead = "--constrain sets the format of the answers; leave one of the two away"
        if instead is not None:
            raise UsageError(f"-M {shown}: not to be set with -M; {instead}")


def _names(extras: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for name, value in extras.items():
        yield name, name
        if name == "extra_body" and isinstance(value, dict):
            yield from ((f"extra_body.{inner}", inner) for inner in value)
