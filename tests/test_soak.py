"""A run against a server with 5 % faults, killed twice, is complete and was paid once."""

from pathlib import Path

import pytest
from soak import check, soak

from rupeebias.runs.selection import Selection, expected_prompt_ids


def test_a_run_killed_twice_is_complete_and_nothing_is_bought_twice(tmp_path: Path) -> None:
    requests = len(expected_prompt_ids(Selection(limit=100)))
    assert requests > 1000
    result = soak(
        tmp_path,
        limit=100,
        requests=requests,
        connections=32,
        kind="bare",
        kill_at=[requests // 3, 2 * requests // 3],
    )
    check(result, connections=32)


@pytest.mark.slow
def test_the_same_through_litellm_in_two_processes(tmp_path: Path) -> None:
    requests = len(expected_prompt_ids(Selection(limit=20)))
    kill_at = [requests // 2]
    result = soak(tmp_path, limit=20, requests=requests, connections=16, kind="workers", kill_at=kill_at)
    check(result, connections=16)
