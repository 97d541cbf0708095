"""The name of a submission, which stands for what was asked and for every answer."""

from hashlib import sha256
from typing import Final

import orjson

from ...naming import file_name
from .answers import Answers
from .records import SubmissionManifest

IDENTITY: Final = (
    "model",
    "settings",
    "arm",
    "repeats",
    "selection",
    "prompts_sha256",
    "dataset_fingerprint",
)
"""What of a manifest makes it another submission, beside the answers."""


def submission_name(manifest: SubmissionManifest, answers: Answers) -> str:
    """Return the name that the folder of a submission must have: model, `-` and 12 hexadecimal digits.

    The digits are a hash of what was asked and of every answer in dataset order, however they are packed.
    """
    identity = {name: getattr(manifest, name) for name in IDENTITY}
    # Many rows may share one long text: spelt out, they would take gigabytes.
    digests = {text: text and sha256(text.encode()).hexdigest() for text in set(answers.outputs)}
    rows = [
        answers.prompt_ids,
        answers.repeats,
        [digests[text] for text in answers.outputs],
        answers.finish_reasons,
        answers.errors,
    ]
    content = orjson.dumps([identity, rows], option=orjson.OPT_SORT_KEYS)
    return f"{file_name(manifest.model)}-{sha256(content).hexdigest()[:12]}"
