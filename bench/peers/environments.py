"""A virtual environment for each peer in Python, of pinned versions. The system's Python makes them."""

import os
import pathlib
import shutil
import subprocess

PYTHON = "/usr/bin/python3"  # Debian's
NUMPY = "numpy==2.4.6"
REQUIREMENTS = {
    "pillow": ["pillow==13.0.0", NUMPY],
    "opencv": ["opencv-python-headless==5.0.0.93", NUMPY],
    "torchvision": ["torch==2.15.0", "torchvision==0.29.2", "pillow==13.0.0", NUMPY],
    "dali": ["nvidia-dali-cuda120==2.4.0", NUMPY],
    "kornia": ["torch==2.15.0", "torchvision==0.29.2", "kornia==0.9.0", NUMPY],
    "albumentations": ["albumentations==2.0.8", NUMPY],
    "spdl": ["spdl==0.8.0", NUMPY],
    "structured": ["torch==2.15.0", "torchvision==0.29.2", "pillow==13.0.0", "pycocotools==2.0.11", "albumentations==2.0.8",
                   "opencv-python-headless==5.0.0.93", NUMPY],
    "remote": ["torch==2.15.0", NUMPY, "boto3==1.44.8", "obstore==0.12.1", "s3torchconnector==1.5.0", "webdataset==1.0.2",
               "mosaicml-streaming==0.10.0"],
    "ray": ["ray==2.60.0", NUMPY],
    "tensorflow": ["tensorflow-cpu==2.21.0"],
    "formats": ["tensorflow-cpu==2.21.0", "datasets==5.2.0", "pyarrow==26.0.1", "lmdb==3.0.0", "h5py==3.14.0",
                "pillow==13.0.0", NUMPY],
    "lmdb": ["lmdb==3.0.0"],
    "litdata": ["--no-deps", "litdata==0.2.76", "lightning-utilities==0.15.3", "tifffile==2026.3.3"],
    "dlio": ["--no-deps", "dlio-benchmark==2.0.0", "hydra-core==1.3.2", "omegaconf==2.3.0",
             "antlr4-python3-runtime==4.9.3", "PyYAML==6.0.4", "mpi4py==4.1.2", "mpich==5.0.2", "pandas==3.1.1",
             "python-dateutil==4.0.0", "six==1.17.0", "psutil==7.1.0", "pydftracer==1.0.2"],
    "ffcv": ["--no-deps", "ffcv==1.0.2", "numba==0.58.1", "llvmlite==0.41.1", "opencv-python-headless==4.8.1.78",
             "fastargs==1.2.0", "assertpy==1.1", "terminaltables==3.1.10", "pytorch-pfn-extras==0.9.0", "tqdm==4.70.1",
             "psutil==7.1.0"],
}
# FFCV is of 2023: it has Debian's PyTorch and NumPy, which are of its time.
SEES_DEBIAN = {"ffcv"}
# The packages of other environments, after its own: PyTorch and TensorFlow are there already.
SEES = {"litdata": ["remote"], "dlio": ["formats", "remote"]}


class Unavailable(Exception):
    """A peer cannot be had, and why."""


def make(name, folder):
    """The Python of the environment, which is made unless it is there as it should be. Throws Unavailable."""
    for other in SEES.get(name, []):
        make(other, folder)
    at, log = pathlib.Path(folder) / name, pathlib.Path(folder) / f"{name}.log"
    whole, wanted = at / "whole", "\n".join(REQUIREMENTS[name])
    if not (whole.exists() and whole.read_text() == wanted):
        shutil.rmtree(at, ignore_errors=True)
        at.parent.mkdir(parents=True, exist_ok=True)
        sees = ["--system-site-packages"] if name in SEES_DEBIAN else []
        with open(log, "w") as output:
            for command in ([PYTHON, "-m", "venv", *sees, at],
                            [at / "bin/python", "-m", "pip", "install", "--disable-pip-version-check",
                             *REQUIREMENTS[name]]):
                # Packages that the caller finds by PYTHONPATH would count as installed.
                alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
                if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=alone).returncode:
                    raise Unavailable(f"cannot be installed: {last_line(log)} (all of it: {log})")
        if name in SEES:
            own, *others = (next(place.glob("lib/python*/site-packages"))
                            for place in (at, *(at.parent / other for other in SEES[name])))
            (own / "others.pth").write_text("".join(f"{other}\n" for other in others))
        whole.write_text(wanted)
    return at / "bin/python"


def last_line(log):
    lines = [line.strip() for line in pathlib.Path(log).read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["it said nothing"])[-1]
