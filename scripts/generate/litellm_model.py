"""Every provider, through LiteLLM's `acompletion`. The only module that imports LiteLLM, which
takes seconds.

LiteLLM's own retries are off: the runner has the only retry layer. Keys come from the environment,
under the names that the providers use, and are removed from every message.
"""

import logging
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ..errors import UsageError
from .types import JSON, CallError, ModelOptions, Reply, Request

_CONNECTION_TRIES = 4
_SECRET_NAME = re.compile(r"api[-_]?key|authorization|secret|password|credential|token$|cookie", re.I)
_CLOUD_LOGIN = {"bedrock", "bedrock_converse", "sagemaker", "vertex_ai", "azure", "github_copilot"}
"""Providers that can log in without a key in the environment."""
_NO_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|credit balance is too low|insufficient (balance|credit)", re.I
)
_NOT_CONNECTED = re.compile(r"Connection error|Cannot connect to host|connection refused", re.I)
_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)(?::| -) )+")


class LiteLLMModel:
    """A model that LiteLLM reaches.

    `call_name` and `api_key` serve a server that this program started itself, which goes under a
    name of its own; `request_extras` gives further arguments for one request (a grammar for its
    answer, say). Raises UsageError for a name that LiteLLM cannot place, a key among the extras, or
    a bad base URL.
    """

    def __init__(
        self,
        name: str,
        options: ModelOptions,
        *,
        call_name: str | None = None,
        api_key: str | None = None,
        max_connections: int | None = None,
        request_extras: Callable[[Request], dict[str, Any]] | None = None,
    ) -> None:
        _check_options(name, options)
        self._litellm = _load_litellm()
        self._name = name
        self._options = options
        self._call_name = call_name or name
        self._api_key = api_key
        self._max_connections = max_connections
        self._request_extras = request_extras
        self._short_name, self._provider = _resolve(self._litellm, self._call_name)
        self._sent, self._not_sent = _supported(
            self._litellm, self._short_name, self._provider, _asked(options)
        )
        self._connected = False
        self._failed_connections = 0

    @property
    def name(self) -> str:
        """The name given to `--model`."""
        return self._name

    @property
    def settings(self) -> dict[str, JSON]:
        """Return provider, server and parameters, with those that cannot be sent and why."""
        settings: dict[str, JSON] = {"provider": self._provider}
        if self._options.base_url is not None:
            settings["base_url"] = self._options.base_url
        settings.update(self._sent)
        if self._options.extras:
            settings["extras"] = self._options.extras
        if self._not_sent:
            settings["not_sent"] = dict(self._not_sent)
        return settings

    @property
    def max_connections(self) -> int | None:
        """Return the bound given when the model was made."""
        return self._max_connections

    async def open(self) -> None:
        """Check that there is a key. Raises UsageError naming the environment variable."""
        if self._api_key is not None or self._provider in _CLOUD_LOGIN:
            return
        missing = self._missing_keys()
        if not missing:
            return
        if self._options.base_url is not None:
            # A server of the user's own often needs no key, but its client refuses to send none.
            self._api_key = "none"
            return
        one_of = "one of " if self._provider == "gemini" else ""
        raise UsageError(f"no key for {self._name}: set {one_of}{', '.join(missing)} in the environment")

    async def close(self) -> None:
        """Close LiteLLM's connections."""
        await self._litellm.close_litellm_async_clients()

    async def complete(self, request: Request) -> Reply:
        """Ask once; raises CallError with LiteLLM's error classified."""
        try:
            response = await self._litellm.acompletion(**self._arguments(request))
        except Exception as error:  # LiteLLM raises many kinds, not all of them its own
            raise self._call_error(error) from None
        self._connected = True
        return _reply(response)

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._call_name,
            "messages": [
                {"role": "system", "content": request.system_prompt},
                {"role": "user", "content": request.prompt},
            ],
            # The runner's deadline is the one that counts; this one only frees the connection.
            "timeout": self._options.attempt_timeout_s + 5,
            "max_retries": 0,
            **self._sent,
            **self._options.extras,
        }
        if self._options.base_url is not None:
            arguments["api_base"] = self._options.base_url
        if self._api_key is not None:
            arguments["api_key"] = self._api_key
        if self._request_extras is not None:
            arguments.update(self._request_extras(request))
        return arguments

    def _call_error(self, error: Exception) -> CallError:
        text = f"{error} {getattr(error, 'body', None) or ''}"
        if not self._connected and _NOT_CONNECTED.search(text):
            self._failed_connections += 1
            if self._failed_connections >= _CONNECTION_TRIES:
                where = self._options.base_url or self._provider
                return CallError(
                    f"no server answers at {where} ({self._failed_connections} attempts); "
                    "is it running, and is the address right?",
                    retryable=False,
                    fatal=True,
                )
        status = getattr(error, "status_code", None)
        fatal = status in (401, 402, 404) or bool(_NO_QUOTA.search(text))
        return CallError(
            self._message(error, status),
            retryable=not fatal and _is_retryable(status, text),
            retry_after_s=_retry_after_s(error),
            fatal=fatal,
        )

    def _message(self, error: Exception, status: object) -> str:
        text = " ".join(_PREFIX.sub("", str(error)).split("Traceback")[0].split())
        hint = ""
        if status == 401:
            hint = f"; check {self._key_names() or 'the key in the environment'}"
        elif status == 404:
            hint = f"; check the model name {self._name}"
        code = f"HTTP {status}: " if isinstance(status, int) and status != 200 else ""
        return f"{code}{redacted(text)[:300]}{hint}"

    def _key_names(self) -> str:
        usual = self._usual_key()
        return usual if usual in os.environ else ", ".join(self._missing_keys())

    def _missing_keys(self) -> list[str]:
        usual = self._usual_key()
        if os.environ.get(usual) == "":  # LiteLLM takes an empty key for a key
            return [usual]
        missing = self._litellm.validate_environment(self._call_name)["missing_keys"]
        return [str(name) for name in missing]

    def _usual_key(self) -> str:
        return f"{self._provider.upper()}_API_KEY"


