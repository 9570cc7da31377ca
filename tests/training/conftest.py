"""Fixtures for training on several processes: something to train on, and starting them."""

import shutil
import tempfile
from pathlib import Path

import numpy
import pytest
from PIL import Image

from launchers import Job
from slurm import Slurm

SAMPLES = 96


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    noise = numpy.random.default_rng(1)
    for number in range(SAMPLES):
        path = folder / f"class{number % 3}" / f"{number:03}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(noise.integers(0, 256, (40, 40, 3), dtype=numpy.uint8)).save(path)
    return folder


@pytest.fixture(scope="session")
def slurm():
    at = Path(tempfile.mkdtemp(prefix="stoker-slurm-"))
    slurm = Slurm(at)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(at)


@pytest.fixture
def launch(request, tmp_path):
    """Starts a command by a launcher; what is left of it at the end of the test is killed."""
    jobs = []

    def start(launcher, world, command):
        env = {"TMPDIR": str(tmp_path)}
        if launcher == "srun":
            env["SLURM_CONF"] = request.getfixturevalue("slurm").env["SLURM_CONF"]
        jobs.append(Job(launcher, world, command, env))
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
