"""What was asked, in parts: the page rebuilds each prompt from a frame and a phrase."""

from typing import Any

from rupeebias.dataset_builder.components import load_components
from rupeebias.dataset_builder.prompts import iter_blocks, with_fairness
from rupeebias.dataset_builder.records import Components, Factor
from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Axis, Design, UseCase


def questions(design: Design) -> dict[str, Any]:
    """Return the use cases with their frames, and the axes with their phrases, ready for JSON.

    A prompt is `frame.before + phrase + frame.after`; a frame belongs to a use case, language, profile and
    question, a phrase to an identifier, speaker and language. Of a benchmark that is not the installed one
    only the names are known: its use cases have no frames.
    """
    components = load_components() if design.fingerprint == DESIGN.fingerprint else None
    tags = {language.slug: language.tag for language in components.languages} if components else {}
    return {
        "languages": [
            {"label": language.label, "tag": tags.get(language.name, "")} for language in design.languages
        ],
        "axes": [_axis(axis, components) for axis in design.axes],
        "useCases": [_use_case(case, components) for case in design.use_cases],
    }


def _axis(axis: Axis, components: Components | None) -> dict[str, Any]:
    known = next((own for own in components.axes if own.slug == axis.name), None) if components else None
    people = {person.slug: person for person in known.identifiers} if known else {}
    return {
        "label": axis.label,
        "people": [
            {
                "label": label,
                "phrases": {
                    speaker: [people[name].phrases[speaker, one].text for one in components.splits]
                    for speaker in ("self", "customer")
                }
                if components
                else None,
            }
            for name, label in axis.identifiers.items()
        ],
    }


def _use_case(case: UseCase, components: Components | None) -> dict[str, Any]:
    known = {
        "label": case.label,
        "unit": case.unit,
        "known": list(case.known) if case.outcome == "markup" else None,
        "questions": case.n_questions,
    }
    if components is None:
        return {**known, "profiles": [f"profile {at + 1}" for at in range(case.n_profiles)]}
    own = next(one for one in components.use_cases if one.slug == case.name)
    blocks = (block for block in iter_blocks(components) if block.use_case.slug == case.name)
    return {
        **known,
        "speaker": own.speaker,
        "profiles": [_described(profile.factors) for profile in own.profiles],
        "system": {
            "standard": own.system_prompt,
            "fairness": with_fairness(own.system_prompt, components),
        },
        "frames": [[[frame.before, frame.after] for frame in block.frames] for block in blocks],
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
