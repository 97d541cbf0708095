"""`rupeebias score`: every kind of file, every output, and one clear line for what cannot be read."""

import csv
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rupeebias.cli.app import main
from rupeebias.errors import RupeeBiasError, UsageError
from rupeebias.metric import HEADLINES, TABLES
from rupeebias.scoring.read import read_run
from rupeebias.scoring.score import score_paths

IDS = [f"salary_estimation:en:gender:{who}:P0{p}:Q1" for p in (1, 2) for who in ("male", "female")]
OUTPUTS = ["### 1200000 INR", "₹11,00,000", "### 900000 INR", "9 LPA; naïve"]


def jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def rows() -> list[dict[str, object]]:
    return [{"prompt_id": x, "output": y} for x, y in zip(IDS, OUTPUTS, strict=True)]


@pytest.fixture
def run(tmp_path: Path, rows: list[dict[str, object]]) -> Path:
    return jsonl(tmp_path / "model.jsonl", rows)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_in_the_forms_that_spreadsheets_write(tmp_path: Path, encoding: str, delimiter: str) -> None:
    path = tmp_path / "outputs.csv"
    outputs = [text.replace("₹", "Rs ") for text in OUTPUTS]  # cp1252 has no rupee sign
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["prompt_id", "output"])
        writer.writerows(zip(IDS, outputs, strict=True))
    read = read_run(path)
    assert (read.prompt_ids, read.outputs) == (IDS, outputs)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_parquet_with_any_type_of_text(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "outputs.parquet"
    columns = {
        "prompt_id": pa.array(IDS, kind),
        "output": pa.array(OUTPUTS, kind),
        "more": pa.array([1, 2, 3, 4]),
    }
    pq.write_table(pa.table(columns), path)
    read = read_run(path)
    assert (read.name, read.prompt_ids, read.outputs) == ("outputs", IDS, OUTPUTS)


def test_jsonl_with_repeats_reasons_and_errors(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"prompt_id": IDS[0], "output": "x", "repeat": 1, "finish_reason": "length"},
        {"prompt_id": IDS[0], "output": None, "repeat": 0, "error": "timeout"},
    ]
    read = read_run(jsonl(tmp_path / "r.jsonl", rows))
    assert (read.repeats, read.finish_reasons, read.errors) == ([1, 0], ["length", None], [False, True])


BAD_FILES = {
    "no columns": ("a.jsonl", b'{"id": 1, "response": "x"}\n', "no column prompt_id .* it has: id, response"),
    "not JSON": ("a.jsonl", b'{"prompt_id": "x", "output": "y"}\n{"prompt', "line 2 is not JSON"),
    "not an object": ("a.jsonl", b"[1]\n", "line 1 is not an object"),
    "a row without output": (
        "a.jsonl",
        b'{"prompt_id":"x","output":"y"}\n{"prompt_id":"x"}\n',
        "row 2 has no",
    ),
    "a first row without output": (
        "a.jsonl",
        b'{"prompt_id":"x"}\n{"prompt_id":"x","output":"y"}\n',
        "row 1 has no 'output'",
    ),
    "empty": ("a.jsonl", b"", "no rows"),
    "binary CSV": ("a.csv", b"\x00\x01\x02", "not a text file"),
    "CSV with other columns": ("a.csv", b"id,answer\n1,2\n", "it has: id, answer"),
    "not Parquet": ("a.parquet", b"PAR1nonsense", "not a Parquet file"),
    "bad repeat": ("a.csv", b"prompt_id,output,repeat\nx,y,first\n", "row 1 has repeat 'first'"),
    "half a repeat": ("a.jsonl", b'{"prompt_id":"x","output":"y","repeat":1.7}\n', "row 1 has repeat 1.7"),
    "a repeat in one row": (
        "a.jsonl",
        b'{"prompt_id":"x","output":"y","repeat":0}\n{"prompt_id":"x","output":"y"}\n',
        "row 2 has repeat None",
    ),
    "unquoted commas": (
        "a.csv",
        "prompt_id,output\nx,₹12,50,000\n".encode(),
        "line 2 has 4 fields, the header 2",
    ),
    "two columns of outputs": ("a.csv", b"prompt_id,output,output\nx,y,z\n", "2 columns named output"),
    "an array of objects": ("a.jsonl", b'[\n{"prompt_id":"x"}\n]', "expected one JSON object a line"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    file, content, message = BAD_FILES[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(RupeeBiasError, match=message) as caught:
        score_paths([path])
    assert str(path) in str(caught.value)


def test_unknown_kinds_and_missing_files_are_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(UsageError, match=r"unknown kind of file; give a run directory or \.jsonl, "):
        read_run(tmp_path / "a.xlsx")
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(UsageError, match=r"a\.json: write one JSON object a line, .* to a \.jsonl file"):
        read_run(tmp_path / "a.json")
    with pytest.raises(UsageError, match="does not exist"):
        read_run(tmp_path / "none.jsonl")


def test_errors_of_the_metric_name_the_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"prompt_id": "nobody", "output": "x"}])
    with pytest.raises(RupeeBiasError, match=r"a\.jsonl: 1 unknown prompt_id"):
        score_paths([path])


