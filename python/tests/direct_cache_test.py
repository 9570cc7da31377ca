"""The cache on disk, of data that are read past the page cache."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import stoker

RECIPE = '[[view]]\nname = "length"\nfield = "record"\noperators = [{ op = "digest" }]\n'


def is_direct_possible(folder):
    probe = folder / "probe"
    probe.write_bytes(b"x")
    try:
        os.close(os.open(probe, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True


def flags_of_cached_files(cache):
    """How this process has the cache's objects open for reading."""
    flags = []
    for number in os.listdir("/proc/self/fd"):
        try:
            target, info = os.readlink(f"/proc/self/fd/{number}"), pathlib.Path(f"/proc/self/fdinfo/{number}").read_text()
        except FileNotFoundError:  # the one of the listing itself
            continue
        opened = int(info.split("flags:")[1].split()[0], 8)
        if target.startswith(f"{cache}/") and pathlib.Path(target).is_file() and opened & os.O_ACCMODE == os.O_RDONLY:
            flags.append(opened)
    return flags


@pytest.mark.parametrize("direct", [False, True])
def test_the_cache_is_read_as_the_data_are(tmp_path, direct):
    if direct and not is_direct_possible(tmp_path):
        pytest.skip("the file system has no direct reads")
    for arguments in (["synth", tmp_path / "loose", "--kind", "tiny", "--count", 64, "--seed", 3, "--format", "folder"],
                      ["pack", tmp_path / "loose", tmp_path / "packed"]):
        subprocess.run([os.environ["STOKER_BIN"], *map(str, arguments)], check=True, capture_output=True)
    (tmp_path / "r.toml").write_text(RECIPE)
    cache = tmp_path / "cache"
    with stoker.Loader(stoker.open(tmp_path / "packed", direct=direct), stoker.recipe(tmp_path / "r.toml"), batch=16,
                       cache=f"disk={cache}:50MB", tune="off") as loader:
        digests = [[np.asarray(batch.length).tolist() for batch in loader.epoch(epoch)] for epoch in range(3)]
        flags = flags_of_cached_files(cache)
    assert [sorted(sum(one, [])) for one in digests] == [sorted(sum(digests[0], []))] * 3
    assert flags and all(bool(one & os.O_DIRECT) == direct for one in flags)
