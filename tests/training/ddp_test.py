"""The worked example of examples/ddp: what its processes see together is the epoch, however often it is killed and with
how many processes it goes on. The quick suite starts them with the variables that torchrun sets."""

import random
import sys
import time
from pathlib import Path

import pytest
import torch

import stoker

import launchers
from conftest import SAMPLES
from launchers import HANG_S

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "ddp" / "train.py"
GLOBAL_BATCH, EPOCHS = 8, 3
ROUNDS = 10 if launchers.FULL else 1


def seen_in(folder):
    """(epoch, position, key) of all samples that the processes of a job were given; a last line may be torn."""
    seen = []
    for path in folder.iterdir():
        for line in path.read_text().split("\n")[:-1]:
            epoch, position, key = line.split(" ")
            seen.append((int(epoch), int(position), key))
    return seen


def kill_after(lines, job, log):
    """Once its processes have written down so many samples, or have ended."""
    deadline = time.monotonic() + HANG_S
    while len(seen_in(log)) < lines and not job.is_over():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    job.kill()


@pytest.fixture
def train(launch, tmp_path, tiny):
    """The job, and the folder where its processes write down what they are given."""
    def start(launcher, world, name, checkpoint=None):
        log = tmp_path / name
        log.mkdir()
        command = [sys.executable, SCRIPT, tiny, "--epochs", EPOCHS, "--global-batch", GLOBAL_BATCH, "--seen", log]
        if checkpoint:
            command += ["--checkpoint", checkpoint]
        return launch(launcher, world, launchers.told_as_torch_wants(launcher, command)), log

    return start


@pytest.fixture(scope="session")
def expected(tiny):
    """What one process alone is given."""
    recipe = stoker.recipe().decode().random_resized_crop(32).random_flip().normalize("imagenet")
    with stoker.Loader(tiny, recipe, global_batch=GLOBAL_BATCH, threads=1) as loader:
        return [(epoch, position, key) for epoch in range(EPOCHS) for batch in loader.epoch(epoch)
                for position, key in zip(batch.position.tolist(), batch.key)]


@pytest.mark.parametrize("launcher", launchers.ALL)
@pytest.mark.parametrize("world", [2, 4])
def test_processes_see_each_epoch_once_together(train, expected, launcher, world):
    job, log = train(launcher, world, "log")
    job.wait()
    assert sorted(seen_in(log)) == expected
    assert len({key for epoch, _, key in expected if epoch == 0}) == SAMPLES


@pytest.mark.parametrize("launcher", launchers.ALL)
def test_another_number_of_processes_goes_on_where_killed_ones_were(train, expected, tmp_path, launcher):
    for round in range(ROUNDS if launcher == "variables" else 1):
        random.seed(round)
        checkpoint = tmp_path / f"run{round}.pt"
        seen = {}
        for attempt, world in enumerate([2, 4, 1, 2]):
            begin = torch.load(checkpoint)["loader"] if checkpoint.exists() else {"epoch": 0, "batch": 0}
            job, log = train(launcher, world, f"log{round}-{attempt}", checkpoint)
            if attempt < 3:
                kill_after(random.randrange(8, 90), job, log)
            else:
                job.wait()
            now = seen_in(log)
            first = (begin["epoch"], begin["batch"] * GLOBAL_BATCH)
            assert all(sample[:2] >= first for sample in now), "what the checkpoint has behind it does not come again"
            # What came after the last checkpoint is made again, and must be the same.
            for epoch, position, key in now:
                assert seen.setdefault((epoch, position), key) == key
        assert [(*place, key) for place, key in sorted(seen.items())] == expected
