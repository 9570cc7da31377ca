"""Runs a command whose calls to change files are seen, and fail or end it where that is asked for (file_faults.cc)."""

import fnmatch
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 120  # a guard against hanging, not a limit on speed


@dataclass(frozen=True)
class Call:
    """One call that changed files, or tried to."""

    number: int
    name: str
    path: str  # what it changed; the new name of a rename
    before: str  # the old name of a rename
    result: str  # what it returned, -errno, or "killed"

    @property
    def failed(self):
        return self.result.startswith("-")


@dataclass(frozen=True)
class Run:
    """How the command ended and what it did to files."""

    status: int
    out: str
    err: str
    calls: list = field(repr=False)

    @property
    def killed(self):
        return self.status == -signal.SIGKILL

    def count(self, target):
        """Calls by name, or by "CALL:GLOB" as a fault has it."""
        name, _, glob = target.partition(":")
        return sum(call.name == name and fnmatch.fnmatchcase(call.path, glob or "*") for call in self.calls)

    def sentence(self):
        """The one sentence of a command that failed."""
        lines = self.err.splitlines()
        assert self.status == 1 and len(lines) == 1 and lines[0].startswith("stoker: "), self
        return lines[0]


class FileFaults:
    def __init__(self, command, library, folder):
        """`folder` is for the logs, and the command's cache where a run has none of its own."""
        self.command, self.library, self.folder = command, library, folder
        self.runs = 0

    def run(self, *args, fault=None, while_stopped=None, cache=None, through=()):
        """The fault is written as STOKER_FAULTS, for instance "kill_after 1 rename:*.tar". `while_stopped` is called once
        a fault "stop_before" has stopped the command, which then goes on. `through` are words that start the command."""
        self.runs += 1
        log = self.folder / f"calls-{self.runs}.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("STOKER_")}
        env = {**kept, "STOKER_CACHE_DIR": str(cache or self.folder / "cache"), "LD_PRELOAD": str(self.library),
               "STOKER_FAULTS_LOG": str(log)}
        if fault:
            env["STOKER_FAULTS"] = fault
        with subprocess.Popen([*through, self.command, *map(str, args)], env=env, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                if while_stopped:
                    _, status = os.waitpid(process.pid, os.WUNTRACED)
                    assert os.WIFSTOPPED(status), "the command ended without the call that was to stop it"
                    while_stopped()
                    process.send_signal(signal.SIGCONT)
                out, err = process.communicate(timeout=HANG_S)
            finally:
                process.kill()
        calls = []
        if log.exists():
            for line in log.read_text().splitlines():
                number, *rest = line.split("\t")
                calls.append(Call(int(number), *rest))
            log.unlink()
        return Run(process.returncode, out, err, calls)


def careless_renames(calls):
    """The renames that could lose data when the power fails: of a file that was not on disk, or into a folder whose names
    were not put on disk afterwards."""
    found = []
    for at, call in enumerate(calls):
        if call.name != "rename" or call.failed:
            continue
        changes = [c for c in calls[:at] if c.path == call.before and c.name != "close"]
        synced = changes and changes[-1].name in ("fsync", "fdatasync") and not changes[-1].failed
        folder = os.path.dirname(call.path)
        named = any(c.name == "fsync" and c.path == folder and not c.failed for c in calls[at:])
        if not (synced and named):
            found.append(call)
    return found


def files_below(folder):
    """The bytes of every file, by its path below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
