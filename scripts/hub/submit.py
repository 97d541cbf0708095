"""`rupeebias submit`: a run's submission and evaluation results, shown first, then sent to the Hub."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from rupeebias.metric.benchmark import DESIGN
from rupeebias.metric.design import Design

from ..errors import RupeeBiasError, UsageError
from ..naming import is_simulated_name
from ..runs.manifest import read_manifest
from ..words import counted, printable
from .build import build_submission
from .check import check_submission
from .client import DATASET, RESULTS, hub_client, hub_errors, repository, require_writer
from .delivery import Delivery, Found, earlier_results, earlier_submission, find_delivery, send_delivery
from .eligibility import is_same_model, reasons_without_rank
from .eval_results import PATH, Source, eval_yaml
from .submission import FOLDER, MANIFEST, MAX_CHARACTERS, CheckedSubmission, repo_fault

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Say = Callable[[str], object]
_PLACEHOLDER: Final = "ORG"
_LONGEST_URL: Final = 500


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """What `rupeebias submit` is given beside the run."""

    org: str | None = None
    """Owner of the benchmark's repositories on the Hub."""
    repo: str | None = None
    """Repository of the model, `owner/name`."""
    out: Path | None = None
    """Where the submission is kept; None: nowhere."""
    source_url: str | None = None
    """Address of the source of the results; None: that of the submission in the results dataset."""
    create_pr: bool = False
    """Send; otherwise only show."""
    is_sure: bool = False
    """The repository is the model's, though its name does not fit."""


def check_options(options: SubmitOptions) -> None:
    """Raise UsageError for a bad name or address, or a missing --org."""
    if options.org is not None:
        repository(options.org, RESULTS)
    elif options.create_pr:
        raise UsageError("--create-pr needs --org: the owner of the results dataset on the Hub")
    if options.repo is not None and (fault := repo_fault(options.repo)):
        raise UsageError(f"--repo {options.repo[:100]!r} {fault}")
    url = options.source_url
    if url is not None and not _is_address(url):
        raise UsageError(f"--source-url {url[:100]!r} is not an address that begins with https:// or http://")


def _is_address(url: str) -> bool:
    try:
        split = urlsplit(url)
    except ValueError:
        return False
    is_plain = url.isprintable() and not set(url) & set(" <>\"'") and len(url) <= _LONGEST_URL
    return is_plain and split.scheme in ("http", "https") and bool(split.hostname) and "@" not in split.netloc


def submit(
    run: Path, options: SubmitOptions, say: Say, confirm: Callable[[str], bool] = lambda question: False
) -> None:
    """Build the submission of a run, check it, show what would be sent, and send it if asked to.

    `confirm` asks before a pull request to a repository whose name does not fit the model's.

    Raises UsageError and RupeeBiasError, before anything is sent or shown, for bad options, a run that cannot
    be submitted and repositories or rights that are missing. The run of a simulated respondent can only be
    kept.
    """
    check_options(options)
    model = read_manifest(run).identity.model
    if is_simulated_name(model):
        _refuse_to_send(f"{run} is a run of", options)
    else:
        _ask_about_repo(model, options, say, confirm)
    api = hub_client()
    if options.create_pr:  # rights and repositories before the work of making a submission
        require_writer(api)
        for kind, name in (("dataset", f"{options.org}/{RESULTS}"), ("model", options.repo)):
            if name is not None:
                with hub_errors(f"read {kind} {name}", api.token):
                    api.repo_info(name, repo_type=kind)
    deliveries = prepare(run, options, api, say)
    for delivery in deliveries:
        _show(delivery, say, with_manifest=not options.create_pr)
    if options.create_pr:
        send(api, deliveries, say)
        return
    if options.org is not None:
        look(api, deliveries, say)
    if deliveries:
        say("dry run: nothing was sent (--create-pr sends)")


