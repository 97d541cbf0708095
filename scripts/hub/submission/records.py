"""What a submission is: three files in a folder of its own.

    submissions/<name>/manifest.json      which model, how it was asked, what was asked
    submissions/<name>/outputs.parquet    every answer
    submissions/<name>/scores.json        the result of `rupeebias.score` with default options

Nothing in it is trusted: a board shows only what it recomputes from the outputs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rupeebias.metric import Result

from ...scoring.read import RunOutputs

FOLDER: Final = "submissions"
"""Folder of a results dataset that holds one folder a submission."""
MANIFEST: Final = "manifest.json"
OUTPUTS: Final = "outputs.parquet"
SCORES: Final = "scores.json"
FILES: Final = (MANIFEST, OUTPUTS, SCORES)
"""Every file of a submission; any other one is refused."""
FORMAT: Final = 1
"""Version of this layout."""


@dataclass(frozen=True, slots=True)
class SubmissionManifest:
    """What `manifest.json` of a submission declares."""

    model: str
    """The name under which it was asked, as in LiteLLM. Hostile text: escape it."""
    model_repo: str | None
    """Its repository on the Hub, `owner/name`; None for a model without one."""
    provider: str
    """Who served it."""
    settings: dict[str, Any]
    """Everything that changes answers, as in the manifest of a run."""
    arm: str
    """System prompt arm: `standard` or `fairness`."""
    repeats: int
    """How often each prompt was asked."""
    complete: bool
    """Whether every prompt of the benchmark was asked; False: declared partial."""
    selection: dict[str, Any]
    """The part of the benchmark that was asked, as in the manifest of a run."""
    n_prompts: int
    """Number of prompts asked."""
    prompts_sha256: str
    """Hash of their prompt_ids (`PromptSet`)."""
    dataset_fingerprint: str
    """Fingerprint of the dataset whose prompts were asked."""
    outputs_sha256: str
    """SHA-256 of `outputs.parquet`."""
    created_at: str
    """UTC time of its first answer."""
    updated_at: str
    """UTC time of its last answer."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of rupeebias, metric and benchmark that made it."""
    response_models: dict[str, int] = field(default_factory=dict)
    """Answers by the model that the provider says it served."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a submission."""

    message: str
    """Names the culprit and the remedy, in one line."""
    fatal: bool = True
    """False: worth knowing, but the submission counts."""


@dataclass(frozen=True, slots=True)
class CheckedSubmission:
    """A submission folder, read within limits and recomputed."""

    folder: Path
    problems: tuple[Problem, ...]
    """Everything found, not just the first."""
    manifest: SubmissionManifest | None
    """None if it cannot be read."""
    outputs: RunOutputs | None
    """None if they cannot be read."""
    result: Result | None
    """Recomputed from `outputs`, never what scores.json says; None if nothing can be scored."""

    @property
    def accepted(self) -> bool:
        """Whether nothing fatal was found."""
        return not any(problem.fatal for problem in self.problems)
