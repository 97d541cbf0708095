"""`rupeebias submit`: a run's submission and evaluation results, shown first, then sent to the Hub."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rupeebias.metric.constants import BENCHMARK_VERSION

from ...errors import RupeeBiasError
from ...naming import is_simulated_name
from ...runs.manifest import read_manifest
from ..client import DATASET, RESULTS, hub_client, hub_errors, require_writer
from .build import build_submission
from .check import check_submission
from .delivery import Delivery, find_delivery, send_delivery
from .earlier import earlier_results, earlier_submission
from .eval_results import PATH, Source, eval_yaml, reason_without
from .manifest import is_simulated
from .options import SubmitOptions, check_options
from .preview import Say, changing, look, losses, show, where
from .records import FOLDER, MANIFEST, CheckedSubmission

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_PLACEHOLDER: Final = "ORG"


def submit(run: Path, options: SubmitOptions, say: Say) -> None:
    """Build the submission of a run, check it, show what would be sent, and send it if asked to.

    Raises UsageError and RupeeBiasError, before anything is sent or shown, for bad options, a run that cannot
    be submitted and repositories or rights that are missing. The run of a simulated respondent can only be
    kept.
    """
    check_options(options)
    if is_simulated_name(read_manifest(run).identity.model):
        _refuse_to_send(f"{run} is a run of", options)
    api = hub_client()
    if options.create_pr:
        _ask_first(api, options)
    deliveries = prepare(run, options, api, say)
    for delivery in deliveries:
        show(delivery, say, with_manifest=not options.create_pr)
    if options.create_pr:
        send(api, deliveries, say)
        return
    if options.org is not None:
        look(api, deliveries, say)
    if deliveries:
        say("dry run: nothing was sent (--create-pr sends)")


def _refuse_to_send(whose: str, options: SubmitOptions) -> None:
    """Raise RupeeBiasError for answers of a simulated respondent, unless they are only to be kept."""
    if options.out is None or options.create_pr:
        raise RupeeBiasError(
            f"{whose} a simulated respondent, no model: it cannot be sent. Submit a run of a model "
            "(`rupeebias audit --model local/smollm2` makes one on this machine); --out DIR alone keeps this "
            "one, for `rupeebias validate-submission` and `rupeebias leaderboard`"
        )


def _ask_first(api: "HfApi", options: SubmitOptions) -> None:
    """Ask for rights and repositories before the work of making a submission."""
    require_writer(api)
    repositories = [("dataset", f"{options.org}/{RESULTS}"), ("model", options.repo)]
    for kind, name in repositories:
        if name is not None:
            with hub_errors(f"read {kind} {name}", api.token):
                api.repo_info(name, repo_type=kind)


def prepare(run: Path, options: SubmitOptions, api: "HfApi", say: Say) -> list[Delivery]:
    """Return what a run gives to send, built and checked; the Hub is only asked for the dataset's commit.

    The run of a simulated respondent gives nothing.
    """
    with tempfile.TemporaryDirectory(prefix="rupeebias-submit-") as temporary:
        folder = build_submission(run, options.out or Path(temporary), model_repo=options.repo)
        if options.out is not None:
            say(f"wrote {folder}")
        checked = _checked(folder)
        is_sent = checked.manifest is None or not is_simulated(checked.manifest)
        if not is_sent:
            _refuse_to_send("the answers are those of", options)
        for note in (*(problem.message for problem in checked.problems), *losses(checked)):
            say(f"note: {note}")
        return list(_deliveries(checked, options, api, say)) if is_sent else []


def send(api: "HfApi", deliveries: list[Delivery], say: Say) -> None:
    """Send what is not there yet; nothing before all repositories have been looked at.

    Raises RupeeBiasError, naming what was sent before, where a repository refuses.
    """
    user = str(require_writer(api)["name"])
    states = [find_delivery(api, delivery, user) for delivery in deliveries]
    sent: list[str] = []
    for delivery, found in zip(deliveries, states, strict=True):
        if found.is_there:
            say(f"{delivery.target} has it already{where(found)}: nothing sent")
            continue
        try:
            sent.append(send_delivery(api, delivery, found))
        except RupeeBiasError as error:
            before = f"\nSent before: {', '.join(sent)}. The same command sends the rest." if sent else ""
            raise RupeeBiasError(f"{error}{before}") from None
        say(f"{delivery.target}: {sent[-1]}{changing(found)}")


def _checked(folder: Path) -> CheckedSubmission:
    checked = check_submission(folder)
    if not checked.accepted:
        faults = "; ".join(problem.message for problem in checked.problems if problem.fatal)
        lost = "".join(f"; {loss}" for loss in losses(checked))
        raise RupeeBiasError(f"the submission would be refused: {faults}{lost}")
    return checked


def _deliveries(
    checked: CheckedSubmission, options: SubmitOptions, api: "HfApi", say: Say
) -> Iterator[Delivery]:
    manifest, result, folder = checked.manifest, checked.result, checked.folder
    if manifest is None or result is None:
        raise RupeeBiasError("nothing in the run can be scored, so there is nothing to send")
    owner = options.org or _PLACEHOLDER
    results, path = f"{owner}/{RESULTS}", f"{FOLDER}/{folder.name}"
    if options.org is None:
        say(f"note: {_PLACEHOLDER} stands for the owner of the benchmark on the Hub (--org)")
    yield Delivery(
        kind="dataset",
        repo=results,
        title=f"Submission {folder.name}",
        description=(
            f"Model: `{_code(manifest.model)}`. Made by `rupeebias submit`; "
            "`rupeebias validate-submission` computes its scores again."
        ),
        files={f"{path}/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())},
        earlier=earlier_submission(f"{path}/{MANIFEST}", manifest),
    )
    reason = reason_without(manifest, result)
    if reason is not None:
        say(f"note: no evaluation results for the page of the model: {reason}")
    elif options.repo is None:
        say("note: no evaluation results for the page of the model: --repo names it")
    else:
        url = options.source_url or f"{api.endpoint}/datasets/{results}/tree/main/{path}"
        if options.source_url is None:
            say("note: the source that the results name is there once the results dataset has merged it")
        source = Source(f"{owner}/{DATASET}", _revision(api, options.org, say), url)
        yield Delivery(
            kind="model",
            repo=options.repo,
            title="RupeeBias evaluation results",
            description=(
                f"Results of the run {folder.name} on the benchmark {source.dataset}. "
                f"The outputs behind them: {url}"
            ),
            files={PATH: eval_yaml(manifest, result, source).encode()},
            earlier=earlier_results(PATH),
        )


def _code(text: str) -> str:
    """Return a text that cannot end the code span in which it stands."""
    return text.replace("`", "'")


def _revision(api: "HfApi", org: str | None, say: Say) -> str | None:
    """Return the commit of the dataset's version on the Hub, None if it cannot be read."""
    tag = f"v{BENCHMARK_VERSION}"
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
