"""A process that recomputes submissions: one job a line on stdin, one answer a line on stdout.

A job is {"folder", "digest", "files_url", "target"}; the entry itself goes to the file `target`. The answer
is {"message", "is_ours"}: null or what went wrong, and whether that is no fault of the submission.
"""

import signal
import sys
from pathlib import Path
from typing import Any

import orjson

from ...errors import RupeeBiasError


def main() -> None:
    """Do the jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build hears Ctrl-C and ends this process
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing that a library prints may be taken for an answer
    for line in sys.stdin.buffer:
        error, is_ours = _done(orjson.loads(line))
        answers.write(orjson.dumps({"message": error, "is_ours": is_ours}) + b"\n")
        answers.flush()


def _done(job: dict[str, Any]) -> tuple[str | None, bool]:
    """Do one job; return why it failed. Whatever a submission does, the next ones are still checked."""
    from .recompute import recompute

    try:
        recompute(Path(job["folder"]), job["digest"], job["files_url"], Path(job["target"]))
    except RupeeBiasError as error:
        return str(error), True
    except OSError as error:
        return f"{error.filename or job['target']}: {error.strerror or error}", True
    except Exception as error:
        return f"it cannot be checked ({type(error).__name__}: {error})"[:1000], False
    return None, False


if __name__ == "__main__":
    main()
