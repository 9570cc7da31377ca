"""The command under test: $STOKER_BIN, else build/release/stoker; the library beside it: $STOKER_FILE_FAULTS."""

import os
from pathlib import Path

import pytest

from file_faults import ROOT, FileFaults
from jobs import make_tars


def built(variable, name):
    path = Path(os.environ.get(variable, ROOT / "build/release" / name)).resolve()
    if not path.is_file():
        pytest.fail(f"there is no {path}: build it (./dev build, or ./dev test), or name one in {variable}")
    return path


@pytest.fixture(scope="session")
def stoker_at():
    """The command, with a folder for its logs and cache."""
    command, library = built("STOKER_BIN", "stoker"), built("STOKER_FILE_FAULTS", "libfile_faults.so")
    return lambda folder: FileFaults(command, library, folder)


@pytest.fixture
def stoker(stoker_at, tmp_path_factory):
    return stoker_at(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def loose(stoker_at, tmp_path_factory):
    """A folder of 60 small images, of which two are none."""
    folder = tmp_path_factory.mktemp("loose") / "data"
    done = stoker_at(tmp_path_factory.mktemp("faults")).run("synth", folder, "--kind", "tiny", "--count", 60, "--classes", 3)
    assert (done.status, done.err) == (0, "")
    for image in sorted(folder.rglob("*.png"))[7::40]:
        image.write_bytes(b"no picture")
    return folder


@pytest.fixture(scope="session")
def tars(loose, tmp_path_factory):
    """The same as six tars."""
    return make_tars(tmp_path_factory.mktemp("tars") / "data", loose, 10)
