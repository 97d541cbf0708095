"""Every provider, through LiteLLM's `acompletion`. The only module that imports LiteLLM, which
takes seconds.

LiteLLM's own retries are off: the runner has the only retry layer. Keys come from the environment,
under the names that the providers use, and are removed from every message.
"""

import logging
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

from rupeebias.metric.design import Design

from ..errors import UsageError
from .errors import call_error, is_not_connected, plain_finish_reason
from .grammar import ExtraBody, find_constraint, regexes
from .prices import Price
from .secrets import check_key, check_no_secret
from .types import JSON, CallError, ModelOptions, Reply, Request

_NEVER_S: Final = 86_400.0
_CONNECTION_TRIES: Final = 4
_CLOUD_LOGIN: Final = {"bedrock", "bedrock_converse", "sagemaker", "vertex_ai", "azure", "github_copilot"}
"""Providers that can log in without a key in the environment."""
_OTHER_KEYS: Final = {
    "gemini": ("GOOGLE_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "together_ai": ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN"),
}
"""Providers whose key may stand under a further name."""
_INSTEAD: Final = {
    "the prompts are the benchmark's; select them with --axis, --limit, ...": (
        "messages prompt prompts input system system_prompt instructions contents system_instruction "
        "litellm_system_prompt"
    ),
    "use --model": "model models deployment_id",
    "use --temperature": "temperature",
    "use --seed": "seed",
    "use --max-tokens": "max_tokens max_completion_tokens max_output_tokens max_tokens_to_sample",
    "use --reasoning-effort": "reasoning_effort",
    "each call asks for one whole answer; use --repeats for more": (
        "stream stream_options stream_response n best_of echo suffix"
    ),
    "use --attempt-timeout": "timeout request_timeout stream_timeout force_timeout",
    "answers come from the model; use --model sim/... for simulated ones": (
        "mock_response mock_tool_calls mock_timeout mock_delay cache caching"
    ),
    "use --base-url": "api_base base_url api_type",
    "use --max-retries": "num_retries max_retries retry_policy",
    "what is sent is what the run records": (
        "drop_params additional_drop_params fallbacks content_policy_fallbacks default_fallbacks"
    ),
}
"""What to use instead of an extra that would replace what the run says of itself."""
_RESERVED: Final = {name: instead for instead, names in _INSTEAD.items() for name in names.split()}
_FORMATS: Final = ("grammar", "json_schema", "response_format", "structured_outputs")
"""Extras that set the format of answers; those that begin with `guided_` do so too."""
_ABOUT_THE_ACCOUNT: Final = ("api_version", "organization", "metadata", "tags", "ssl_verify")
_CLOUDS: Final = ("aws_", "azure_", "vertex_", "region_name", "bedrock_", "anthropic_organization")
"""Arguments of LiteLLM's own that say where and on whose account a model is served."""


