"""A tar of five million members, in the long tests only: 5 GB that take minutes."""

import io
import json
import os
import shutil
import subprocess
import tarfile

import numpy as np
import pytest

MEMBERS = 5_000_000
MEMBER_BYTES = 1024  # a header, and the record that holds one byte
AT_ONCE = 100_000

pytestmark = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")


def template():
    """The member 0000000.cls of one byte, without its checksum's digits."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        member = tarfile.TarInfo("0000000.cls")
        member.size = 1
        tar.addfile(member, io.BytesIO(b"0"))
    return np.frombuffer(out.getvalue()[:MEMBER_BYTES], np.uint8)


def digits(numbers, count, base):
    return numbers[:, None] // base ** np.arange(count - 1, -1, -1) % base + ord("0")


def members(first, count):
    """Members whose keys count upwards, and whose labels are the keys' last digits."""
    block = np.tile(template(), (count, 1))
    numbers = np.arange(first, first + count)
    block[:, :7] = digits(numbers, 7, 10)
    block[:, 512] = block[:, 6]
    block[:, 148:156] = ord(" ")
    block[:, 148:154] = digits(block[:, :512].sum(axis=1, dtype=np.int64), 6, 8)
    block[:, 154] = 0
    return block.tobytes()


@pytest.fixture(scope="module")
def tar(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.tar"
    with open(path, "wb") as out:
        for first in range(0, MEMBERS, AT_ONCE):
            out.write(members(first, AT_ONCE))
        out.write(bytes(1024))
    yield path
    shutil.rmtree(path.parent)


def test_five_million_samples_are_indexed_and_found(stoker, tar):
    def run(*arguments):
        done = subprocess.run([stoker.path, *map(str, arguments)], env=stoker.env, capture_output=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    indexed = run("index", tar, "--json")
    assert (indexed["samples"], indexed["bad"]) == (MEMBERS, [])
    assert os.path.getsize(f"{tar}.sidx") < 120 * MEMBERS
    held = run("info", tar, "--json")
    assert (held["samples"], held["labelled"], held["classes"]) == (MEMBERS, MEMBERS, 10)
    whole = run("verify", tar, "--json")
    assert (whole["samples"], whole["bad"]) == (MEMBERS, [])


def test_a_sample_of_five_million_lies_where_it_should(stoker, tar):
    import stoker as module

    subprocess.run([stoker.path, "index", tar], env=stoker.env, check=True, capture_output=True)
    for place in ({"use_index": False}, {}):
        data = module.open(tar, **place)
        assert len(data) == MEMBERS
        for number in (0, 255, 256, 2_500_001, MEMBERS - 1):
            assert data[number] == {"cls": str(number % 10).encode(), "label": number % 10, "key": f"{number:07}"}
