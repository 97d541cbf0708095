"""Calls at once and per minute, with a clock that the tests turn."""

import asyncio
import itertools

import pytest

from rupeebias.generate.limits import AdaptiveLimit, Pace


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def one_round(limit: AdaptiveLimit) -> int:
    """Make as many calls at once as the limit allows, all answered; return how many."""
    count = int(limit.limit)
    for _ in range(count):
        await limit.acquire()
    for _ in range(count):
        limit.succeeded()
        limit.release()
    return count


def test_it_doubles_until_the_first_429_and_then_grows_by_one_a_round() -> None:
    async def scenario() -> list[int]:
        clock = Clock()
        limit = AdaptiveLimit(100, clock, first=4)
        rounds = [await one_round(limit) for _ in range(3)]
        limit.throttled(clock.now)  # 4, 8, 16, then 32 x 0.7 = 22.4
        return rounds + [await one_round(limit) for _ in range(3)]

    # In a round only the calls that leave the limit full behind them count, so doubling is an upper bound.
    first, second, third, *after = asyncio.run(scenario())
    assert (first, second <= 8, third <= 16) == (4, True, True)
    assert second > first
    assert third > second
    assert all(0 <= later - earlier <= 1 for earlier, later in itertools.pairwise(after))


def test_a_limit_that_does_not_hold_calls_back_does_not_grow() -> None:
    async def scenario() -> float:
        limit = AdaptiveLimit(64, Clock(), first=16)
        for _ in range(50):
            await limit.acquire()
            limit.succeeded()
            limit.release()
        return limit.limit

    assert asyncio.run(scenario()) == 16.0


def test_a_storm_of_429_is_one_cut() -> None:
    clock = Clock()
    limit = AdaptiveLimit(100, clock, first=20)
    sent = clock.now
    clock.now += 1
    for _ in range(20):
        limit.throttled(sent)
    assert (limit.limit, limit.cuts) == (14.0, 1)
    clock.now += 60
    limit.throttled(sent)  # sent before the cut: it belongs to the episode, however late it comes
    assert limit.cuts == 1
    limit.throttled(clock.now)
    assert limit.limit == pytest.approx(9.8)
    assert limit.cuts == 2


def test_a_cut_is_followed_by_a_cooldown_as_long_as_the_server_asks() -> None:
    clock = Clock()
    limit = AdaptiveLimit(100, clock, first=20)
    limit.throttled(clock.now, 30.0)
    for later, cuts in ((11.0, 1), (18.0, 1), (2.0, 2)):
        clock.now += later
        limit.throttled(clock.now)
        assert limit.cuts == cuts


def test_it_never_falls_below_one_nor_rises_above_the_most() -> None:
    async def scenario() -> None:
        clock = Clock()
        limit = AdaptiveLimit(3, clock, cooldown_s=0.0)
        assert limit.limit == 3.0
        for _ in range(20):
            clock.now += 1
            limit.throttled(clock.now)
        assert limit.limit == 1.0
        for _ in range(20):
            await one_round(limit)
        assert limit.limit == 3.0

    asyncio.run(scenario())


def test_places_are_given_in_the_order_of_asking_and_a_cancelled_asker_takes_none() -> None:
    async def scenario() -> list[str]:
        limit = AdaptiveLimit(1, Clock())
        order: list[str] = []

        async def take(name: str) -> None:
            await limit.acquire()
            order.append(name)

        await limit.acquire()
        tasks = [asyncio.create_task(take(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.sleep(0)
        for _ in range(2):
            limit.release()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert limit.in_flight == 1
        return order

    assert asyncio.run(scenario()) == ["b", "c"]


@pytest.mark.parametrize("per_minute", [1, 30, 60, 600, 6000])
def test_no_minute_holds_more_calls_than_allowed(per_minute: int) -> None:
    clock = Clock()
    pace = Pace(per_minute, clock)
    sent: list[float] = []
    for _ in range(3 * per_minute + 2):
        clock.now += pace.take(1)
        sent.append(clock.now)
    # No window of 60 s (open at its end) holds more than the bound: calls that far apart take 60 s.
    gaps = [later - earlier for earlier, later in zip(sent, sent[per_minute:], strict=False)]
    assert min(gaps) >= 60 - 1e-6
    # And it is used: the whole takes no more than 5 % longer than it must.
    assert sent[-1] - sent[0] <= 60 * 3 * 1.05 + 60 / per_minute


def test_tokens_that_were_not_used_are_given_back() -> None:
    clock = Clock()
    pace = Pace(6000, clock)  # bursts of 100, then 98.3 a second
    assert pace.take(1000) == 0.0
    needed = pace.take(100)
    assert needed == pytest.approx(1000 / (5900 / 60))
    pace.correct(1000)
    assert pace.take(0) == pytest.approx(0.0)


def test_idle_time_does_not_pile_up() -> None:
    clock = Clock()
    pace = Pace(60, clock)
    clock.now += 3600
    assert pace.take(1) == 0.0
    assert pace.take(1) == pytest.approx(1.0)
