"""What is wrong with what a user has asked for."""

from __future__ import annotations


class SubmissionError(Exception):
    """A program cannot be started, or not be asked, as the user wants; the message says why."""
