"""The Debian packages that `./dev package` makes, unpacked beside the machine's own files: $STOKER_PACKAGE_FOLDER."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = os.environ.get("STOKER_PACKAGE_FOLDER")
pytestmark = pytest.mark.skipif(not FOLDER, reason="`./dev package` makes the packages and runs this")


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages():
    found = {path.name.split("_")[0]: path for path in Path(FOLDER).glob("*.deb")}
    assert sorted(found) == ["libstoker-dev", "stoker"]
    return found


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    at = tmp_path_factory.mktemp("root")
    for package in packages.values():
        run("dpkg-deb", "--extract", package, at)
    return at / "usr"


def test_the_command_runs(unpacked, tmp_path):
    run(unpacked / "bin/stoker", "synth", tmp_path / "data", "--kind", "tiny", "--count", 16)
    assert "16 samples" in run(unpacked / "bin/stoker", "info", tmp_path / "data")


def test_c_programs_are_built_and_run(unpacked, tmp_path):
    (described,) = unpacked.rglob("stoker.pc")
    flags = run("pkg-config", "--cflags", "--libs", described).split()
    run("gcc", ROOT / "examples/c/feed.c", "-o", tmp_path / "feed", *flags)
    run(unpacked / "bin/stoker", "synth", tmp_path / "data", "--kind", "tiny", "--count", 16)
    said = run(tmp_path / "feed", tmp_path / "data", "batch=4", env={**os.environ, "LD_LIBRARY_PATH": str(described.parents[1])})
    assert said.startswith("16 samples in 4 batches")


def test_nothing_is_exported_but_what_stoker_h_declares(unpacked):
    (library,) = unpacked.rglob("libstoker.so.0.1")
    exported = {line.split()[-1].split("@")[0] for line in run("nm", "--dynamic", "--defined-only", library).splitlines()}
    declared = (ROOT / "stoker/c/stoker.h").read_text()
    assert exported and all(f" {name}(" in declared or f"*{name}(" in declared for name in exported), exported


def test_what_they_need_is_named(packages):
    needed = {name: run("dpkg-deb", "--field", path, "Depends") for name, path in packages.items()}
    assert "libcurl4" in needed["stoker"] and "libc6" in needed["stoker"]
    assert "stoker (=" in needed["libstoker-dev"] and "libhwy-dev" in needed["libstoker-dev"]


def test_no_path_of_the_machine_that_built_them_is_in_them(unpacked):
    for path in unpacked.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.suffix != ".a":
            assert str(ROOT).encode() not in path.read_bytes(), path
