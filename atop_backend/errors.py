"""The kinds of failure that a user can mend; anything else is a bug and keeps its traceback."""

from __future__ import annotations


class AtopError(Exception):
    """A failure that is explained in one sentence with a remedy.

    Args:
        message: What was found and what was expected.
        hint: What to do about it.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


class InputError(AtopError):
    """The request cannot be carried out as given; the user's to mend."""

    exit_code = 2


class SetupError(AtopError):
    """Something the program needs is missing or broken; the installer's to mend."""

    exit_code = 3


class CancelledError(AtopError):
    """The user stopped the job."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("the job was cancelled")
