"""Parquet files, written here byte by byte (or, with --full, by pyarrow): what runs deliver from them is
what they deliver from the same images in a folder."""

import json
import struct
import subprocess
import tarfile

import numpy
import pytest

from foreign_formats import audit, full, python_with, varint

NAMES = ["class0", "class1", "class2"]
HUGGINGFACE = json.dumps({"info": {"features": {"image": {"_type": "Image"},
                                                "label": {"names": NAMES, "_type": "ClassLabel"}}}})


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
def parquets(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parquets")
    for shard in range(2):
        (folder / f"train-{shard:05}-of-00002.parquet").write_bytes(parquet(samples[1][6 * shard:6 * shard + 6]))
    (folder / "README.md").write_text("as on the hub\n")
    return folder


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


WRITER = """
import itertools, json, sys
import pyarrow, pyarrow.parquet
samples = json.load(sys.stdin)
images = [{"bytes": open(one["path"], "rb").read(), "path": one["name"]} for one in samples]
table = pyarrow.table({"image": pyarrow.array(images, pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])),
                       "label": pyarrow.array([one["label"] for one in samples], pyarrow.int64()),
                       "__key__": [one["name"].split(".")[0] for one in samples],
                       "text": [None if number % 4 == 1 else f"text {number % 3}" for number in range(len(samples))]})
for number, (codec, version, dictionary, (page, group)) in enumerate(itertools.product(
        ("NONE", "SNAPPY", "ZSTD", "GZIP", "LZ4"), ("1.0", "2.0"), (True, False), ((1 << 20, 1000), (3000, 5)))):
    pyarrow.parquet.write_table(table, f"{sys.argv[1]}/{number:02}.parquet", compression=codec, data_page_version=version,
                                use_dictionary=dictionary, data_page_size=page, row_group_size=group)
"""


@full
def test_files_that_pyarrow_wrote_are_read(stoker, samples, tmp_path):
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    (tmp_path / "theirs").mkdir()
    subprocess.run([python_with(tmp_path, "pyarrow==26.0.1"), "-c", WRITER, tmp_path / "theirs"], input=json.dumps(listing),
                   text=True, check=True)
    files = sorted((tmp_path / "theirs").iterdir())
    assert len(files) == 40
    expected = audit(stoker, tmp_path, samples[0])
    for file in files:
        assert audit(stoker, tmp_path, file) == expected, file
        assert audit(stoker, tmp_path, file) == expected, f"{file}, as the cache has it"
        described = stoker.json("info", file, "--sample", 4)["sample"]
        assert [field["shown"] for field in described["fields"] if field["name"] == "text"] == ["text 1"], file


NUMBERS_WRITER = """
import itertools, json, sys
import pyarrow, pyarrow.feather, pyarrow.parquet
rows = json.load(sys.stdin)
image = open(sys.argv[2], "rb").read()
table = pyarrow.table({"ids": pyarrow.array(rows, pyarrow.list_(pyarrow.int64())),
                       "image": pyarrow.array([image] * len(rows), pyarrow.binary())})
encodings = (True, False, "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
for number, (codec, version, encoding, page) in enumerate(itertools.product(
        ("NONE", "ZSTD"), ("1.0", "2.0"), encodings, (1 << 20, 3000))):
    how = {"use_dictionary": encoding} if isinstance(encoding, bool) else {
        "use_dictionary": ["image"], "column_encoding": {"ids.list.element": encoding}}
    pyarrow.parquet.write_table(table, f"{sys.argv[1]}/{number:02}.parquet", compression=codec, data_page_version=version,
                                data_page_size=page, row_group_size=150, write_batch_size=64, **how)
for codec in ("uncompressed", "lz4", "zstd"):
    pyarrow.feather.write_feather(table, f"{sys.argv[1]}/{codec}.arrow", compression=codec, chunksize=150)
"""


def write_numbers(samples, tmp_path):
    """Files of Parquet and Arrow in the folder "theirs", of which these are the rows."""
    rows = [[(row * row + place * place) % 50257 for place in range(row * 37 % 700)] for row in range(400)]
    (tmp_path / "theirs").mkdir()
    subprocess.run([python_with(tmp_path, "pyarrow==26.0.1"), "-c", NUMBERS_WRITER, tmp_path / "theirs",
                    samples[0] / samples[1][0]["name"]], input=json.dumps(rows), text=True, check=True)
    return rows


@full
def test_numbers_that_pyarrow_wrote_are_read(stoker, samples, tmp_path):
    rows = write_numbers(samples, tmp_path)
    files = sorted((tmp_path / "theirs").iterdir())
    assert len(files) == 32 + 3
    for file in files:
        out = tmp_path / file.stem
        stoker.text("pack", file, out)
        found = {}
        for shard in out.glob("*.tar"):
            with tarfile.open(shard) as archive:
                found |= {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        for number, row in enumerate(rows):
            ids = b"".join(value.to_bytes(8, "little") for value in row)
            assert found.get(f"{file.stem}/{number:08}.ids.i64", b"") == ids, (file, number)


TOKENS = """
[[view]]
name = "tokens"
field = "tokens.i64"
operators = [{op = "decode_tokens", length = 64}]
"""


@full
def test_token_columns_that_pyarrow_wrote_are_sequences(stoker, samples, tmp_path):
    rows = write_numbers(samples, tmp_path)
    (tmp_path / "tokens.toml").write_text(TOKENS)

    def audited(data, *options):
        stoker.text("run", data, "--recipe", tmp_path / "tokens.toml", "--tokens", 64, *options, "--batch", 16, "--epochs", 2,
                    "--audit", tmp_path / "audit")
        return (tmp_path / "audit").read_text()

    numpy.save(tmp_path / "same.npy", numpy.concatenate([numpy.array(row, numpy.int64) for row in rows]))
    expected = audited(tmp_path / "same.npy")
    assert len(expected.splitlines()) > 4000
    for file in sorted((tmp_path / "theirs").iterdir()):
        same = file.rename(tmp_path / f"same{file.suffix}")
        assert audited(same, "--token-field", "ids") == expected, file