def _ask_about_repo(model: str, options: SubmitOptions, say: Say, confirm: Callable[[str], bool]) -> None:
    """Let the user confirm that a repository with another name is the model's, before anything is sent."""
    if options.repo is None or is_same_model(model, options.repo) or options.is_sure:
        return
    told = f"the name of --repo {options.repo} does not fit the model {printable(model)}"
    if not options.create_pr:
        say(f"note: {told}; --create-pr will ask")
    elif not confirm(f"{told}. Open a pull request there?"):
        raise RupeeBiasError(f"{told}: nothing was sent. If it is the model's, add --yes")


def _refuse_to_send(whose: str, options: SubmitOptions) -> None:
    """Raise RupeeBiasError for answers of a simulated respondent, unless they are only to be kept."""
    if options.out is None or options.create_pr:
        raise RupeeBiasError(
            f"{whose} a simulated respondent, no model: it cannot be sent. Submit a run of a model "
            "(`rupeebias audit --model local/smollm2` makes one on this machine); --out DIR alone keeps this "
            "one, for `rupeebias validate-submission` and `rupeebias leaderboard`"
        )


# --- what there is to send


def prepare(
    run: Path, options: SubmitOptions, api: "HfApi", say: Say, design: Design = DESIGN
) -> list[Delivery]:
    """Return what a run gives to send, built and checked; the Hub is only asked for the dataset's commit.

    The run of a simulated respondent gives nothing.
    """
    with tempfile.TemporaryDirectory(prefix="rupeebias-submit-") as temporary:
        out = options.out or Path(temporary)
        folder = build_submission(run, out, model_repo=options.repo, design=design)
        if options.out is not None:
            say(f"wrote {folder}")
        checked = check_submission(folder, design)
        if not checked.accepted:
            faults = [problem.message for problem in checked.problems if problem.fatal]
            raise RupeeBiasError(
                f"the submission would be refused: {'; '.join([*faults, *_losses(checked)])}"
            )
        is_sent = checked.manifest is None or not checked.manifest.is_simulated
        if not is_sent:
            _refuse_to_send("the answers are those of", options)
        for note in (*(problem.message for problem in checked.problems), *_losses(checked)):
            say(f"note: {note}")
        return list(_deliveries(checked, options, api, say, design)) if is_sent else []


def _losses(checked: CheckedSubmission) -> Iterator[str]:
    """Yield what the user may want to put right before sending."""
    outputs = checked.outputs
    if outputs is None:
        return
    if failed := sum(outputs.errors or ()):
        yield (
            f"{failed:,} of {len(outputs.outputs):,} calls failed and count as unanswered: repeat the "
            "command that made the run with --retry-errors to ask them again"
        )
    cut = sum(text is not None and len(text) >= MAX_CHARACTERS for text in outputs.outputs)
    if cut:
        yield f"{cut:,} answers are cut at {MAX_CHARACTERS:,} characters and count as cut off"


