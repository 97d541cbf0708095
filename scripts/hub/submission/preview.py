"""What `rupeebias submit` says before it sends, or instead."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import RupeeBiasError
from ..client import require_writer
from .delivery import Delivery, Found, find_delivery
from .eval_results import PATH
from .limits import MAX_CHARACTERS
from .records import MANIFEST, CheckedSubmission

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Say = Callable[[str], object]


def show(delivery: Delivery, say: Say, *, with_manifest: bool) -> None:
    """Say what a delivery holds: paths, sizes, and the text of what a reader may care about."""
    size = sum(map(len, delivery.files.values()))
    count = len(delivery.files)
    say(f"pull request on {delivery.target}: {count} file{'s' * (count > 1)}, {size:,} bytes")
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
            say(f"{delivery.target} has it already{where(found)}: nothing would be sent")
        else:
            place = f"would bring {found.url} up to date" if found.pull else "would open a pull request"
            say(f"{delivery.target}: {place}{changing(found)}")


def losses(checked: CheckedSubmission) -> Iterator[str]:
    """Yield what the user may want to put right before sending."""
    outputs = checked.outputs
    failed = sum(outputs.errors or ()) if outputs else 0
    if outputs and failed:
        yield (
            f"{failed:,} of {len(outputs.outputs):,} calls failed and count as unanswered: repeat the "
            "command that made the run with --retry-errors to ask them again"
        )
    cut = sum(text is not None and len(text) >= MAX_CHARACTERS for text in outputs.outputs) if outputs else 0
    if cut:
        yield f"{cut:,} answers are cut at {MAX_CHARACTERS:,} characters and count as cut off"


def changing(found: Found) -> str:
    """Return what sending changes, as the end of a line."""
    return "" if found.change is None else f"; it {found.change}"


def where(found: Found) -> str:
    """Return where a delivery is, as a part of a line."""
    return "" if found.url is None else f", in the open pull request {found.url}"
