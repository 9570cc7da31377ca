"""Fixtures for the Python module's tests. Every test is ended with a traceback if it hangs."""

import faulthandler
import os
import subprocess
from pathlib import Path

import pytest

import functions
import sample_images

FULL = "STOKER_TEST_FULL" in os.environ
SECONDS_PER_TEST_MAX = 1200 if FULL else 120


@pytest.fixture(autouse=True)
def hang_guard():
    faulthandler.dump_traceback_later(SECONDS_PER_TEST_MAX, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def rounds():
    """How many rounds a random test makes: the number it is given, or twenty times as many in the long suite."""
    return lambda quick: 20 * quick if FULL else quick


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STOKER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """3 classes, 50 photographs-to-be: not a multiple of most batch sizes."""
    return sample_images.make_folder(tmp_path_factory.mktemp("data") / "train", classes=3, count=50)


@pytest.fixture(scope="session")
def recipe():
    import stoker

    return stoker.recipe().decode().random_resized_crop(32).random_flip().normalize("imagenet")


@pytest.fixture(scope="session")
def frameworks():
    """The Python that has a current torchvision, which ./dev test --full fetches."""
    torchrun = os.environ.get("STOKER_TEST_TORCHRUN", Path(__file__).resolve().parents[2] / "build/torchrun-venv/bin/torchrun")
    return Path(torchrun).with_name("python")


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """functions.C_SOURCE, compiled by itself: its one header is what a user has."""
    import stoker

    folder = tmp_path_factory.mktemp("library")
    (folder / "functions.cc").write_text("#include <cstdlib>\n" + functions.C_SOURCE)
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1", f"-I{stoker.include_folder()}",
                    folder / "functions.cc", "-o", folder / "libfunctions.so"], check=True)
    return f"{folder}/libfunctions.so"