def _deliveries(
    checked: CheckedSubmission, options: SubmitOptions, api: "HfApi", say: Say, design: Design
) -> Iterator[Delivery]:
    manifest, result, folder = checked.manifest, checked.result, checked.folder
    if manifest is None or result is None or checked.readings is None:
        raise RupeeBiasError("nothing in the run can be scored, so there is nothing to send")
    owner = options.org or _PLACEHOLDER
    results, path = f"{owner}/{RESULTS}", f"{FOLDER}/{folder.name}"
    if options.org is None:
        say(f"note: {_PLACEHOLDER} stands for the owner of the benchmark on the Hub (--org)")
    model = manifest.model.replace("`", "'")  # it stands in a code span
    about = (
        f"Model: `{model}`. Made by `rupeebias submit`; `rupeebias validate-submission` computes its scores."
    )
    yield Delivery(
        kind="dataset",
        repo=results,
        title=f"Submission {folder.name}",
        description=about,
        files={f"{path}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())},
        earlier=earlier_submission(f"{path}/{MANIFEST}", manifest, design),
    )
    if reasons := reasons_without_rank(manifest, checked.readings, result, design):
        say(f"note: no evaluation results for the page of the model: {reasons[0]}")
    elif options.repo is None:
        say("note: no evaluation results for the page of the model: --repo names it")
    else:
        url = options.source_url or f"{api.endpoint}/datasets/{results}/tree/main/{path}"
        if options.source_url is None:
            say("note: the source that the results name is there once the results dataset has merged it")
        source = Source(f"{owner}/{DATASET}", _revision(api, options.org, say, design), url)
        yield Delivery(
            kind="model",
            repo=options.repo,
            title="RupeeBias evaluation results",
            description=f"Results of the run {folder.name} on the benchmark {source.dataset}. Outputs: {url}",
            files={PATH: eval_yaml(manifest, result, design, source).encode()},
            earlier=earlier_results(PATH),
        )


def _revision(api: "HfApi", org: str | None, say: Say, design: Design) -> str | None:
    """Return the commit of the dataset's version on the Hub, None if it cannot be read."""
    tag = f"v{design.version}"
    if org is None:
        return None
    name = f"{org}/{DATASET}"
    try:
        with hub_errors(f"read dataset {name}", api.token):
            tags = api.list_repo_refs(name, repo_type="dataset").tags
    except RupeeBiasError as error:
        say(f"note: the results name no revision of the dataset ({error})")
        return None
    commit = next((each.target_commit for each in tags if each.name == tag), None)
    if commit is None:
        say(f"note: the results name no revision of the dataset: {name} has no tag {tag}")
    return commit


# --- showing and sending it


def _show(delivery: Delivery, say: Say, *, with_manifest: bool) -> None:
    """Say what a delivery holds: paths, sizes, and the text of what a reader may care about."""
    size = sum(map(len, delivery.files.values()))
    say(f"pull request on {delivery.target}: {counted(len(delivery.files), 'file')}, {size:,} bytes")
    for path, content in delivery.files.items():
        say(f"  {len(content):>11,}  {path}")
        if with_manifest and path.endswith(f"/{MANIFEST}"):
            say(content.decode().rstrip("\n"))
    if PATH in delivery.files:
        say(delivery.files[PATH].decode().rstrip("\n"))


def look(api: "HfApi", deliveries: list[Delivery], say: Say) -> None:
    """Say what of it is on the Hub, as far as that can be seen from here; changes nothing."""
    user = None
    with suppress(RupeeBiasError):
        user = str(require_writer(api)["name"])
    for delivery in deliveries:
        try:
            found = find_delivery(api, delivery, user)
        except RupeeBiasError as error:
            say(f"note: what is there already cannot be seen ({error})")
            continue
        if found.is_there:
            say(f"{delivery.target} has it already{_where(found)}: nothing would be sent")
        else:
            place = f"would bring {found.url} up to date" if found.pull else "would open a pull request"
            say(f"{delivery.target}: {place}{_changing(found)}")


def send(api: "HfApi", deliveries: list[Delivery], say: Say) -> None:
    """Send what is not there yet; nothing before all repositories have been looked at.

    Raises RupeeBiasError, naming what was sent before, where a repository refuses.
    """
    user = str(require_writer(api)["name"])
    states = [find_delivery(api, delivery, user) for delivery in deliveries]
    sent: list[str] = []
    for delivery, found in zip(deliveries, states, strict=True):
        if found.is_there:
            say(f"{delivery.target} has it already{_where(found)}: nothing sent")
            continue
        try:
            sent.append(send_delivery(api, delivery, found))
        except RupeeBiasError as error:
            before = f"\nSent before: {', '.join(sent)}. The same command sends the rest." if sent else ""
            raise RupeeBiasError(f"{error}{before}") from None
        say(f"{delivery.target}: {sent[-1]}{_changing(found)}")


def _changing(found: Found) -> str:
    """Return what sending changes, as the end of a line."""
    return "" if found.change is None else f"; it {found.change}"


def _where(found: Found) -> str:
    """Return where a delivery is, as a part of a line."""
    return "" if found.url is None else f", in the open pull request {found.url}"
