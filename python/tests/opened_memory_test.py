"""An opened data set takes as much memory with a million samples as with ten thousand, whatever its format, once there is an
index: here the one that opening keeps in the cache."""

import json
import os
import struct
import subprocess
import sys
import tarfile

import numpy as np
import pytest

FULL = "STOKER_TEST_FULL" in os.environ
FEW, MANY = 10_000, 1_000_000 if FULL else 100_000
HANG_S = 600  # a guard against hanging, not a limit on speed
DIFFERENCE_MIB = 1  # what an index keeps of each block of 256 rows, and what malloc rounds up to
ROW_BYTES = 40  # at least what a row takes in memory that is not read from an index
IMAGE = b"\xff\xd8\xffA"

PROGRAM = """
import json, sys, stoker

def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))

stoker.open(sys.argv[1])[0]  # a small one of the same format: what is loaded with the first call
before = resident()
data = stoker.open(sys.argv[2], use_index=sys.argv[3] == "index")
ends = [data[number]["jpg"].decode("latin-1") for number in (0, len(data) // 2, len(data) - 1)]
print(json.dumps([len(data), ends, resident() - before]))
"""


def opened(small, large, way, cache):
    """How many samples there are, and the MiB that the opened set takes."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, small, large, way], capture_output=True, text=True, timeout=HANG_S,
                          env=os.environ | {"STOKER_CACHE_DIR": str(cache)})
    assert (done.returncode, done.stderr) == (0, "")
    samples, images, taken = json.loads(done.stdout)
    assert images == [IMAGE.decode("latin-1")] * 3
    return samples, taken


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def recordio(count):
    records = np.zeros(count, np.dtype([("magic", "<u4"), ("length", "<u4"), ("flag", "<u4"), ("label", "<f4"), ("id", "<u8"),
                                        ("id2", "<u8"), ("image", "S4")]))
    records["magic"], records["length"] = 0xCED7230A, 24 + len(IMAGE)
    records["id"], records["image"] = np.arange(count), IMAGE
    return records.tobytes()


def tfrecord(count):
    feature = b"\x0a\x03jpg\x12\x08\x0a\x06\x0a\x04" + IMAGE  # the map's key, and a list of one byte string
    example = b"\x0a" + bytes([len(feature) + 2]) + b"\x0a" + bytes([len(feature)]) + feature
    length = struct.pack("<Q", len(example))
    return count * (length + struct.pack("<I", masked_crc32c(length)) + example + struct.pack("<I", masked_crc32c(example)))


def mds(count):
    columns = {"column_names": ["jpg"], "column_encodings": ["bytes"], "column_sizes": [None], "format": "mds", "version": 2,
               "compression": None, "hashes": [], "samples": count, "size_limit": None}
    described = json.dumps(columns).encode()
    begin, sample = 4 + 4 * (count + 1) + len(described), struct.pack("<I", len(IMAGE)) + IMAGE
    offsets = np.arange(begin, begin + len(sample) * (count + 1), len(sample), dtype=np.uint32)
    return struct.pack("<I", count) + offsets.tobytes() + described + count * sample


def tar(count):
    """Members of one length, whose names have eight digits."""
    member = tarfile.TarInfo("00000000.jpg")
    member.size = len(IMAGE)
    header = bytearray(member.tobuf(tarfile.USTAR_FORMAT))
    header[148:156] = b" " * 8
    members = np.zeros((count, 1024), np.uint8)
    members[:, :512] = np.frombuffer(bytes(header), np.uint8)
    members[:, 512:512 + len(IMAGE)] = np.frombuffer(IMAGE, np.uint8)
    numbers = np.arange(count)
    for digit in range(8):
        members[:, 7 - digit] = ord("0") + numbers // 10**digit % 10
    sums = members[:, :512].sum(axis=1, dtype=np.int64)
    for digit in range(6):
        members[:, 153 - digit] = ord("0") + sums // 8**digit % 8
    members[:, 154] = 0
    return members.tobytes() + bytes(1024)


@pytest.mark.parametrize("write, name", [(recordio, "x.rec"), (tfrecord, "x.tfrecord"), (mds, "shard.00000.mds"), (tar, "x.tar")])
def test_an_opened_set_takes_no_more_memory_the_larger_it_is(tmp_path, write, name):
    cache, paths = tmp_path / "cache", {}
    for count in (1, FEW, MANY):
        paths[count] = str(tmp_path / str(count) / name)
        os.mkdir(os.path.dirname(paths[count]))
        with open(paths[count], "wb") as file:
            file.write(write(count))
    taken = {}
    for count in (FEW, MANY):
        samples, scanned = opened(paths[1], paths[count], "no index", cache)
        assert samples == count
        opened(paths[1], paths[count], "index", cache)  # keeps it
        samples, taken[count] = opened(paths[1], paths[count], "index", cache)
        assert samples == count
    assert scanned > MANY * ROW_BYTES / 2**20, "nothing was measured"
    assert taken[MANY] - taken[FEW] <= DIFFERENCE_MIB
