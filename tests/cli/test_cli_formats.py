"""Shards of other tools' formats, written here byte by byte (or, with --full, by a package of others): what runs deliver
from them is what they deliver from the same images in a folder and in tars."""

import json
import os
import struct
import subprocess
import sys
import venv

import numpy
import pytest
from PIL import Image

FULL = "STOKER_TEST_FULL" in os.environ


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC32C = crc32c_table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def tfrecord(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def example(sample):
    features = b""
    for name, kind, values in (("image/encoded", 1, message(1, sample["image"])),
                               ("image/class/label", 3, message(1, varint(sample["label"]))),
                               ("image/filename", 1, message(1, sample["name"].encode()))):
        features += message(1, message(1, name.encode()) + message(2, message(kind, values)))
    return message(1, features)


def recordio(data):
    return struct.pack("<II", 0xCED7230A, len(data)) + data + bytes(-len(data) % 4)


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """A folder of three classes, and what is in it, in its order."""
    folder = tmp_path_factory.mktemp("loose")
    random = numpy.random.default_rng(1)
    found = []
    for number in range(12):
        label = number // 4
        name = f"class{label}/{number:03}.{'png' if number % 4 == 0 else 'jpg'}"
        pixels = random.integers(0, 256, (40 + number, 60, 3), dtype=numpy.uint8)
        (folder / name).parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(folder / name)
        found.append({"name": name, "label": label, "image": (folder / name).read_bytes()})
    return folder, found


@pytest.fixture(scope="module")
def tfrecords(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tfrecords")
    for shard in range(2):
        data = b"".join(tfrecord(example(one)) for one in samples[1][6 * shard:6 * shard + 6])
        (folder / f"train-{shard:05}-of-00002").write_bytes(data)
    return folder


def audit(stoker, tmp_path, data, *options):
    lines = stoker.audit(tmp_path, "run", data, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, *options)
    return [json.loads(line) for line in lines]


def test_tfrecords_give_the_batches_of_the_folder_and_of_its_pack(stoker, samples, tfrecords, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    assert len(expected) == 24
    assert audit(stoker, tmp_path, tfrecords) == expected
    stoker.text("pack", tfrecords, tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected
    stoker.text("index", tfrecords, "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, tfrecords, "--index-dir", tmp_path / "indexes") == expected


def test_jobs_tell_what_is_in_tfrecords(stoker, tfrecords):
    info = stoker.json("info", tfrecords)
    assert info["format"] == "tfrecord"
    assert info["fields"] == ["image.filename", "png", "jpg"] and info["labelled"] == info["samples"] == 12
    assert info["codecs"] == {"jpeg": 9, "png": 3} and info["problems"] == []
    assert stoker.json("verify", tfrecords)["bad"] == []


def test_a_damaged_tfrecord_is_named(stoker, tfrecords, tmp_path):
    data = bytearray((tfrecords / "train-00000-of-00002").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.tfrecord").write_bytes(data)
    said = stoker.refusal(1, "run", tmp_path / "damaged.tfrecord", "--recipe", "imagenet-val", "--batch", 4)
    assert "damaged.tfrecord" in said and "the checksum of record" in said


def test_recordio_gives_the_pixels_of_the_folder(stoker, samples, tmp_path):
    data, offsets = b"", []
    for number, one in enumerate(samples[1]):
        offsets.append(f"{number}\t{len(data)}\n")
        data += recordio(struct.pack("<IfQQ", 0, one["label"], number, 0) + one["image"])
    (tmp_path / "train.rec").write_bytes(data)
    (tmp_path / "train.idx").write_text("".join(offsets))
    expected = [line["hash"] for line in audit(stoker, tmp_path, samples[0])]
    for given in (tmp_path, tmp_path / "train.rec"):  # a folder with the offsets in it, too
        delivered = audit(stoker, tmp_path, given)
        assert [line["hash"] for line in delivered] == expected
        assert sorted({line["key"] for line in delivered}) == [f"train/{number:08}" for number in range(12)]
    info = stoker.json("info", tmp_path / "train.rec")
    assert info["format"] == "recordio" and info["labelled"] == 12 and info["problems"] == []
    stoker.text("pack", tmp_path / "train.rec", tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == delivered


def test_what_is_of_no_format_is_described(stoker, tmp_path):
    (tmp_path / "program").write_bytes(b"MZ\x90\x00 and so on")
    said = stoker.refusal(1, "info", tmp_path / "program")
    assert "folder, tar, tfrecord, recordio, parquet" in said and "4d 5a 90 00 20 61" in said


WRITER = """
import json, sys
from tfrecord import TFRecordWriter
writer = TFRecordWriter(sys.argv[1])
for one in json.load(sys.stdin):
    writer.write({"image/encoded": (open(one["path"], "rb").read(), "byte"), "image/class/label": (one["label"], "int"),
                  "image/filename": (one["name"].encode(), "byte"), "bbox": ([0.25, 0.5], "float")})
writer.close()
"""


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
def test_a_file_that_the_package_tfrecord_wrote_is_read(stoker, samples, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "tfrecord==1.14.6", "protobuf==7.36.2",
                    "numpy==2.4.6", "crc32c==2.9.post0"], check=True, stdout=sys.stderr)
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    # Its messages were compiled for an older protobuf, which only the implementation in Python still takes.
    subprocess.run([python, "-c", WRITER, tmp_path / "theirs.tfrecord"], input=json.dumps(listing), text=True, check=True,
                   env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})
    assert audit(stoker, tmp_path, tmp_path / "theirs.tfrecord") == audit(stoker, tmp_path, samples[0])
    assert "bbox.f32" in stoker.json("info", tmp_path / "theirs.tfrecord")["fields"]
