"""`--dry-run`: how many requests, how many tokens, how much money, and who says so."""

from collections.abc import Iterable
from pathlib import Path

from ..models.prices import RULE, Estimate, Price, estimate
from ..models.types import Request
from ..runs.directory import RunState, check_same_run, run_state
from ..runs.manifest import Counts, Manifest


def state_of(folder: Path, planned: Manifest, *, fresh: bool) -> RunState:
    """Return what the run in `folder` has already, nothing if there is no run or it would be moved aside."""
    resumes = not fresh and check_same_run(folder, planned) is not None
    return run_state(folder) if resumes else RunState(frozenset(), frozenset())


def estimate_lines(
    requests: Iterable[Request], price: Price | None, max_tokens: int | None, max_cost: float | None
) -> list[str]:
    """Return the lines about tokens and cost of what is still to be asked."""
    tokens = estimate(requests, max_tokens)
    lines = [
        f"about {_span(tokens.input_low, tokens.input_high)} tokens in ({RULE}), "
        f"{_span(tokens.output_low, tokens.output_high)} out ({_answers(tokens, max_tokens)})"
    ]
    if price is None:
        return [*lines, "cost: unknown, nobody told a price; give --price-in and --price-out"]
    lines.append(_cost_line("cost", tokens, price))
    batch = price.batch()
    if batch is not None:
        lines.append(_cost_line("cost with --batch", tokens, batch))
    if max_cost is not None and tokens.cost_usd(price)[0] > max_cost:
        lines.append(f"--max-cost {max_cost:g} USD will stop the run before its end")
    return lines


def plan_line(counts: Counts, pending: int, folder: Path) -> str:
    """Return what is done and what is to do, in one line."""
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    return f"{counts.requests:,} requests: {counts.done:,} done{failed}, {pending:,} to do; {folder}"


def _cost_line(name: str, tokens: Estimate, price: Price) -> str:
    low, high = tokens.cost_usd(price)
    per_million = f"{price.input:g} USD in and {price.output:g} USD out per million tokens"
    return f"{name}: {low:,.2f} to {high:,.2f} USD ({per_million}: {price.source})"


def _span(low: int, high: int) -> str:
    return f"{low:,} to {high:,}"


def _answers(tokens: Estimate, max_tokens: int | None) -> str:
    if tokens.is_bounded:
        return f"at most {max_tokens:,} an answer"
    return "8 to 1,000 an answer, which nothing bounds: give --max-tokens"