def test_two_outputs_of_one_prompt_need_a_column(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"prompt_id": IDS[0], "output": text} for text in ("9 LPA", "8 LPA")]
    with pytest.raises(RupeeBiasError, match=r"in a column `repeat` \(0, 1, \.\.\.\) or drop one") as caught:
        score_paths([jsonl(tmp_path / "a.jsonl", rows)])
    assert "repeats=" not in str(caught.value)


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def test_one_run_gives_the_result_of_compute(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("score", run, "--json", tmp_path / "out" / "scores.json") == 0
    result = json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))
    # 12 and 11 lakh: 1 / 11.5; 9 lakh twice: 0
    assert result["mean_delta_pct"] == pytest.approx(100 / 11.5 / 2)
    shown = capsys.readouterr().out
    assert "model" in shown
    assert "4.3" in shown
    assert "note (model): only 1 of 2 languages" in shown


def test_several_runs_give_a_list_a_table_and_csv_files(run: Path, tmp_path: Path) -> None:
    other = jsonl(tmp_path / "b|<i>.jsonl", [{"prompt_id": IDS[0], "output": "### 1 INR"}])
    outputs: list[str | Path] = ["--json", tmp_path / "all.json", "--markdown", tmp_path / "t.md"]
    outputs += ["--csv", tmp_path / "csv"]
    assert command("score", run, other, "--ci", "none", *outputs) == 0
    listed = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [entry["run"] for entry in listed] == ["model", "b|<i>"]
    assert "b\\|\\<i\\>" in (tmp_path / "t.md").read_text(encoding="utf-8")
    assert {path.stem for path in (tmp_path / "csv").iterdir()} == {"headline", *TABLES}
    with (tmp_path / "csv" / "headline.csv").open(encoding="utf-8", newline="") as file:
        header, first, second = csv.reader(file)
    assert header == ["run", *HEADLINES]
    mean = header.index("mean_delta_pct")
    assert float(first[mean]) == listed[0]["result"]["mean_delta_pct"]
    assert second[mean] == ""  # what cannot be computed is empty, not 0


def test_a_name_is_no_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "=HYPERLINK(1).jsonl", [{"prompt_id": IDS[0], "output": "### 900000 INR"}])
    assert command("score", path, "--csv", tmp_path / "csv") == 0
    assert (tmp_path / "csv" / "headline.csv").read_text(encoding="utf-8").splitlines()[1].startswith("'=")


def test_published_values_are_shown_on_request(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("score", run, "--published") == 0
    assert "Sarvam 105B (published)" in capsys.readouterr().out


@pytest.mark.parametrize("colour", [False, True])
def test_columns_are_named_by_the_settings(
    run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    colour: bool,
) -> None:
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "300")  # a table fits
    path, other = tmp_path / "table.md", tmp_path / "other.jsonl"
    other.write_bytes(run.read_bytes())
    options = ("--threshold", "5", "--ci", "none", "--published", "--markdown", path)
    assert command("score", run, other, *options) == 0
    for text in (capsys.readouterr().out, path.read_text(encoding="utf-8")):
        assert "V@5 %" in text
        assert "systematic gap %" in text
        for not_said in ("V@10 %", "95 % CI", "64.29", "63.33"):  # of GPT 5.4-mini, above 10 %
            assert not_said not in text
    assert command("score", run, other, "--published") == 0
    shown = capsys.readouterr().out
    for name in ("V@10 %", "systematic gap % [95 % CI]", "64.29", "rest on incomplete data"):
        assert name in shown


