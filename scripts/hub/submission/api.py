"""Submissions as calls: made from a run, found, checked."""

from .build import build_submission
from .check import check_submission
from .folders import find_submissions, submission_digest

__all__ = ["build_submission", "check_submission", "find_submissions", "submission_digest"]
