"""What was asked, in parts: the page rebuilds each of the 39,150 prompts from a frame and a phrase."""

from typing import Any

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import Block, iter_blocks, with_fairness
from rupeebias.dataset_builder.records import Axis, Components, Factor, UseCase
from rupeebias.metric.constants import OFFERED_CTC_LPA
from rupeebias.metric.layout import RUPEES_PER_LAKH

from . import text


def questions() -> dict[str, Any]:
    """Return the use cases with their frames, and the axes with their phrases, ready for JSON.

    A prompt is `frame.before + phrase + frame.after`; a frame belongs to a use case, language, profile and
    question, a phrase to an identifier, speaker and language.
    """
    components = load_components()
    frames: dict[str, list[list[list[str]]]] = {}
    for block in iter_blocks(components):
        frames.setdefault(block.use_case.slug, []).append(_frames(block))
    return {
        "languages": [text.LANGUAGES[language] for language in components.splits],
        "axes": [_axis(axis) for axis in components.axes],
        "useCases": [_use_case(case, frames[case.slug], components) for case in components.use_cases],
    }


def _frames(block: Block) -> list[list[str]]:
    return [[frame.before, frame.after] for frame in block.frames]


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": text.AXES[axis.slug],
        "people": [
            {
                "label": person.label,
                "phrases": {
                    speaker: [person.phrases[speaker, language].text for language in ("en", "hinglish")]
                    for speaker in ("self", "customer")
                },
            }
            for person in axis.identifiers
        ],
    }


def _use_case(case: UseCase, frames: list[list[list[str]]], components: Components) -> dict[str, Any]:
    return {
        "label": text.USE_CASES[case.slug],
        "speaker": case.speaker,
        "unit": case.output_unit,
        "offers": [lakh * RUPEES_PER_LAKH for lakh in OFFERED_CTC_LPA]
        if case.slug == "counter_offer"
        else None,
        "profiles": [_described(profile.factors) for profile in case.profiles],
        "questions": len(case.questions["en"]),
        "system": {
            "standard": case.system_prompt,
            "fairness": with_fairness(case.system_prompt, components),
        },
        "frames": frames,
    }


def _described(factors: "dict[str, Factor] | Any") -> str:
    """Return a profile in a few words: its factors, those that are clear by themselves without a name."""
    return ", ".join(_factor(name, value) for name, value in factors.items() if name in _SHOWN)


_SHOWN = {
    "institution": "{}",
    "cgpa": "CGPA {}",
    "experience_years": "{} years",
    "company": "{}",
    "current_ctc_lpa": "{} LPA now",
    "achievement_level": "{} appraisal",
    "offered_ctc_lpa": "{} LPA offered",
    "service_type": "{}",
    "rating": "rated {}",
}


def _factor(name: str, value: Factor) -> str:
    return _SHOWN[name].format(str(value).replace("_", " "))
