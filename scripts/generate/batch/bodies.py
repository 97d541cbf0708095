"""The body of a request in a batch: the same that a live call of LiteLLM would send."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from ...errors import UsageError
from ..types import JSON, Request

_SENT: Final = ("temperature", "reasoning_effort", "max_tokens", "seed")
_ABOUT: Final = ("provider", "base_url", "extras", "not_sent")


class Bodies:
    """Makes bodies for one model and its settings, those of the run's manifest.

    Raises UsageError for settings that a batch cannot carry.
    """

    def __init__(self, litellm: ModuleType, model: str, settings: Mapping[str, JSON]) -> None:
        _check(settings)
        self._model, provider, _, _ = litellm.get_llm_provider(model)
        sent = {name: settings[name] for name in _SENT if name in settings}
        extras = settings.get("extras")
        self._parameters: dict[str, Any] = litellm.utils.get_optional_params(
            model=self._model,
            custom_llm_provider=provider,
            **sent,
            **(extras if isinstance(extras, dict) else {}),
        )
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


def _check(settings: Mapping[str, JSON]) -> None:
    for name in settings:
        if name not in _SENT and name not in _ABOUT:
            raise UsageError(f"--batch cannot send {name}; leave it out, or run without --batch")