def test_where_the_table_does_not_fit_each_run_has_a_block(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    other = tmp_path / "other.jsonl"
    other.write_bytes(run.read_bytes())
    assert command("score", run, other) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("model:", "other:"))] == [
        f"{name}: 4 prompts, date not known" for name in ("model", "other")
    ]
    assert "  what it says    2 profiles: too few to tell bias from chance" in lines
    assert max(len(line) for line in lines if not line.startswith("note")) <= 80


def test_scoring_loads_neither_pandas_nor_datasets_nor_litellm(run: Path) -> None:
    script = (
        "import sys\nfrom rupeebias.cli.app import main\n"
        f"try: main(['score', {str(run)!r}])\nexcept SystemExit: pass\n"
        "print(sorted({'pandas', 'datasets', 'litellm', 'evaluate', 'scipy.stats'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("nothing", ["False", "0", "None", "nan", "", None, False, float("nan")])
def test_an_error_column_that_says_nothing_fails_no_answer(tmp_path: Path, nothing: object) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"prompt_id,output,error\n{IDS[0]},12 LPA,{nothing}\n", encoding="utf-8")
    assert read_run(path).errors == [False]


def test_an_error_that_says_something_fails_its_answer(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"prompt_id": IDS[0], "output": "x", "error": "timeout"}])
    assert read_run(path).errors == [True]


def test_a_result_never_replaces_what_is_scored(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = run.read_bytes()
    assert command("score", run, "--json", run) == 2
    assert "belongs to what is scored" in capsys.readouterr().err
    assert run.read_bytes() == before


def test_a_result_that_cannot_be_written_leaves_nothing_behind(run: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    (taken / "scores.json").mkdir(parents=True)  # a folder in the file's place
    assert command("score", run, "--json", taken / "scores.json") == 1
    assert [path.name for path in taken.iterdir()] == ["scores.json"]


def test_a_run_given_twice_is_wrong_usage(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("score", run, run) == 2
    assert "is given twice" in capsys.readouterr().err


def test_a_bad_option_is_wrong_usage_and_blames_no_file(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("score", run, "--n-resamples", "1") == 2
    assert run.name not in capsys.readouterr().err


def test_a_named_pipe_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="not a regular file"):
        read_run(pipe)


def test_control_characters_of_a_name_reach_no_terminal(
    tmp_path: Path, rows: list[dict[str, object]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("score", jsonl(tmp_path / "red\x1b[31m.jsonl", rows)) == 0
    assert "\x1b[31m" not in capsys.readouterr().out


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match=r"loop\.jsonl is a link to itself"):
        score_paths([loop])


def test_a_device_or_pipe_is_written_to_and_not_replaced(run: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert command("score", run, "--json", pipe) == 0
    reader.join(timeout=30)
    assert json.loads(received[0])["n_scored"] == 4
    assert pipe.is_fifo()


def test_a_linked_target_stays_a_link(run: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert command("score", run, "--json", link) == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["n_scored"] == 4


@pytest.mark.parametrize("name", ["headline.csv", "axis.csv"])
def test_a_table_is_not_written_over_what_is_scored(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    own = tmp_path / name
    with own.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("prompt_id", "output"), *zip(IDS, OUTPUTS, strict=True)])
    before = own.read_bytes()
    assert command("score", own, "--csv", tmp_path) == 2
    assert "belongs to what is scored" in capsys.readouterr().err
    assert own.read_bytes() == before
    assert command("score", run, "--csv", tmp_path / "new", "--json", tmp_path / "new" / name) == 2
    assert "would be written twice" in capsys.readouterr().err


def test_a_target_that_links_to_itself_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for words in (("score", run, "--json", loop), ("compare", run, loop), ("compare", loop, run)):
        assert command(*words) == 2
        assert "link to itself" in capsys.readouterr().err


def test_a_blank_before_a_formula_is_no_way_into_a_spreadsheet(tmp_path: Path) -> None:
    path = jsonl(tmp_path / " =1+1.jsonl", [{"prompt_id": IDS[0], "output": "### 900000 INR"}])
    assert command("score", path, "--csv", tmp_path / "csv") == 0
    assert (
        (tmp_path / "csv" / "headline.csv").read_text(encoding="utf-8").splitlines()[1].startswith("' =1+1")
    )
