"""What an error means for the run. The exceptions have the attributes that LiteLLM's have."""

import json
from typing import Any

import pytest

from rupeebias.models.errors import call_error, redacted

SENT = ("temperature", "reasoning_effort", "max_tokens", "seed")


class ProviderError(Exception):
    """An exception as LiteLLM raises it."""

    def __init__(self, message: str, status_code: int | None = None, **headers: str) -> None:
        super().__init__(message)
        if status_code is not None:
            self.status_code = status_code
        self.litellm_response_headers = {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.mark.parametrize("status", [200, 408, 409, 425, 429, 500, 502, 503, 504, 529, None])
def test_passing_faults_are_retried(status: int | None) -> None:
    error = call_error(ProviderError("busy", status))
    assert (error.retryable, error.fatal) == (True, False)
    assert error.throttled == (status == 429)


@pytest.mark.parametrize("status", [400, 405, 413, 422])
def test_a_bad_request_is_not_retried_and_stops_nothing(status: int) -> None:
    error = call_error(ProviderError("no", status))
    assert (error.retryable, error.fatal, error.stops_run) == (False, False, False)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_fails_for_every_request_stops_the_run(status: int) -> None:
    error = call_error(ProviderError("no", status))
    assert (error.retryable, error.fatal, error.stops_run) == (False, True, True)


def test_a_moderated_prompt_is_that_prompts_own_matter() -> None:
    error = call_error(ProviderError("Input was flagged by moderation", 403))
    assert (error.retryable, error.fatal) == (False, False)


@pytest.mark.parametrize(
    "message",
    [
        "RateLimitError: You exceeded your current quota, please check your plan and billing details",
        '{"error": {"code": "insufficient_quota"}}',
        "Your credit balance is too low to access the Anthropic API",
        "Insufficient Balance",
    ],
)
@pytest.mark.parametrize("status", [400, 429])
def test_a_spent_quota_is_no_rate_limit(message: str, status: int) -> None:
    error = call_error(ProviderError(message, status, retry_after="1"))
    assert (error.retryable, error.fatal, error.throttled) == (False, True, False)


@pytest.mark.parametrize(
    ("message", "rejected"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default",
            "temperature",
        ),
        ("Unsupported parameter: 'seed' is not supported with this model.", "seed"),
        ("reasoning.effort: invalid value 'none'", "reasoning_effort"),
        ("`temperature` may only be set to 1 when thinking is enabled; invalid", "temperature"),
        ("thinking: Extra inputs are not permitted", "reasoning_effort"),
        ("Unsupported parameter: 'max_tokens'", None),  # it bounds the cost: never left out
        ("Unsupported parameter: 'top_p'", None),  # not ours
        ("The temperature of the discussion was too high", None),
        ("prompt is too long", None),
    ],
)
def test_a_rejected_parameter_is_named(message: str, rejected: str | None) -> None:
    assert call_error(ProviderError(message, 400), parameters=SENT).rejected == rejected
    assert call_error(ProviderError(message, 500), parameters=SENT).rejected is None


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry_after": "2.5"}, 2.5),
        (503, {"retry_after": "7"}, 7.0),
        (429, {"x_ratelimit_reset_requests": "1m30s"}, 90.0),
        (500, {"x_ratelimit_reset_requests": "1m30s"}, None),
        (429, {}, None),
    ],
)
def test_the_wait_comes_from_the_headers(status: int, headers: dict[str, Any], seconds: float | None) -> None:
    assert call_error(ProviderError("wait", status, **headers)).retry_after_s == seconds


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached on tokens per day (TPD). Please try again in 7m12s. Visit", 432.0),
        ("Rate limit reached for x on requests per min. Please try again in 8.64s.", 8.64),
        ("Please try again in 250ms.", 0.25),
        ('{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36s"}', 36.0),
        ("try again in a while", None),
    ],
)
def test_a_wait_in_words_counts_where_no_header_names_one(message: str, seconds: float | None) -> None:
    assert call_error(ProviderError(message, 429)).retry_after_s == seconds
    assert call_error(ProviderError(message, 429, retry_after="1")).retry_after_s == 1.0
    assert call_error(ProviderError(message, 500)).retry_after_s is None


