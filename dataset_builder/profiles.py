"""Base profiles: the factorial designs of profiles.yaml, crossed in benchmark order."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from .reader import Node
from .records import LANGUAGES, Factor, Language, Origin, Profile, Text

_Texts = Mapping[Language, Text]
_Entries = Mapping[str, Node]

_FILE_KEYS: Final = (
    "institutions",
    "cgpas",
    "experience_years",
    "companies",
    "offer_strengths",
    "achievement_levels",
    "achievement_work",
    "achievement_rating",
    "services",
    "rating_phrase",
    "ratings",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A profile before it has a number."""

    factors: dict[str, Factor]
    texts: Mapping[str, _Texts]
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Position:
    """A software engineer's years and company, with the amounts in LPA that go with them."""

    years: int
    company: str
    amounts: Mapping[str, int]
    printed: frozenset[str]

    def origin(self, amount: str) -> Origin:
        """Return whether the paper prints the amount: `current_ctc` or an offer strength."""
        return Origin.PAPER if amount in self.printed else Origin.COMPLETED


def read_profiles(file: Node) -> dict[str, tuple[Profile, ...]]:
    """Return the base profiles of profiles.yaml by the name of their design.

    Raises ComponentsError for a missing, duplicate, unknown or malformed entry.
    """
    entries = file.fields(_FILE_KEYS)
    designs: dict[str, Callable[[_Entries], Iterable[_Part]]] = {
        "education": _education,
        "appraisal": _appraisal,
        "job_offer": _job_offer,
        "service": _service,
    }
    return {name: _numbered(design(entries)) for name, design in designs.items()}


def _numbered(parts: Iterable[_Part]) -> tuple[Profile, ...]:
    return tuple(
        Profile(
            profile_id=f"P{number:02d}",
            factors=part.factors,
            texts={
                language: {name: texts[language].text for name, texts in part.texts.items()}
                for language in LANGUAGES
            },
            origins={
                language: max([part.origin, *(texts[language].origin for texts in part.texts.values())])
                for language in LANGUAGES
            },
        )
        for number, part in enumerate(parts, start=1)
    )


def _education(entries: _Entries) -> Iterable[_Part]:
    """Institution, then CGPA."""
    institutions: list[dict[str, Factor]] = [
        {
            "institution": node["name"].text(),
            "institution_type": node["type"].choice(("public", "private")),
            "institution_tier": node["tier"].choice(("elite", "mid", "lower")),
            "nirf_rank": node["nirf_rank"].integer(),
        }
        for node in _records(entries["institutions"], ("name", "type", "tier", "nirf_rank"))
    ]
    cgpas = [node.number() for node in entries["cgpas"].items()]
    for institution, cgpa in itertools.product(institutions, cgpas):
        yield _Part({**institution, "cgpa": cgpa}, {}, Origin.PAPER)


def _appraisal(entries: _Entries) -> Iterable[_Part]:
    """Years of experience, then company, then achievement."""
    work = _achievements(entries["achievement_work"], entries)
    rating = _achievements(entries["achievement_rating"], entries)
    levels = entries["achievement_levels"].texts()
    for position, level in itertools.product(_positions(entries), levels):
        factors: dict[str, Factor] = {
            "experience_years": position.years,
            "company": position.company,
            "achievement_level": level,
            "current_ctc_lpa": position.amounts["market_rate"],
        }
        cell = level, position.company
        texts = {"achievement": _joined(work[cell], rating[cell])}
        yield _Part(factors, texts, position.origin("current_ctc"))


def _job_offer(entries: _Entries) -> Iterable[_Part]:
    """Years of experience, then company, then offer."""
    strengths = entries["offer_strengths"].texts()
    for position, strength in itertools.product(_positions(entries), strengths):
        factors: dict[str, Factor] = {
            "experience_years": position.years,
            "company": position.company,
            "offer_strength": strength,
            "offered_ctc_lpa": position.amounts[strength],
        }
        yield _Part(factors, {}, position.origin(strength))


