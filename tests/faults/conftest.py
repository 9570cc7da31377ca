"""The command under test: $STOKER_BIN, else build/release/stoker; the library beside it: $STOKER_FILE_FAULTS."""

import os
from pathlib import Path

import pytest

from file_faults import ROOT, FileFaults


def built(variable, name):
    path = Path(os.environ.get(variable, ROOT / "build/release" / name)).resolve()
    if not path.is_file():
        pytest.fail(f"there is no {path}: build it (./dev build, or ./dev test), or name one in {variable}")
    return path


@pytest.fixture
def stoker(tmp_path_factory):
    return FileFaults(built("STOKER_BIN", "stoker"), built("STOKER_FILE_FAULTS", "libfile_faults.so"),
                      tmp_path_factory.mktemp("faults"))
