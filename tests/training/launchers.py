"""The programs that start the processes of one training. Debian's torchrun breaks on its own Python: the quick suite sets
its variables itself, the long one has a current PyTorch in build/torchrun-venv."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FULL = "STOKER_TEST_FULL" in os.environ
MARK = "STOKER_TEST_JOB"
HANG_S = 100  # a guard against hanging
TORCHRUN = Path(os.environ.get("STOKER_TEST_TORCHRUN", ROOT / "build/torchrun-venv/bin/torchrun"))
VARIABLES_OF = {"mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), "srun": ("SLURM_PROCID", "SLURM_NTASKS")}

only_full = pytest.mark.skipif(not FULL, reason="needs torchrun, mpirun and srun, which ./dev test --full installs")
ALL = ["variables"] + [pytest.param(name, marks=only_full) for name in ("torchrun", "mpirun", "srun")]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name):
    """In the long suite nothing is left out because it is not there."""
    found = shutil.which(name)
    assert found, f"there is no '{name}': ./dev test --full installs it"
    return found


def launched(launcher, world, command, name):
    """The commands that start `command` so many times, and what each has in its environment."""
    master = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    if launcher == "variables":
        return [(command, {**master, "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank)})
                for rank in range(world)]
    if launcher == "torchrun":  # with the Python that it belongs to
        assert command[0] == sys.executable
        options = ["--nproc-per-node", str(world), "--master-port", master["MASTER_PORT"]]
        return [([program(TORCHRUN), *options, *command[1:]], {})]
    if launcher == "mpirun":
        return [([program("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", str(world), *command], master)]
    assert launcher == "srun"
    return [([program("srun"), "-n", str(world), "--job-name", name, *command], master)]


def told_as_torch_wants(launcher, command):
    """PyTorch knows torchrun's variables only; the others' users set them, as the example's README says."""
    if launcher not in VARIABLES_OF:
        return command
    rank, world = VARIABLES_OF[launcher]
    return ["/bin/sh", "-c", f'RANK=${rank} WORLD_SIZE=${world} exec "$@"', "sh", *command]


class Job:
    """The processes of one start. They, and theirs, are known by a mark in their environment."""

    def __init__(self, launcher, world, command, env=None):
        self.launcher = launcher
        self.name = str(uuid.uuid4())
        self.env = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {}), MARK: self.name}
        self.started = [
            subprocess.Popen(command, env={**self.env, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
            for command, more in launched(launcher, world, [str(part) for part in command], self.name)]

    def wait(self):
        """What they printed; all have to succeed."""
        printed = []
        for process in self.started:
            output, _ = process.communicate(timeout=HANG_S)
            assert process.returncode == 0, output
            printed.append(output)
        return "".join(printed)

    def is_over(self):
        return all(process.poll() is not None for process in self.started)

    def kill(self):
        """At once, with all that they have started."""
        for process in self.started:
            process.kill()
        deadline = time.monotonic() + HANG_S
        while left := marked_processes(self.name):
            assert time.monotonic() < deadline
            for number in left:
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for process in self.started:
            process.wait()
            process.stdout.close()
        if self.launcher == "srun":  # the node would stay taken for minutes
            subprocess.run([program("scancel"), "--name", self.name], env=self.env, check=True, timeout=HANG_S)


def marked_processes(name):
    mark = f"{MARK}={name}"
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has ended, or is another user's
            pass
    return found