def test_a_quota_that_is_spent_for_today_stops_a_run_that_can_be_resumed() -> None:
    text = '{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "retryDelay": "36s"}'
    error = call_error(ProviderError(text, 429))
    assert (error.retryable, error.fatal, error.stops_run) == (False, False, True)


def gemini(window: str) -> str:
    """What Google says of a spent quota, by the minute and by the day alike but for the id."""
    violation = {"quotaId": f"GenerateRequests{window}PerProject"}
    details = [{"violations": [violation]}, {"@type": "x/google.rpc.RetryInfo", "retryDelay": "2.4s"}]
    words = "You exceeded your current quota, please check your plan. Please retry in 2.4s."
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": words, "details": details}
    return f"litellm.RateLimitError: geminiException - {json.dumps({'error': error})}"


def test_a_quota_of_the_minute_is_waited_for_though_it_says_that_it_is_exceeded() -> None:
    error = call_error(ProviderError(gemini("PerMinute"), 429))
    assert (error.retryable, error.throttled, error.fatal, error.stops_run) == (True, True, False, False)
    assert error.retry_after_s == 2.4
    error = call_error(ProviderError(gemini("PerDay"), 429))
    assert (error.retryable, error.fatal, error.stops_run) == (False, False, True)


@pytest.mark.parametrize(
    "message",
    [
        "BedrockException: Too many tokens per day, please wait before trying again.",
        '{"error": {"message": "Rate limit exceeded: free-models-per-day", "code": 429}}',
    ],
)
def test_a_limit_of_the_day_without_a_window_stops_the_run(message: str) -> None:
    error = call_error(ProviderError(message, 429))
    assert (error.retryable, error.fatal, error.stops_run) == (False, False, True)
    # With a wait in the headers it is the runner that compares it with the time it has.
    waits = call_error(ProviderError(message, 429, retry_after="86400"))
    assert (waits.retryable, waits.retry_after_s) == (True, 86_400.0)


def test_codes_count_before_words() -> None:
    body = (
        '{"error": {"code": "insufficient_quota", "message": "Too many requests per day, try again in 5s"}}'
    )
    assert call_error(ProviderError(body, 429)).fatal
    body = '{"error": {"code": "content_filter", "message": "daily limit"}}'
    assert not call_error(ProviderError(body, 403)).fatal


def test_faults_of_this_machine_and_models_that_are_gone_stop_the_run() -> None:
    missing = call_error(ProviderError("APIConnectionError: No module named 'boto3'", 500))
    assert (missing.retryable, missing.fatal) == (False, True)
    gone = call_error(ProviderError("This model was retired", 410))
    assert (gone.retryable, gone.fatal) == (False, True)


@pytest.mark.parametrize(
    "message", ["Reasoning is mandatory for this endpoint", "thinking_budget is out of range (128 to 32768)"]
)
def test_reasoning_that_cannot_be_switched_off_is_a_rejected_parameter(message: str) -> None:
    assert call_error(ProviderError(message, 400), parameters=SENT).rejected == "reasoning_effort"


def test_a_message_is_short_plain_and_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    noisy = (
        f"litellm.AuthenticationError: OpenAIException - bad key sk-0123456789 {'x' * 900}\nTraceback (most"
    )
    error = call_error(ProviderError(noisy, 401), hint=lambda status: f"; hint for {status}")
    assert error.message.startswith("HTTP 401: bad key [SOME_API_KEY] xxx")
    assert error.message.endswith("; hint for 401")
    assert len(error.message) < 340
    assert redacted("sk-0123456789") == "[SOME_API_KEY]"
