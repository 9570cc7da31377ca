"""The worked example of examples/ddp: what its processes see together is the epoch, however often it is killed and with
how many processes it goes on. They are started with the variables that torchrun sets."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest
import torch
from PIL import Image

import stoker

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "ddp" / "train.py"
SAMPLES, GLOBAL_BATCH, EPOCHS = 96, 8, 3
HANG_S = 100  # a guard against hanging
ROUNDS = 10 if "STOKER_TEST_FULL" in os.environ else 1


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """The processes of one torchrun."""

    def __init__(self, world, log, *arguments):
        self.log = log
        port = str(free_port())
        self.processes = []
        for rank in range(world):
            env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank),
                   "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
            self.processes.append(subprocess.Popen([sys.executable, str(SCRIPT), *map(str, arguments), "--log", str(log)],
                                                   env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))

    def wait(self):
        for process in self.processes:
            output, _ = process.communicate(timeout=HANG_S)
            assert process.returncode == 0, output

    def kill_after(self, lines):
        """Once its processes have written down so many samples, or have ended."""
        deadline = time.monotonic() + HANG_S
        while len(seen_in(self.log)) < lines and any(process.poll() is None for process in self.processes):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
        for process in self.processes:
            process.communicate(timeout=HANG_S)

    def kill(self):
        for process in self.processes:
            process.kill()
            process.communicate()


def seen_in(folder):
    """(epoch, position, key) of all samples that the processes of a job were given; a last line may be torn."""
    seen = []
    for path in folder.iterdir():
        for line in path.read_text().split("\n")[:-1]:
            epoch, position, key = line.split(" ")
            seen.append((int(epoch), int(position), key))
    return seen


@pytest.fixture
def train(tmp_path, tiny):
    jobs = []

    def start(world, name, checkpoint=None):
        log = tmp_path / name
        log.mkdir()
        arguments = [tiny, "--epochs", EPOCHS, "--global-batch", GLOBAL_BATCH]
        if checkpoint:
            arguments += ["--checkpoint", checkpoint]
        jobs.append(Job(world, log, *arguments))
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ddp")
    noise = numpy.random.default_rng(1)
    for number in range(SAMPLES):
        path = folder / f"class{number % 3}" / f"{number:03}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(noise.integers(0, 256, (40, 40, 3), dtype=numpy.uint8)).save(path)
    return folder


@pytest.fixture(scope="session")
def expected(tiny):
    """What one process alone is given."""
    recipe = stoker.recipe().decode().random_resized_crop(32).random_flip().normalize("imagenet")
    with stoker.Loader(tiny, recipe, global_batch=GLOBAL_BATCH, threads=1) as loader:
        return [(epoch, position, key) for epoch in range(EPOCHS) for batch in loader.epoch(epoch)
                for position, key in zip(batch.position.tolist(), batch.key)]


@pytest.mark.parametrize("world", [2, 4])
def test_processes_see_each_epoch_once_together(train, expected, world):
    job = train(world, "log")
    job.wait()
    assert sorted(seen_in(job.log)) == expected
    assert len({key for epoch, _, key in expected if epoch == 0}) == SAMPLES


def test_another_number_of_processes_goes_on_where_killed_ones_were(train, expected, tmp_path):
    for round in range(ROUNDS):
        random.seed(round)
        checkpoint = tmp_path / f"run{round}.pt"
        seen = {}
        for attempt, world in enumerate([2, 4, 1, 2]):
            begin = torch.load(checkpoint)["loader"] if checkpoint.exists() else {"epoch": 0, "batch": 0}
            job = train(world, f"log{round}-{attempt}", checkpoint)
            if attempt < 3:
                job.kill_after(random.randrange(8, 90))
            else:
                job.wait()
            now = seen_in(job.log)
            first = (begin["epoch"], begin["batch"] * GLOBAL_BATCH)
            assert all(sample[:2] >= first for sample in now), "what the checkpoint has behind it does not come again"
            # What came after the last checkpoint is made again, and must be the same.
            for epoch, position, key in now:
                assert seen.setdefault((epoch, position), key) == key
        assert [(*place, key) for place, key in sorted(seen.items())] == expected
