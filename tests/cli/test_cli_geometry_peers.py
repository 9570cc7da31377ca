"""Where image, mask, boxes and masks of objects go, beside torchvision v2 and albumentations, in the environment of `./dev bench structured`:
geometry_peers.py. With --full."""

import importlib.util
import os
import pathlib
import subprocess

from foreign_formats import full

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python_of_peers():
    spec = importlib.util.spec_from_file_location("environments", ROOT / "bench/peers/environments.py")
    environments = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(environments)
    return environments.make("structured", ROOT / "build/peers")


@full
def test_shared_geometry_is_that_of_torchvision_and_albumentations():
    module = pathlib.Path(os.environ["STOKER_BIN"]).parent / "python"
    done = subprocess.run([python_of_peers(), pathlib.Path(__file__).with_name("geometry_peers.py")],
                          env={**os.environ, "PYTHONPATH": str(module)}, text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (0, "85 held\n"), done.stderr
