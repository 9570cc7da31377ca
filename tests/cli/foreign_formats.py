"""What tests of other tools' formats share."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import venv

import numpy
import pytest

full = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def message(field, data):
    """A text or message among the fields of protobuf."""
    return varint(field << 3 | 2) + varint(len(data)) + data


def audit(stoker, tmp_path, data, *options, **how):
    lines = stoker.audit(tmp_path, "run", data, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, *options, **how)
    return [json.loads(line) for line in lines]


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


def tfrecord(data):
    """A record with both of its checksums."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def example(sample):
    """A tf.train.Example with the features that TensorFlow's own script gives ImageNet."""
    features = b""
    for name, kind, values in (("image/encoded", 1, message(1, sample["image"])),
                               ("image/class/label", 3, message(1, varint(sample["label"]))),
                               ("image/filename", 1, message(1, sample["name"].encode()))):
        features += message(1, message(1, name.encode()) + message(2, message(kind, values)))
    return message(1, features)


BETON_PAGE = 1 << 21


def beton(fields, samples):
    """A file of FFCV's, byte by byte as it lays them out. Fields by name: 1 for an integer, 2 for an image, which is (mode, width,
    height, bytes)."""
    descriptions = b"".join(bytes([kind]) + name.encode().ljust(16 + 1024, b"\0") for name, kind in fields.items())
    image = numpy.dtype([("mode", "<u1"), ("width", "<u2"), ("height", "<u2"), ("data_ptr", "<u8")])  # without gaps
    metadata = numpy.dtype([(name, "<i8" if kind == 1 else image) for name, kind in fields.items()], align=True)
    table = numpy.zeros(len(samples), metadata)
    pages_at = -(-(24 + len(descriptions) + table.nbytes) // BETON_PAGE) * BETON_PAGE
    pages, allocations = bytearray(), []
    for number, sample in enumerate(samples):
        for name, kind in fields.items():
            if kind == 1:
                table[name][number] = sample[name]
                continue
            mode, width, height, data = sample[name]
            if len(pages) % BETON_PAGE + len(data) > BETON_PAGE:
                pages += bytes(-len(pages) % BETON_PAGE)
            table[name][number] = (mode, width, height, pages_at + len(pages))
            allocations.append((number, pages_at + len(pages), len(data)))
            pages += data
    pages += bytes(-len(pages) % BETON_PAGE)
    front = struct.pack("<HHIQQ", 2, len(fields), BETON_PAGE, len(samples), pages_at + len(pages)) + descriptions
    return (front + table.tobytes()).ljust(pages_at, b"\0") + bytes(pages) + b"".join(
        struct.pack("<QQQ", *one) for one in allocations)


def python_with(tmp_path, *packages, system_packages=False):
    """A Python of its own that has PyPI's packages, and on request the machine's."""
    venv.create(tmp_path / "venv", with_pip=True, system_site_packages=system_packages)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
    return python


def python_of_bench(peer, tmp_path, *packages):
    """The one that `./dev bench` made for a peer, if it did: some packages bring gigabytes of others."""
    made = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / peer / "bin" / "python"
    return made if made.exists() else python_with(tmp_path, *packages)


def python_with_streaming(tmp_path):
    return python_of_bench("remote", tmp_path, "mosaicml-streaming==0.10.0")


def python_with_tensorflow(tmp_path):
    return python_of_bench("tensorflow", tmp_path, "tensorflow-cpu==2.21.0")


DATASETS = ["pyarrow==26.0.1", "datasets==5.2.0", "pillow==13.0.0"]
# It needs names that NumPy had until 1.23, of which no wheel came out for later versions of Python.
MXNET = ["mxnet==1.9.1", "numpy==1.23.5", "requests"]
