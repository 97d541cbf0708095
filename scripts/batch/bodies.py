"""The body of a request in a batch: the same that a live call of LiteLLM would send."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from ..errors import UsageError
from ..models.errors import redacted
from ..models.types import JSON, Request

_SENT: Final = ("temperature", "reasoning_effort", "max_tokens", "seed")
_ABOUT: Final = ("provider", "base_url", "extras", "not_sent")
_ABOUT_CALLS: Final = ("extra_headers", "timeout", "organization", "extra_query")
"""Extras that shape a live call and have no place in the body of a request."""
_LONGEST: Final = 300


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
