"""Programs that know nothing of ranks, under the launchers themselves: each process is given its part, and no other's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import stoker

import launchers
from conftest import SAMPLES

PROGRAM = Path(__file__).with_name("what_a_rank_sees.py")
COMMAND = Path(os.environ.get("STOKER_BIN", launchers.ROOT / "build/release/stoker")).resolve()
GLOBAL_BATCH = 8


@pytest.fixture
def seen(launch, tiny, tmp_path):
    """What the processes are given, in the order of their ranks."""
    def start(launcher, world):
        folder = tmp_path / "seen"
        folder.mkdir()
        launch(launcher, world, [sys.executable, PROGRAM, tiny, folder, GLOBAL_BATCH]).wait()
        return sorted(json.loads(path.read_text()) for path in folder.iterdir())

    return start


@pytest.mark.parametrize("launcher", launchers.ALL)
@pytest.mark.parametrize("world", [2, 4])
def test_each_process_is_given_its_slice_of_every_batch(seen, tiny, launcher, world):
    recipe = stoker.recipe().decode().resize((8, 8))
    with stoker.Loader(tiny, recipe, global_batch=GLOBAL_BATCH) as loader:
        whole = [batch.key for batch in loader]
    ranks = seen(launcher, world)
    assert len(ranks) == world and len(whole) == SAMPLES // GLOBAL_BATCH
    part = GLOBAL_BATCH // world
    for rank, batches in enumerate(ranks):
        for number, (positions, keys) in enumerate(batches):
            begin = number * GLOBAL_BATCH + rank * part
            assert positions == list(range(begin, begin + part))
            assert keys == whole[number][rank * part:(rank + 1) * part]
        assert len(batches) == len(whole)


@pytest.mark.parametrize("launcher", launchers.ALL)
def test_the_commands_audits_of_all_ranks_are_together_that_of_one(launch, tiny, tmp_path, launcher):
    def audited(launcher, world, folder):
        (tmp_path / folder).mkdir()
        script = tmp_path / f"{folder}.sh"
        script.write_text(f'exec "$@" --audit {tmp_path / folder}/$$')
        command = ["/bin/sh", script, COMMAND, "run", tiny, "--recipe", "cifar-train", "--global-batch", GLOBAL_BATCH,
                   "--epochs", 2]
        if launcher == "torchrun":  # it starts Python programs, unless told otherwise
            command = [sys.executable, "--no-python", *command]
        launch(launcher, world, command).wait()
        audits = [path.read_text().splitlines() for path in (tmp_path / folder).iterdir()]
        assert len(audits) == world
        return sorted(line for audit in audits for line in audit)

    alone = audited("variables", 1, "alone")
    assert len(alone) == 2 * SAMPLES
    assert audited(launcher, 2, "together") == alone


@launchers.only_full
@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_emulated_accelerators_of_all_ranks_step_together(launch, tmp_path, launcher):
    """As MLPerf Storage starts its ranks: the first one writes the summary of all."""
    data, summary = tmp_path / "bert", tmp_path / "summary.json"
    subprocess.run([COMMAND, "synth", data, "--like", "bert", "--count", "400"], check=True, capture_output=True)
    launch(launcher, 2, [COMMAND, "run", data / "train", "--accelerator", "mlperf:bert/v100", "--batch", 10, "--accelerators", 2,
                         "--summary", summary]).wait()
    told = json.loads(summary.read_text())
    assert told["num_accelerators"] == 4
    assert 0 < told["metric"]["train_au_mean_percentage"] <= 110


@launchers.only_full
def test_torchrun_is_of_a_pytorch_of_its_own():
    ours = launchers.TORCHRUN.with_name("python")
    said = subprocess.run([ours, "-c", "import torch; print(torch.__file__)"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"{launchers.TORCHRUN.parents[1]}/")


@launchers.only_full
def test_a_rank_that_contradicts_the_launcher_is_refused(launch, tiny):
    script = "import sys, stoker; stoker.Loader(sys.argv[1], 'cifar-train', batch=4, rank=0, world=3)"
    for launcher, name in (("mpirun", "Open MPI"), ("srun", "Slurm")):
        with pytest.raises(AssertionError, match=f"by the arguments this process is rank 0 of 3, by {name} it is rank [01] of 2"):
            launch(launcher, 2, [sys.executable, "-c", script, tiny]).wait()
