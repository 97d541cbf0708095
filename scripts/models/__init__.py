"""Where replies come from: simulated respondents, models on this machine, and every provider of LiteLLM."""

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

from ..errors import UsageError
from .types import Model, ModelOptions


def open_model(name: str, options: ModelOptions, *, workers: int = 1, design: Design = DESIGN) -> Model:
    """Return the model called `name`, not opened yet, to answer the prompts of `design`.

    `sim/...` is a simulated respondent, `local/...` a model on this machine, anything else a name
    of LiteLLM, called by as many processes as `workers` says. Raises UsageError for a name that none
    of them knows, and for options that do not suit the model.
    """
    kind, _, rest = name.partition("/")
    if not name.strip() or (kind in ("sim", "local") and not rest):
        raise UsageError(f"--model {name!r}: expected sim/NAME, local/NAME or provider/model")
    if kind in ("sim", "local") and workers > 1:
        raise UsageError(f"--workers suits models of a provider or server, not {name}")
    if kind == "sim":
        from .simulated import create_model as create_simulated

        return create_simulated(name, options, design)
    if kind == "local":
        from .local import create_model as create_local

        return create_local(name, options, design)
    from .litellm import LiteLLMModel

    model = LiteLLMModel(name, options, design)
    if workers == 1:
        return model
    from .workers import WorkerPool

    return WorkerPool(model, options, design, workers)
