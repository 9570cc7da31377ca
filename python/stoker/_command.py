"""Runs the command `stoker`: of the installed package, or of the path."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Sequence

import stoker


def command_path() -> str:
    """The command that $STOKER_BIN names, that came with this package, or that the path has."""
    named = os.environ.get("STOKER_BIN")
    packaged = pathlib.Path(__file__).parent / "bin" / "stoker"
    found = named or (str(packaged) if packaged.exists() else shutil.which("stoker"))
    if not found:
        raise stoker.Error("the command 'stoker' is neither in the package nor in PATH: install it, or set STOKER_BIN to its path")
    return found


def run_json(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> dict[str, Any]:
    """The object that the command prints with --json. Raises stoker.Error with its sentence for any other status."""
    done = subprocess.run([command_path(), *arguments, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in statuses or not done.stdout:
        said = done.stderr.strip().removeprefix("stoker: ")
        raise stoker.Error(said or f"`stoker {arguments[0]}` ended with status {done.returncode}, without a word")
    return json.loads(done.stdout)
