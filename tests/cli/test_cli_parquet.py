"""Parquet files, written here byte by byte (or, with --full, by pyarrow and `datasets`): what runs deliver from them is
what they deliver from the same images in a folder."""

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

NAMES = ["class0", "class1", "class2"]
HUGGINGFACE = json.dumps({"info": {"features": {"image": {"_type": "Image"},
                                                "label": {"names": NAMES, "_type": "ClassLabel"}}}})


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


class Struct(dict):
    """Fields of Thrift's compact protocol by number: an int is an i64, a list has ints, texts or structs."""

    def encoded(self):
        data, last = b"", 0
        for number, value in sorted(self.items()):
            data += bytes([number - last << 4 | thrift_type(value)]) + encoded(value)
            last = number
        return data + b"\0"


def thrift_type(value):
    return {int: 6, str: 8, list: 9, Struct: 12}[type(value)]


def encoded(value):
    if isinstance(value, int):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if isinstance(value, str):
        return varint(len(value.encode())) + value.encode()
    if isinstance(value, list):
        assert 0 < len(value) < 15
        return bytes([len(value) << 4 | thrift_type(value[0])]) + b"".join(map(encoded, value))
    return value.encoded()


def byte_arrays(values):
    return b"".join(struct.pack("<I", len(value)) + value for value in values)


def parquet(samples):
    """One row group of required columns, a plain page each."""
    columns = {"image.bytes": (6, byte_arrays(one["image"] for one in samples)),
               "image.path": (6, byte_arrays(one["name"].split("/")[-1].encode() for one in samples)),
               "file_name": (6, byte_arrays(one["name"].encode() for one in samples)),
               "label": (2, b"".join(struct.pack("<q", one["label"]) for one in samples))}
    data, chunks = b"PAR1", []
    for path, (kind, values) in columns.items():
        page = Struct({1: 0, 2: len(values), 3: len(values), 5: Struct({1: len(samples), 2: 0, 3: 3, 4: 3})})
        begin = len(data)
        data += page.encoded() + values
        chunks.append(Struct({2: begin, 3: Struct({1: kind, 2: [0], 3: path.split("."), 4: 0, 5: len(samples),
                                                   6: len(data) - begin, 7: len(data) - begin, 9: begin})}))
    schema = [Struct({4: "schema", 5: 3}), Struct({3: 0, 4: "image", 5: 2}), Struct({1: 6, 3: 0, 4: "bytes"}),
              Struct({1: 6, 3: 0, 4: "path"}), Struct({1: 6, 3: 0, 4: "file_name"}), Struct({1: 2, 3: 0, 4: "label"})]
    group = Struct({1: chunks, 2: len(data), 3: len(samples)})
    footer = Struct({1: 1, 2: schema, 3: len(samples), 4: [group],
                     5: [Struct({1: "huggingface", 2: HUGGINGFACE})]}).encoded()
    return data + footer + struct.pack("<I", len(footer)) + b"PAR1"


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
def parquets(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquets")
    for shard in range(2):
        (folder / f"train-{shard:05}-of-00002.parquet").write_bytes(parquet(samples[1][6 * shard:6 * shard + 6]))
    (folder / "README.md").write_text("as on the hub\n")
    return folder


def audit(stoker, tmp_path, data, *options):
    lines = stoker.audit(tmp_path, "run", data, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, *options)
    return [json.loads(line) for line in lines]


def test_parquet_gives_the_batches_of_the_folder_and_of_its_pack(stoker, samples, parquets, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    assert len(expected) == 24
    assert audit(stoker, tmp_path, parquets) == expected
    stoker.text("pack", parquets, tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected
    stoker.text("index", parquets, "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, parquets, "--index-dir", tmp_path / "indexes") == expected


def test_jobs_tell_what_is_in_parquet(stoker, parquets):
    info = stoker.json("info", parquets)
    assert info["format"] == "parquet"
    assert info["fields"] == ["file_name", "image.path", "png", "jpg"] and info["labelled"] == info["samples"] == 12
    assert info["codecs"] == {"jpeg": 9, "png": 3} and info["problems"] == [] and info["classes"] == 3
    assert stoker.json("verify", parquets)["bad"] == []


def test_a_truncated_parquet_file_is_named(stoker, parquets, tmp_path):
    data = (parquets / "train-00000-of-00002.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[:-1])
    said = stoker.refusal(1, "run", tmp_path / "cut.parquet", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.parquet" in said and "is truncated" in said