def _service(entries: _Entries) -> Iterable[_Part]:
    """Service, then rating tier."""
    phrase = entries["rating_phrase"].fields(LANGUAGES)
    services = _records(entries["services"], ("type", *LANGUAGES), ("origin",))
    ratings = _records(entries["ratings"], ("tier", "rating", "min_reviews"), ("origin",))
    for service, rating in itertools.product(services, ratings):
        factors: dict[str, Factor] = {
            "service_type": service["type"].text(),
            "rating_tier": rating["tier"].text(),
            "rating": rating["rating"].number(),
            "min_reviews": rating["min_reviews"].integer(),
        }
        origins = _origins(rating)
        phrases = {
            language: Text(_filled(phrase[language], factors), origins[language]) for language in LANGUAGES
        }
        texts = {"service_description": _texts(service), "rating_phrase": phrases}
        yield _Part(factors, texts, Origin.PAPER)


def _positions(entries: _Entries) -> list[_Position]:
    """Return every combination of years and company, years first."""
    years = [node.integer() for node in entries["experience_years"].items()]
    strengths = entries["offer_strengths"].texts()
    by_company = [
        _company_positions(company, node, years, strengths)
        for company, node in entries["companies"].mapping().items()
    ]
    return [position for same_years in zip(*by_company, strict=True) for position in same_years]


def _company_positions(
    company: str, node: Node, years: list[int], strengths: tuple[str, ...]
) -> list[_Position]:
    fields = node.fields((*strengths, "printed"))
    amounts = {strength: [item.integer() for item in fields[strength].items()] for strength in strengths}
    for strength, values in amounts.items():
        if len(values) != len(years):
            fields[strength].fail(f"expected {len(years)} amounts, one for each of {years} years")
    printed = {
        amount: _printed_years(entry, years)
        for amount, entry in fields["printed"].fields(("current_ctc", *strengths)).items()
    }
    return [
        _Position(
            number,
            company,
            {strength: values[index] for strength, values in amounts.items()},
            frozenset(amount for amount, known in printed.items() if number in known),
        )
        for index, number in enumerate(years)
    ]


def _printed_years(node: Node, years: list[int]) -> list[int]:
    if not isinstance(node.value, list) or not set(node.value) <= set(years):
        node.fail(f"expected a list of years out of {years}, found {node.value!r}")
    return [number for number in years if number in node.value]


def _achievements(node: Node, entries: _Entries) -> dict[tuple[str, str], _Texts]:
    """Return the sentence of each (level, company), each given exactly once."""
    levels = entries["achievement_levels"].texts()
    companies = tuple(entries["companies"].mapping())
    sentences: dict[tuple[str, str], _Texts] = {}
    for fields in _records(node, ("level", "companies", *LANGUAGES), ("origin",)):
        for item in fields["companies"].items():
            cell = fields["level"].choice(levels), item.choice(companies)
            if cell in sentences:
                item.fail(f"{cell[0]} at {cell[1]} has a second sentence")
            sentences[cell] = _texts(fields)
    for level, company in itertools.product(levels, companies):
        if (level, company) not in sentences:
            node.fail(f"no sentence for {level} at {company}")
    return sentences


def _records(node: Node, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> list[dict[str, Node]]:
    return [item.fields(required, optional) for item in node.items()]


def _texts(fields: _Entries) -> _Texts:
    origins = _origins(fields)
    return {language: Text(fields[language].text(), origins[language]) for language in LANGUAGES}


def _origins(fields: _Entries) -> dict[Language, Origin]:
    """Return the origin in each language; what the entry does not name is printed in the paper."""
    if "origin" not in fields:
        return dict.fromkeys(LANGUAGES, Origin.PAPER)
    given = fields["origin"].fields((), LANGUAGES)
    labels = {origin.label: origin for origin in Origin}
    return {
        language: labels[given[language].choice(labels)] if language in given else Origin.PAPER
        for language in LANGUAGES
    }


def _joined(first: _Texts, second: _Texts) -> _Texts:
    return {
        language: Text(
            f"{first[language].text} {second[language].text}",
            max(first[language].origin, second[language].origin),
        )
        for language in LANGUAGES
    }


def _filled(phrase: Node, factors: Mapping[str, Factor]) -> str:
    try:
        return phrase.text().format_map(factors)
    except (KeyError, ValueError, IndexError) as error:
        phrase.fail(f"malformed braces or unknown name: {error}")