class LiteLLMModel:
    """A model that LiteLLM reaches.

    `call_name` and `api_key` serve a server that this program started itself, which goes under a
    name of its own; `extra_body` gives further fields for a request of a use case (a grammar for its
    answer, say). Raises UsageError for a name that LiteLLM cannot place, a key among the extras, or
    a bad base URL.
    """

    def __init__(
        self,
        name: str,
        options: ModelOptions,
        design: Design,
        *,
        call_name: str | None = None,
        api_key: str | None = None,
        max_connections: int | None = None,
        extra_body: ExtraBody | None = None,
    ) -> None:
        _check_options(name, options)
        self._litellm = _load_litellm()
        _check_own_arguments(self._litellm, options.extras)
        self.name = name
        self.max_connections = max_connections
        self._options = options
        self._design = design
        self._call_name = call_name or name
        self._api_key = api_key
        self._short_name, self._provider = _resolve(self._litellm, self._call_name)
        self._sent, self._not_sent = _supported(
            self._litellm, self._short_name, self._provider, _asked(options)
        )
        self._base_url = options.base_url or _usual_address(self._provider)
        self._price = _price(self._litellm, self._call_name)
        self._extra_body = extra_body
        self._is_held_to_format = not options.constrain
        self._connected = False
        self._failed_connections = 0

    @property
    def settings(self) -> dict[str, JSON]:
        """Return provider, server and parameters, with those that cannot be sent and why."""
        settings: dict[str, JSON] = {"provider": self._provider}
        if self._base_url is not None:
            settings["base_url"] = self._base_url
        settings.update(self._sent)
        if self._options.extras:
            settings["extras"] = self._options.extras
        if self._options.constrain:
            settings["constrain"] = True
            settings["formats"] = dict(regexes(self._design))
        if self._not_sent:
            settings["not_sent"] = dict(self._not_sent)
        return settings

    @property
    def price(self) -> Price | None:
        """Return the price in LiteLLM's map, None if it has none."""
        return self._price

    def leave_out(self, parameter: str, reason: str) -> None:
        """Send `parameter` no more; `settings` then has it under `not_sent`, with the reason."""
        value = self._sent.pop(parameter)
        self._not_sent[parameter] = f"{value}: {reason}"
        if parameter == "max_tokens":  # it bounds the cost of a call: some servers have it by another name
            self._sent["max_completion_tokens"] = value

    async def open(self) -> None:
        """Check that there is a key, and that the server can constrain answers if it is to.

        Raises UsageError naming the environment variable or the option.
        """
        self.check_key()
        if self._api_key is None and self._options.base_url is not None and not self._has_key():
            self._api_key = "none"  # LiteLLM's client refuses to send none
        if self._options.constrain and self._options.base_url is not None:
            key = self._api_key or os.environ.get(self._usual_key())
            is_vllm = self._provider == "hosted_vllm"
            self._extra_body = await find_constraint(
                self._options.base_url, key, self._design, is_vllm=is_vllm
            )

    def check_key(self) -> None:
        """Raise UsageError, naming the variable, if there is no key or one that cannot be sent."""
        if self._api_key is not None or self._provider in _CLOUD_LOGIN:
            return
        for variable in (self._usual_key(), *_OTHER_KEYS.get(self._provider, ())):
            check_key(variable)
        missing = self._missing_keys()
        # A server of the user's own often needs no key.
        if not missing or self._options.base_url is not None:
            return
        one_of = "one of " if self._provider == "gemini" else ""
        raise UsageError(f"no key for {self.name}: set {one_of}{', '.join(missing)} in the environment")

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
        reply = _reply(response, is_priced=self.price is not None)
        self._check_format(request, reply)
        return reply

    def _check_format(self, request: Request, reply: Reply) -> None:
        """See from the first whole answer whether the server obeys; most ignore fields they do not know."""
        if self._is_held_to_format or reply.finish_reason != "stop":
            return
        if re.fullmatch(regexes(self._design)[request.use_case], (reply.text or "").strip()) is None:
            raise CallError(
                f"the server does not hold answers to the format (it said {(reply.text or '')[:60]!r}); "
                "leave --constrain away, or use llama.cpp or vLLM",
                retryable=False,
                fatal=True,
            )
        self._is_held_to_format = True

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._call_name,
            "messages": [
                {"role": "system", "content": request.system_prompt},
                {"role": "user", "content": request.prompt},
            ],
            # The runner's deadline is the one that counts. One of LiteLLM's own would pass while the process
            # is stopped (Ctrl-Z), and replies that have come in by then are paid for.
            "timeout": _NEVER_S,
            "max_retries": 0,
            **self._sent,
            **self._options.extras,
        }
        if self._base_url is not None:
            arguments["api_base"] = self._base_url
        if self._api_key is not None:
            arguments["api_key"] = self._api_key
        if self._extra_body is not None:
            own = arguments.get("extra_body") or {}
            arguments["extra_body"] = {**own, **self._extra_body(request.use_case)}
        return arguments

    def _call_error(self, error: Exception) -> CallError:
        if is_not_connected(error):
            return self._no_server()
        return call_error(error, parameters=self._sent, hint=self._hint)

    def _no_server(self) -> CallError:
        """Return the error for a server that took no call; some tries before the first reply are enough."""
        where = self._address()
        if self._connected:
            return CallError(f"no server answers at {where} any more", retryable=True, no_server=True)
        self._failed_connections += 1
        tries = self._failed_connections
        is_enough = tries >= _CONNECTION_TRIES
        return CallError(
            f"no server answers at {where} ({tries} {'attempts' if tries > 1 else 'attempt'}); "
            "is it running, and is the address right?",
            retryable=not is_enough,
            fatal=is_enough,
            no_server=True,
        )

    def _address(self) -> str:
        return self._base_url or self._provider

    def _hint(self, status: object) -> str:
        if status in (401, 403):
            return f"; check {self._key_names() or 'the key in the environment'}"
        return f"; check the model name {self.name}" if status == 404 else ""

    def _key_names(self) -> str:
        usual = self._usual_key()
        return usual if usual in os.environ else ", ".join(self._missing_keys())

    def _has_key(self) -> bool:
        """Whether a key stands in the environment; a provider may need more than that (Azure a version)."""
        names = (self._usual_key(), *_OTHER_KEYS.get(self._provider, ()))
        return any(map(os.environ.get, names)) or not self._missing_keys()

    def _missing_keys(self) -> list[str]:
        usual = self._usual_key()
        if os.environ.get(usual) == "":  # LiteLLM takes an empty key for a key
            return [usual]
        missing = self._litellm.validate_environment(self._call_name)["missing_keys"]
        return [str(name) for name in missing]

    def _usual_key(self) -> str:
        return f"{self._provider.upper()}_API_KEY"


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
    if options.constrain and options.base_url is None:
        raise UsageError(
            f"--constrain works with local/ models and with llama.cpp or vLLM at --base-url, not with {name}"
        )
    check_no_secret("--model", name)
    check_extras(options.extras, constrained=bool(options.constrain))
    check_no_secret("-M", options.extras)
    if options.base_url is not None:
        _check_address("--base-url", options.base_url)


