"""Which responses of a run count, and as which repeat of their prompt.

The files of the release hold two runs joined, in no strict order. A prompt's answers are therefore numbered
in the order in which they stand: repeat 0, 1, ... The run has as many repeats as a prompt has answers at
most. A call that failed and an empty response make no repeat of their own; they stand where one lacks an
answer. Answers of a retried file stand for failed and empty responses, and are left out beyond those.

Two equal answers are two repeats, as a model at temperature 0 gives them: without them, repeats would look
less alike than they were. Only where no prompt of a run has two records that differ is the second of each
a copy of the first, and left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .records import Answer


@dataclass(slots=True)
class Settled:
    """The responses of one run, as they are written."""

    repeats: int = 1
    """Answers to a prompt at most."""
    by_prompt: dict[str, list[Answer]] = field(default_factory=dict)
    """Each prompt's responses, repeat 0 first."""
    copies: int = 0
    """Records left out as copies of another."""
    replaced: int = 0
    """Failed and empty responses for which a retried one stands."""
    failures: int = 0
    """Failed and empty responses left out, since their prompt has its answers."""
    surplus: int = 0
    """Answers left out: beyond the repeats asked for, or retried without need."""


@dataclass(slots=True)
class _Prompt:
    """The responses to one prompt in the order of the files."""

    given: list[Answer] = field(default_factory=list)
    empty: list[Answer] = field(default_factory=list)
    """Failed calls and empty responses."""
    retried: list[Answer] = field(default_factory=list)
    retried_empty: list[Answer] = field(default_factory=list)

    def add(self, answer: Answer, *, is_retried: bool) -> None:
        if is_retried:
            (self.retried if answer.is_given else self.retried_empty).append(answer)
        else:
            (self.given if answer.is_given else self.empty).append(answer)


def settle(answers: Iterable[tuple[Answer, bool]], most: int | None = None) -> Settled:
    """Return what counts of (response, is it from a retried file); `most` bounds the repeats."""
    prompts: dict[str, _Prompt] = {}
    for answer, is_retried in answers:
        prompts.setdefault(answer.prompt_id, _Prompt()).add(answer, is_retried=is_retried)
    settled = Settled()
    _drop_copies(prompts.values(), settled)
    for prompt in prompts.values():
        _put_retried(prompt, settled)
    answered = max((len(prompt.given) for prompt in prompts.values()), default=1)
    settled.repeats = max(1, min(answered, most or answered))
    settled.by_prompt = {name: _chosen(prompt, settled) for name, prompt in prompts.items()}
    return settled


def _drop_copies(prompts: Iterable[_Prompt], settled: Settled) -> None:
    repeated = [prompt for prompt in prompts if len(prompt.given) > 1]
    if any(len({answer.digest for answer in prompt.given}) > 1 for prompt in repeated):
        return
    for prompt in repeated:
        settled.copies += len(prompt.given) - 1
        del prompt.given[1:]


def _put_retried(prompt: _Prompt, settled: Settled) -> None:
    """Let retried answers stand for failed and empty responses, or for a prompt that has no other."""
    n_lacking = len(prompt.empty) if prompt.given or prompt.empty else len(prompt.retried)
    used = list(_without_known(prompt, n_lacking))[:n_lacking]
    settled.replaced += min(len(used), len(prompt.empty))
    settled.surplus += len(prompt.retried) - len(used)
    prompt.given += used
    prompt.empty = prompt.empty[len(used) :] + prompt.retried_empty


def _without_known(prompt: _Prompt, n_lacking: int) -> Iterator[Answer]:
    """Yield the retried answers; of a file that holds the others too, not those."""
    n_spare = len(prompt.retried) - n_lacking
    known = [answer.text for answer in prompt.given]
    for answer in prompt.retried:
        if n_spare > 0 and answer.text in known:
            known.remove(answer.text)
            n_spare -= 1
        else:
            yield answer


def _chosen(prompt: _Prompt, settled: Settled) -> list[Answer]:
    n_given = min(len(prompt.given), settled.repeats)
    n_empty = min(len(prompt.empty), settled.repeats - n_given)
    settled.surplus += len(prompt.given) - n_given
    settled.failures += len(prompt.empty) - n_empty
    empty_first = sorted(prompt.empty, key=lambda answer: answer.error is not None)
    return prompt.given[:n_given] + empty_first[:n_empty]