def redacted(text: str) -> str:
    """Return `text` without the values of the environment's keys, tokens and passwords."""
    for name, value in os.environ.items():
        if len(value) >= 8 and re.search(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", name, re.I):
            text = text.replace(value, f"[{name}]")
    return text


def _load_litellm() -> ModuleType:
    # Otherwise the import fetches a price list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a parameter that is not sent must be known
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
    module: ModuleType = litellm
    return module


def _check_options(name: str, options: ModelOptions) -> None:
    if options.constrain:
        raise UsageError(f"--constrain works with local/ models, not with {name}")
    for key in _keys(options.extras):
        if _SECRET_NAME.search(key):
            raise UsageError(
                f"-M {key}: keys are read from the environment only, so that none gets into a file"
            )
    if options.base_url is not None:
        parts = urlsplit(options.base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"--base-url {options.base_url}: expected http://host:port/path")
        if "@" in parts.netloc or parts.query:
            raise UsageError("--base-url holds a password or key: put it into the environment")


def _keys(value: JSON) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


def _resolve(litellm: ModuleType, name: str) -> tuple[str, str]:
    """Return LiteLLM's (model, provider) for `name`."""
    try:
        model, provider, _, _ = litellm.get_llm_provider(name)
    except Exception:
        raise UsageError(
            f"unknown model {name!r}: expected provider/model as LiteLLM writes it "
            "(openai/gpt-5.4, openrouter/..., hosted_vllm/... with --base-url), sim/... or local/..."
        ) from None
    return str(model), str(provider)


def _asked(options: ModelOptions) -> dict[str, JSON]:
    asked: dict[str, JSON] = {
        "temperature": options.temperature,
        "reasoning_effort": options.reasoning_effort,
        "max_tokens": options.max_tokens,
        "seed": options.seed,
    }
    return {name: value for name, value in asked.items() if value is not None}


def _supported(
    litellm: ModuleType, model: str, provider: str, asked: Mapping[str, JSON]
) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Return the parameters that LiteLLM can send to this model, and the others with the reason."""
    sent: dict[str, JSON] = {}
    not_sent: dict[str, JSON] = {}
    for name, value in asked.items():
        try:
            litellm.utils.get_optional_params(
                model=model, custom_llm_provider=provider, **sent, **{name: value}
            )
        except litellm.UnsupportedParamsError:
            not_sent[name] = f"{value}: the provider rejects it"
        else:
            sent[name] = value
    return sent, not_sent


def _reply(response: Any) -> Reply:
    """Return what counts of a response; text in a reasoning field is never the answer."""
    if not response.choices:
        raise CallError("the response holds no choices", retryable=True)
    choice = response.choices[0]
    usage = _usage(getattr(response, "usage", None))
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return Reply(
        text=_text(choice.message.content),
        finish_reason=choice.finish_reason,
        usage=usage,
        # Without token counts LiteLLM multiplies prices by zero.
        cost_usd=float(cost) if cost is not None and usage is not None else None,
        response_model=response.model,
    )


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return None if content is None else str(content)


def _usage(usage: Any) -> dict[str, int] | None:
    counts = {
        "input_tokens": getattr(usage, "prompt_tokens", None),
        "output_tokens": getattr(usage, "completion_tokens", None),
        "reasoning_tokens": getattr(
            getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None
        ),
        "cached_tokens": getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None),
    }
    known = {name: int(count) for name, count in counts.items() if count is not None}
    return known if any(known.values()) else None


def _is_retryable(status: object, text: str) -> bool:
    if "Invalid response object" in text:  # an answer in a form that LiteLLM cannot read
        return False
    if not isinstance(status, int):
        return True  # no HTTP answer at all: the network
    return status in (200, 408, 409, 425, 429) or status >= 500


def _retry_after_s(error: Exception) -> float | None:
    """Return the seconds that the server asked to wait: `retry-after-ms`, seconds or an HTTP date."""
    headers: dict[str, str] = {}
    for source in (
        getattr(getattr(error, "response", None), "headers", None),
        getattr(error, "litellm_response_headers", None),
    ):
        headers.update({str(name).lower(): str(value) for name, value in (source or {}).items()})
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text is None or (seconds := _number(text)) is not None:
        return None if text is None else seconds
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - datetime.now(UTC)).total_seconds(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
