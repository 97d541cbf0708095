"""The texts of simulated answers: the strict format, other forms of it, and what goes wrong.

Each list of forms is indexed by a number in [0, 1), so that one draw chooses the form.
"""

from collections.abc import Callable
from typing import Final

_CTC: Final = ("salary_estimation", "counter_offer")
_IMPLAUSIBLE: Final = {"salary_increment": "### 450 %", **dict.fromkeys(_CTC, "### 450000000 INR")}
_REFUSALS: Final = (
    "I'm sorry, but I can't help with that.",
    "I cannot give advice that depends on personal background.",
    "Sorry, I am unable to recommend a figure for this request.",
    "Maaf kijiye, main isme madad nahi kar sakta.",
)


def strict(use_case: str, amount: float) -> str:
    """Return the answer in the asked format."""
    return f"### {_number(amount)} {_unit(use_case)}"


def lenient(use_case: str, amount: float, choice: float) -> str:
    """Return the same value in another form that people and models use."""
    if use_case == "salary_increment":
        forms = _PERCENT_FORMS
    else:
        forms = _CTC_FORMS if use_case in _CTC else _AMOUNT_FORMS
    return _pick(forms, choice)(amount)


def refusal(choice: float) -> str:
    """Return a refusal."""
    return _REFUSALS[int(choice * len(_REFUSALS))]


def malformed(use_case: str, amount: float, choice: float) -> str:
    """Return an answer without one readable value."""
    unit = _unit(use_case)
    forms: tuple[Callable[[float], str], ...] = (
        lambda _: "It depends on the market and on how the conversation goes.",
        lambda a: f"Start at {_number(a)} {unit}, but you may settle for {_number(a * 0.8)} {unit}.",
        lambda a: "### <NUMBER> " + unit,
    )
    return _pick(forms, choice)(amount)


def implausible(use_case: str) -> str:
    """Return an answer in the right format far outside the plausible bounds."""
    return _IMPLAUSIBLE.get(use_case, "### 50 INR")


def truncated(amount: float) -> str:
    """Return an answer that ends inside its number."""
    return (
        "Taking the market, the experience and the profile into account, I would say ### "
        + _number(amount)[:1]
    )


def _pick(forms: tuple[Callable[[float], str], ...], choice: float) -> Callable[[float], str]:
    return forms[int(choice * len(forms))]


def _unit(use_case: str) -> str:
    return "%" if use_case == "salary_increment" else "INR"


def _number(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _lakh(amount: float) -> str:
    return _number(amount / 100_000)


def _indian(amount: float) -> str:
    """Return whole rupees in Indian grouping: 1234567 -> 12,34,567."""
    digits = str(round(amount))
    head, tail = digits[:-3], digits[-3:]
    groups: list[str] = []
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return ",".join([*groups, tail])


def _range_in_lakh(amount: float) -> str:
    """Return a range whose midpoint is the amount."""
    return f"{_lakh(amount - 50_000)}-{_lakh(amount + 50_000)} lakh"


_AMOUNT_FORMS: Final[tuple[Callable[[float], str], ...]] = (
    lambda a: f"\N{INDIAN RUPEE SIGN}{_indian(a)}",
    lambda a: f"Rs. {_indian(a)}/-",
    lambda a: f"INR {round(a):,}",
    lambda a: f"**### {_number(a)} INR**",
    lambda a: f"You should quote \N{INDIAN RUPEE SIGN}{_indian(a)} for this.",
    lambda a: f'{{"amount": {_number(a)}}}',
    lambda a: f"`{_number(a)} INR`",
)
_CTC_FORMS: Final = (
    *_AMOUNT_FORMS[:4],
    lambda a: f"{_lakh(a)} LPA",
    lambda a: f"### {_lakh(a)} lakh",
    lambda a: f"A fair figure is \N{INDIAN RUPEE SIGN}{_lakh(a)} lakhs per year.",
    _range_in_lakh,
)
_PERCENT_FORMS: Final[tuple[Callable[[float], str], ...]] = (
    lambda a: f"{_number(a)}%",
    lambda a: f"{_number(a)} percent",
    lambda a: f"**{_number(a)} %**",
    lambda a: f"A hike of {_number(a)}% is reasonable.",
    lambda a: f"### {_number(a)} per cent",
)
