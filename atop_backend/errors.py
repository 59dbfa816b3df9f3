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


def missing_package(needs: str, package: str, extra: str, otherwise: str = "") -> SetupError:
    """What to raise where an optional package cannot be imported.

    Args:
        needs: Who needs it, with the verb: "URDF clips need".
        extra: Of pyproject.toml, which brings the package.
        otherwise: What to do instead, for the hint.
    """
    hint = f"pip install 'atop-backend[{extra}]'"
    return SetupError(
        f"{needs} the package {package}", hint=f"{hint}, or {otherwise}" if otherwise else hint
    )


class CancelledError(AtopError):
    """The user stopped the job."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("the job was cancelled")
