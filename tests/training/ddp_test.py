"""The worked example of examples/ddp: what its processes see together is the epoch, however often it is killed and with
how many processes it goes on. The quick suite starts them with the variables that torchrun sets."""

import os
import random
import subprocess
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


# As in PyTorch's own tutorial: nothing but the process group knows the ranks.
SPAWNED = """
import sys, torch, stoker, stoker.torch

def train(rank, data, folder, is_early):
    recipe = stoker.recipe().decode().resize((8, 8))
    make = lambda: stoker.torch.Loader(data, recipe, global_batch=8, threads=1)
    early = make()
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=2)
    try:
        keys = [key for batch in (early if is_early else make()) for key in batch.key]
    except stoker.Error as error:
        keys = [str(error)]
    open(f"{folder}/{rank}", "w").write("\\n".join(keys))

if __name__ == "__main__":
    torch.multiprocessing.start_processes(train, (sys.argv[1], sys.argv[2], sys.argv[3] == "early"), nprocs=2, start_method="fork")
"""


@pytest.mark.parametrize("made", ["early", "late"])
def test_spawned_processes_have_their_places_in_the_process_group(tiny, tmp_path, made):
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    subprocess.run([sys.executable, "-c", SPAWNED, str(tiny), str(tmp_path), made], check=True, timeout=HANG_S, env=environment)
    seen = [(tmp_path / str(rank)).read_text().splitlines() for rank in range(2)]
    if made == "late":
        assert len(seen[0]) == len(seen[1]) > 0 and not set(seen[0]) & set(seen[1])
        assert len(set(seen[0] + seen[1])) == SAMPLES // 8 * 8
    else:
        for rank, said in enumerate(seen):
            assert f"rank {rank} of 2" in said[0] and "rank 0 of 1" in said[0] and "after init_process_group()" in said[0]
