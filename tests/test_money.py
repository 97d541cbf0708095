"""Prices, estimates and the cap."""

import asyncio
from pathlib import Path

import pytest

from rupeebias.errors import RupeeBiasError
from rupeebias.generate.limits import Budget
from rupeebias.generate.plan import estimate_lines
from rupeebias.models.prices import Price, cost_of, estimate, priced, worst_case_usd
from rupeebias.models.types import Reply, Request
from rupeebias.runs.ledger import Ledger, Spending, read_spending

PRICE = Price(2.0, 10.0, "a test")
ASK = Request("p", 0, "s" * 40, "q" * 60, "counter_offer")


def test_cost_is_tokens_times_price_per_million() -> None:
    # 1,000 x 2 + 100 x 10 = 3,000 millionths
    assert PRICE.cost(1000, 100) == pytest.approx(0.003)


def test_an_estimate_follows_its_stated_rule() -> None:
    # 100 characters: 25 to 40 tokens, and 12 a request; out 8 to 64
    tokens = estimate([ASK, ASK], 64)
    assert (tokens.input_low, tokens.input_high) == (2 * 37, 2 * 52)
    assert (tokens.output_low, tokens.output_high, tokens.is_bounded) == (16, 128, True)
    assert tokens.cost_usd(PRICE) == pytest.approx((308e-6, 1488e-6))


def test_without_a_bound_the_estimate_assumes_long_answers_and_says_so() -> None:
    (tokens, cost) = estimate_lines([ASK], PRICE, None, None)
    assert "8 to 1,000 out (8 to 1,000 an answer; --max-tokens sets a bound)" in tokens
    assert "2 USD in and 10 USD out per million tokens: a test" in cost


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    assert "unknown" in estimate_lines([ASK], None, 64, None)[1]


def test_batch_prices_are_shown_where_they_are_known() -> None:
    half = Price(2.0, 10.0, "a test", batch_input=1.0, batch_output=5.0)
    million = [ASK] * 1000
    shown = estimate_lines(million, half, 100, None)
    # 37,000 to 52,000 in, 8,000 to 100,000 out
    assert shown[1].startswith("cost: 0.15 to 1.10 USD")
    assert shown[2].startswith("cost with --batch: 0.08 to 0.55 USD")


def test_the_worst_case_is_a_token_per_byte_and_the_longest_answer() -> None:
    # 100 bytes and 64 for the format: 164 x 2 + 50 x 10 = 828 millionths; a rupee sign has three bytes
    assert worst_case_usd(ASK, PRICE, 50) == pytest.approx(828e-6)
    rupee = Request("p", 0, "", "₹", "counter_offer")
    assert worst_case_usd(rupee, PRICE, 0) == pytest.approx(67 * 2e-6)


@pytest.mark.parametrize(
    ("told", "overrule", "expected"), [(0.5, False, 0.5), (0.5, True, 3e-5), (None, False, 3e-5)]
)
def test_a_price_of_ones_own_overrules(told: float | None, overrule: bool, expected: float) -> None:
    async def complete(_: Request) -> Reply:
        return Reply("x", usage={"input_tokens": 10, "output_tokens": 1}, cost_usd=told)

    reply = asyncio.run(_ask(priced(complete, PRICE, overrule=overrule)))
    assert reply.cost_usd == pytest.approx(expected)


async def _ask(complete: object) -> Reply:
    assert callable(complete)
    reply = await complete(ASK)
    assert isinstance(reply, Reply)
    return reply


def test_without_token_counts_a_cost_is_unknown() -> None:
    assert cost_of(Reply("x"), PRICE) is None
    assert cost_of(Reply("x", usage={"input_tokens": 3}), PRICE) is None


KEY = (ASK.prompt_id, ASK.repeat)


def spent_in(folder: Path, settled_usd: float) -> Ledger:
    """The ledger of a run that has spent so much."""
    return Ledger(folder, Spending(settled_usd))


def test_a_cap_is_never_exceeded_and_is_used_up(tmp_path: Path) -> None:
    # Each call may cost 1.0 and costs 0.25: of a cap of 3, two are spent and one stays reserved at the end.
    async def scenario(ledger: Ledger) -> tuple[float, int, float]:
        budget = Budget(ledger, lambda _: 1.0, 3.0)
        calls, most = 0, 0.0

        async def work() -> None:
            nonlocal calls, most
            while (ticket := await budget.reserve(ASK)) is not None:
                calls += 1
                most = max(most, ledger.spent_usd)
                await asyncio.sleep(0)
                budget.settle(ticket, 0.25)

        await asyncio.gather(*(work() for _ in range(5)))
        return ledger.spent_usd, calls, most

    with Ledger(tmp_path) as ledger:
        spent, calls, most = asyncio.run(scenario(ledger))
    # A call fits while spent + 1 <= 3, so the ninth is the last: 9 x 0.25 = 2.25.
    assert (spent, calls) == (2.25, 9)
    assert most <= 3.0


def test_a_call_of_unknown_cost_counts_at_its_worst_case(tmp_path: Path) -> None:
    async def scenario(ledger: Ledger) -> None:
        budget = Budget(ledger, lambda _: 1.0, 2.5)
        for cost in (None, 0.0):
            ticket = await budget.reserve(ASK)
            assert ticket is not None
            budget.settle(ticket, cost)

    with spent_in(tmp_path, 0.5) as ledger:
        asyncio.run(scenario(ledger))
        assert ledger.spent_usd == 1.5
    assert read_spending(tmp_path) == Spending(settled_usd=0.5, lost_usd=1.0)


def test_an_earlier_session_counts_towards_the_cap(tmp_path: Path) -> None:
    with spent_in(tmp_path, 0.9) as ledger:
        assert asyncio.run(Budget(ledger, lambda _: 0.2, 1.0).reserve(ASK)) is None


def test_what_a_killed_process_had_reserved_is_lost(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.settle(ledger.reserve(KEY, 0.3), 0.1)
    ledger.reserve(KEY, 0.3)
    # No end: as after kill -9. A last line that was half written is repaired as well.
    ledger.close()
    with (tmp_path / "ledger.jsonl").open("ab") as file:
        file.write(b'{"id": "x-9", "reser')
    assert read_spending(tmp_path) == Spending(settled_usd=0.1, lost_usd=0.3)
    with Ledger(tmp_path) as again:
        again.settle(again.reserve(KEY, 0.3), 0.2)
        assert again.spent_usd == pytest.approx(0.6)
    assert read_spending(tmp_path).spent_usd == pytest.approx(0.6)


def test_attempts_without_a_price_are_counted_and_free_runs_have_no_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        assert not ledger.path.exists()
        ledger.settle(ledger.reserve(KEY, None), None)
        ledger.settle(ledger.reserve(KEY, None), 0.01)  # the provider tells
    assert read_spending(tmp_path) == Spending(settled_usd=0.01, unknown=1)


@pytest.mark.parametrize("line", ["[]", '{"id": "a"}', '{"id": "a", "settled_usd": "1"}', "?"])
def test_a_damaged_ledger_is_an_error_and_stays(tmp_path: Path, line: str) -> None:
    text = f'{line}\n{{"id": "b", "settled_usd": 1}}\n'
    (tmp_path / "ledger.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(RupeeBiasError, match=r"ledger\.jsonl line 1 is damaged"):
        Ledger(tmp_path)
    assert (tmp_path / "ledger.jsonl").read_text(encoding="utf-8") == text