def _check_address(what: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{what} {address}: expected http://host:port/path")
    if "@" in parts.netloc or parts.query:
        raise UsageError(f"{what} holds a password or key: put it into the environment")
    check_no_secret(what, address)


def check_extras(extras: Mapping[str, JSON], *, constrained: bool) -> None:
    """Raise UsageError for an extra that would replace the prompts, the model or a setting.

    What stands in `extra_body` goes into the same request, so the same names are refused there.
    """
    for shown, name in _names(extras):
        plain = name.strip().lower().replace("-", "_")
        instead = "use --price-in and --price-out" if "cost_per_" in plain else _RESERVED.get(plain)
        if instead is None and constrained and (plain in _FORMATS or plain.startswith("guided_")):
            instead = "--constrain sets the format of the answers; leave one of the two away"
        if instead is not None:
            raise UsageError(f"-M {shown}: not to be set with -M; {instead}")


def _names(extras: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for name, value in extras.items():
        yield name, name
        if name == "extra_body" and isinstance(value, dict):
            yield from ((f"extra_body.{inner}", inner) for inner in value)


def _check_own_arguments(litellm: ModuleType, extras: Mapping[str, JSON]) -> None:
    """Refuse what LiteLLM keeps for itself: it reaches no model, and can replace one, or an answer."""
    for name in extras:
        is_own = name in litellm.types.utils.all_litellm_params or name in ("client", "shared_session")
        if is_own and name not in _ABOUT_THE_ACCOUNT and not name.startswith(_CLOUDS):
            raise UsageError(f"-M {name}: not to be set with -M; it is no parameter of a model")


def _usual_address(provider: str) -> str | None:
    """Return the address that LiteLLM takes from the environment: a run must say which server it asked."""
    names = (f"{provider.upper()}_{end}" for end in ("BASE_URL", "API_BASE"))
    address = next(filter(None, map(os.environ.get, names)), None)
    if address is not None:
        _check_address("the address in the environment", address)
    return address


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


def _reply(response: Any, *, is_priced: bool) -> Reply:
    """Return what counts of a response; text in a reasoning field is never the answer."""
    if not response.choices:
        raise CallError("the response holds no choices", retryable=True)
    choice = response.choices[0]
    usage = _usage(getattr(response, "usage", None))
    cost = _cost(response, usage, is_priced=is_priced)
    reason = choice.finish_reason
    # LiteLLM makes a `stop` of every reason that it does not know, also of a generation that failed.
    native = (getattr(choice, "provider_specific_fields", None) or {}).get("native_finish_reason")
    if plain_finish_reason(native, cost) == "length":
        reason = "length"
    text, refusal = _text(choice.message.content), getattr(choice.message, "refusal", None)
    return Reply(
        text=text or refusal or text,
        finish_reason="refusal" if refusal and not text else reason,
        usage=usage,
        cost_usd=cost,
        response_model=response.model,
        has_reasoning=bool(getattr(choice.message, "reasoning_content", None)),
    )


def _cost(response: Any, usage: dict[str, int] | None, *, is_priced: bool) -> float | None:
    """Return what the provider says a reply cost, else LiteLLM's sum; None if unknown.

    LiteLLM multiplies by zero where it has no token counts, and where its map has no price.
    """
    told = getattr(getattr(response, "usage", None), "cost", None)
    if isinstance(told, int | float):
        return float(told)
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if cost is not None and usage is not None and is_priced else None


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


def _price(litellm: ModuleType, name: str) -> Price | None:
    try:
        info = litellm.get_model_info(name)
    except Exception:  # it raises plain exceptions too
        return None
    # The map itself: `info` has 0 where the map has no price, or prices by tier or character.
    entry = litellm.model_cost.get(info.get("key"), {})
    paid_in = _per_million(entry, "input_cost_per_token")
    paid_out = _per_million(entry, "output_cost_per_token")
    if paid_in is None or paid_out is None:
        return None
    return Price(
        paid_in,
        paid_out,
        f"LiteLLM's price map, {name}",
        batch_input=_per_million(entry, "input_cost_per_token_batches"),
        batch_output=_per_million(entry, "output_cost_per_token_batches"),
        max_output_tokens=info.get("max_output_tokens"),
    )


def _per_million(info: Mapping[str, Any], name: str) -> float | None:
    usd = info.get(name)
    return None if usd is None else round(1e6 * float(usd), 9)
