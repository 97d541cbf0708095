"""Keys stay in the environment."""

from pathlib import Path

import orjson
import pytest

from rupeebias.errors import UsageError
from rupeebias.models.secrets import Secrets, check_key, check_no_secret
from rupeebias.models.types import JSON
from rupeebias.runs.journal import Journal


@pytest.mark.parametrize(
    ("name", "value", "is_hidden"),
    [
        ("OPENAI_API_KEY", "sk-1234", True),
        ("WATSONX_APIKEY", "abcdefgh", True),
        ("AWS_SECRET_ACCESS_KEY", "abcdefgh", True),
        ("HF_TOKEN", "hf_abcdefgh", True),
        ("OPENAI_API_KEY", "none", False),  # too short to be told from a word
        ("MAX_TOKENS", "100000", False),
        ("SOME_TOKEN", "100000", False),  # a number would be found in many an answer
        ("KEYBOARD", "english-us", False),
        ("HOME", "/home/somebody", False),
    ],
)
def test_which_variables_hold_a_secret(name: str, value: str, is_hidden: bool) -> None:
    text = f"it says {value}!"
    expected = f"it says [{name}]!" if is_hidden else text
    assert Secrets({name: value}).mask(text) == expected


def test_a_key_within_another_key_leaves_no_rest() -> None:
    secrets = Secrets({"A_API_KEY": "abcdefgh", "B_API_KEY": "abcdefgh-ijkl"})
    assert secrets.mask("x abcdefgh-ijkl y abcdefgh") == "x [B_API_KEY] y [A_API_KEY]"


def test_what_a_journal_writes_counts_and_returns_holds_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-1")
    path = tmp_path / "outputs.jsonl"
    told = {"output": "a sk-secret-1", "response_model": "m-sk-secret-1", "finish_reason": "sk-secret-1"}
    with Journal(path) as journal:
        kept = journal.append({"prompt_id": "p", "repeat": 0, "error": None, **told})
        journal.append({"prompt_id": "q", "repeat": 0, "error": "no sk-secret-1"})
        assert journal.response_models == {"m-[SOME_API_KEY]": 1}
    assert orjson.loads(path.read_bytes().splitlines()[0]) == kept
    assert b"sk-secret-1" not in path.read_bytes()


@pytest.mark.parametrize("value", ["sk-1\n", "sk-\n1", "sk-1\u200b", "sk-é", " sk-1"])
def test_a_key_that_no_header_can_hold_is_named_and_not_shown(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", value)
    with pytest.raises(UsageError, match="the key in SOME_API_KEY holds") as caught:
        check_key("SOME_API_KEY")
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        {"extra_headers": {"X-Title": "Bearer abc"}},
        {"extra_headers": {"X-Title": "sk-proj-0123456789abcdef"}},
        {"extra_headers": {"X-Auth": "a"}},
        {"extra_headers": {"Authorization": "a"}},
        {"a": [{"session_token": "a"}]},
    ],
)
def test_extras_that_look_like_keys_are_refused(value: JSON) -> None:
    with pytest.raises(UsageError, match="keys are read from the environment only"):
        check_no_secret("-M", value)


@pytest.mark.parametrize(
    "value",
    [
        {"extra_headers": {"X-Author": "someone"}},
        {"authors_of": "someone"},
        {"adapter": "hf-internal-testing-model"},
        {"note": "skeleton_understanding_2"},
        "openai/sk-learned-instruct-70b-2",
    ],
)
def test_plain_words_are_no_keys(value: JSON) -> None:
    check_no_secret("-M", value)
