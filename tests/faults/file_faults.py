"""Runs a command whose calls to change files are seen, and fail or end it where that is asked for (file_faults.cc)."""

import os
import signal
import subprocess
from dataclasses import dataclass
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
    calls: list

    @property
    def killed(self):
        return self.status == -signal.SIGKILL

    def count(self, name):
        return sum(call.name == name for call in self.calls)

    def sentence(self):
        """The one sentence of a command that failed."""
        lines = self.err.splitlines()
        assert self.status == 1 and len(lines) == 1 and lines[0].startswith("stoker: "), self
        return lines[0]


class FileFaults:
    def __init__(self, command, library, folder):
        """`folder` is for the logs and the command's cache."""
        self.command, self.library, self.folder = command, library, folder
        self.runs = 0

    def run(self, *args, fault=None, cwd=None):
        """The fault is written as STOKER_FAULTS, for instance "kill_after 1 rename:*.tar"."""
        self.runs += 1
        log = self.folder / f"calls-{self.runs}.log"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("STOKER_")}
        env = {**kept, "STOKER_CACHE_DIR": str(self.folder / "cache"), "LD_PRELOAD": str(self.library),
               "STOKER_FAULTS_LOG": str(log)}
        if fault:
            env["STOKER_FAULTS"] = fault
        done = subprocess.run([self.command, *map(str, args)], env=env, cwd=cwd, text=True, timeout=HANG_S,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        calls = []
        if log.exists():
            for line in log.read_text().splitlines():
                number, *rest = line.split("\t")
                calls.append(Call(int(number), *rest))
            log.unlink()
        return Run(done.returncode, done.stdout, done.stderr, calls)


def careless_renames(calls):
    """The renames that could lose data when the power fails: of a file that was not on disk, or into a folder whose names
    were not put on disk afterwards."""
    found = []
    for at, call in enumerate(calls):
        if call.name != "rename" or call.failed:
            continue
        file = [c for c in calls[:at] if c.path == call.before and c.name in ("open", "write", "pwrite", "ftruncate", "fsync", "fdatasync")]
        synced = file and file[-1].name in ("fsync", "fdatasync") and not file[-1].failed
        folder = os.path.dirname(call.path)
        named = any(c.name == "fsync" and c.path == folder and not c.failed for c in calls[at:])
        if not (synced and named):
            found.append(call)
    return found


def files_below(folder):
    """The bytes of every file, by its path below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
