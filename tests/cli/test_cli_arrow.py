"""Tables of Arrow, written here byte by byte (or, with --full, by pyarrow and datasets): what runs deliver from them is what
they deliver from the same images in a folder."""

import json
import os
import struct
import subprocess

import pytest

from foreign_formats import DATASETS, audit, full, python_with
from test_cli_parquet import HUGGINGFACE

MESSAGE = b"\xff\xff\xff\xff"
INTEGER, BYTES, TEXT, STRUCT = 2, 4, 5, 13  # types of columns


class Table(dict):
    """Fields of FlatBuffers by number: bytes are a number, a text is one, a list has tables, a tuple is a count and structs."""

    def append_to(self, data, offset_at):
        """The table to which the offset there leads."""
        entries = 2 * (2 + max(self, default=0) + 1)
        entries_at = len(data)
        data += bytes(entries)
        struct.pack_into("<I", data, offset_at, len(data) - offset_at)
        at, places = len(data), {}
        data += struct.pack("<i", at - entries_at)
        for field, value in self.items():
            places[field] = len(data)
            struct.pack_into("<H", data, entries_at + 4 + 2 * field, len(data) - at)
            data += value if isinstance(value, bytes) else bytes(4)
        struct.pack_into("<HH", data, entries_at, entries, len(data) - at)
        for field, value in self.items():
            if isinstance(value, Table):
                value.append_to(data, places[field])
            elif not isinstance(value, bytes):
                struct.pack_into("<I", data, places[field], len(data) - places[field])
                if isinstance(value, list):
                    first = len(data) + 4
                    data += struct.pack("<I", len(value)) + bytes(4 * len(value))
                    for number, table in enumerate(value):
                        table.append_to(data, first + 4 * number)
                else:
                    count, content = value if isinstance(value, tuple) else (len(value.encode()), value.encode() + b"\0")
                    data += struct.pack("<I", count) + content


def arrow_message(kind, header, body=b""):
    data = bytearray(4)
    Table({0: struct.pack("<h", 4), 1: bytes([kind]), 2: header, 3: struct.pack("<q", len(body))}).append_to(data, 0)
    data += bytes(-len(data) % 8)
    return MESSAGE + struct.pack("<i", len(data)) + bytes(data) + body


def field(name, kind, described=None, children=()):
    return Table({0: name, 2: bytes([kind]), 3: described or Table(), 5: list(children)})


class Batch:
    def __init__(self, rows):
        self.rows, self.nodes, self.buffers, self.body = rows, [], [], b""

    def column(self, *buffers):
        self.nodes.append(struct.pack("<qq", self.rows, 0))
        for content in (b"", *buffers):  # nothing is null
            self.buffers.append(struct.pack("<qq", len(self.body), len(content)))
            self.body += content + bytes(-len(content) % 8)

    def byte_strings(self, values):
        ends = [0]
        for value in values:
            ends.append(ends[-1] + len(value))
        self.column(struct.pack(f"<{len(ends)}i", *ends), b"".join(values))

    def message(self):
        return arrow_message(3, Table({0: struct.pack("<q", self.rows), 1: (len(self.nodes), b"".join(self.nodes)),
                                       2: (len(self.buffers), b"".join(self.buffers))}), self.body)


def arrow(samples):
    """A stream of two batches, with the columns and the note that datasets writes."""
    int64 = Table({0: struct.pack("<i", 64), 1: b"\1"})
    schema = Table({1: [field("image", STRUCT, children=[field("bytes", BYTES), field("path", TEXT)]),
                        field("file_name", TEXT), field("label", INTEGER, int64)],
                    2: [Table({0: "huggingface", 1: HUGGINGFACE})]})
    data = arrow_message(1, schema)
    for part in (samples[:len(samples) // 3], samples[len(samples) // 3:]):
        batch = Batch(len(part))
        batch.column()
        batch.byte_strings([one["image"] for one in part])
        batch.byte_strings([one["name"].split("/")[-1].encode() for one in part])
        batch.byte_strings([one["name"].encode() for one in part])
        batch.column(struct.pack(f"<{len(part)}q", *[one["label"] for one in part]))
        data += batch.message()
    return data + MESSAGE + bytes(4)


def arrow_file(samples):
    return b"ARROW1\0\0" + arrow(samples) + b"list" + struct.pack("<i", 4) + b"ARROW1"


def write_saved(folder, shards):
    """As save_to_disk() does."""
    names = [f"data-{number:05}-of-{len(shards):05}.arrow" for number in range(len(shards))]
    for name, rows in zip(names, shards):
        (folder / name).write_bytes(arrow(rows))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}, "splits": {"train": {}, "test": {}}}))


@pytest.fixture(scope="module")
def saved(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    write_saved(folder, [samples[1][:6], samples[1][6:]])
    return folder


def test_tables_give_the_batches_of_the_folder_and_of_their_pack(stoker, samples, saved, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    assert len(expected) == 24
    assert audit(stoker, tmp_path, saved, "--no-index") == expected
    for kept in (False, True):  # in the cache
        assert audit(stoker, tmp_path, saved) == expected, kept
    assert audit(stoker, tmp_path, saved / "data-*.arrow") == expected
    stoker.text("index", saved, "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, saved, "--index-dir", tmp_path / "indexes") == expected
    stoker.text("pack", saved, tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected
    (tmp_path / "all.feather").write_bytes(arrow_file(samples[1]))
    assert audit(stoker, tmp_path, tmp_path / "all.feather") == expected


def test_jobs_tell_what_is_in_tables(stoker, saved):
    info = stoker.json("info", saved)
    assert info["format"] == "arrow"
    assert info["fields"] == ["file_name", "image.path", "png", "jpg"] and info["labelled"] == info["samples"] == 12
    assert info["codecs"] == {"jpeg": 9, "png": 3} and info["problems"] == [] and info["classes"] == 3
    assert stoker.json("verify", saved)["bad"] == []


def test_a_truncated_table_is_named(stoker, samples, tmp_path):
    whole = arrow_file(samples[1])
    (tmp_path / "cut.arrow").write_bytes(whole[:-1])
    said = stoker.refusal(1, "run", tmp_path / "cut.arrow", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.arrow' is truncated" in said
    (tmp_path / "cut.arrow").write_bytes(arrow(samples[1])[:-100])
    said = stoker.refusal(1, "run", tmp_path / "cut.arrow", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.arrow'" in said and "a message is said to have" in said


def test_a_folder_of_several_splits_names_them(stoker, samples, tmp_path):
    saved = tmp_path / "saved"
    for split in ("train", "test"):
        (saved / split).mkdir(parents=True)
        write_saved(saved / split, [samples[1]])
    (saved / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    said = stoker.refusal(2, "run", saved, "--recipe", "imagenet-val", "--batch", 4)
    assert f"holds several splits of a data set; give '{saved}/train' or '{saved}/test'" in said
    assert audit(stoker, tmp_path, saved / "train") == audit(stoker, tmp_path, samples[0])

    cache = tmp_path / "cache"
    cache.mkdir()
    for split in ("train", "test"):
        (cache / f"birds-{split}.arrow").write_bytes(arrow(samples[1]))
    (cache / "cache-0123.arrow").write_bytes(arrow(samples[1][:1]))  # of a map()
    (cache / "dataset_info.json").write_text(json.dumps({"splits": {"train": {}, "test": {}}}))
    said = stoker.refusal(2, "run", cache, "--recipe", "imagenet-val", "--batch", 4)
    assert f"give '{cache}/*-test*.arrow' or '{cache}/*-train*.arrow'" in said
    assert audit(stoker, tmp_path, f"{cache}/*-train*.arrow") == audit(stoker, tmp_path, samples[0])


PYARROW_WRITER = """
import itertools, json, sys
import pyarrow, pyarrow.feather
samples = json.load(sys.stdin)
images = [open(one["path"], "rb").read() for one in samples]
labels = [one["label"] for one in samples]
texts = [f"text {number % 3} of a sample" if number % 4 else None for number in range(len(samples))]
key = pyarrow.array([one["name"].split(".")[0] for one in samples])
tables = {
    "plain": {"image": pyarrow.array(images), "text": pyarrow.array(texts)},
    "large": {"image": pyarrow.array(images, pyarrow.large_binary()), "text": pyarrow.array(texts, pyarrow.large_string())},
    "views": {"image": pyarrow.array(images, pyarrow.binary_view()), "text": pyarrow.array(texts, pyarrow.string_view())},
    "words": {"image": pyarrow.array(images), "text": pyarrow.array(texts).dictionary_encode()},
    "lists": {"image": pyarrow.array([{"bytes": one, "path": "x"} for one in images]), "text": pyarrow.array(texts),
              "pair": pyarrow.array([[1, 2]] * len(images), pyarrow.list_(pyarrow.int32(), 2)),
              "box": pyarrow.array([[0.5] * (number % 3) for number in range(len(images))]),
              "when": pyarrow.array([0] * len(images), pyarrow.timestamp("ms")),
              "hash": pyarrow.array([b"abcd"] * len(images), pyarrow.binary(4)),
              "map": pyarrow.array([[("a", 1)]] * len(images), pyarrow.map_(pyarrow.string(), pyarrow.int8()))},
    "skips": {"price": pyarrow.array([1] * len(images), pyarrow.decimal128(9)), "image": pyarrow.array(images),
              "text": pyarrow.array(texts)},
}
for name, columns in tables.items():
    table = pyarrow.table({"__key__": key, "label": pyarrow.array(labels), **columns})
    for codec, rows in itertools.product((None, "lz4", "zstd"), (1000, 5)):
        options = pyarrow.ipc.IpcWriteOptions(compression=codec)
        for kind, open_writer in (("file", pyarrow.ipc.new_file), ("stream", pyarrow.ipc.new_stream)):
            with open_writer(f"{sys.argv[1]}/{name}-{codec}-{rows}-{kind}.arrow", table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=rows)
        if name != "views":
            pyarrow.feather.write_feather(table, f"{sys.argv[1]}/{name}-{codec}-{rows}.feather",
                                          compression=codec or "uncompressed", chunksize=rows)
"""


def listing(samples):
    return json.dumps([{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]}
                       for one in samples[1]])


@full
def test_tables_that_pyarrow_wrote_are_read(stoker, samples, tmp_path):
    (tmp_path / "theirs").mkdir()
    subprocess.run([python_with(tmp_path, "pyarrow==26.0.1"), "-c", PYARROW_WRITER, tmp_path / "theirs"],
                   input=listing(samples), text=True, check=True)
    files = sorted((tmp_path / "theirs").iterdir())
    assert len(files) == 6 * 12 + 5 * 6
    expected = audit(stoker, tmp_path, samples[0])
    for file in files:
        if file.name.startswith("skips"):
            found = json.loads(stoker("info", file, "--json").stdout)
            assert found["labelled"] == 12 and "skips decimals" in found["problems"][0] and "'price'" in found["problems"][0], file
            continue
        for kept in (False, True):  # in the cache
            assert audit(stoker, tmp_path, file) == expected, (file, kept)
        described = {one["name"]: one.get("shown") for one in stoker.json("info", file, "--sample", 5)["sample"]["fields"]}
        assert described["text"] == "text 2 of a sample", file
        if file.name.startswith("lists"):
            assert {*described} == {"text", "image.path", "jpg", "pair.i32", "box.f64", "when.i64", "hash", "map.0.key",
                                    "map.0.value.i8"}, file


DATASETS_WRITER = """
import json, pathlib, sys
import datasets
samples, out = json.load(sys.stdin), pathlib.Path(sys.argv[1])
features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["class0", "class1", "class2"]),
                              "__key__": datasets.Value("string"), "ids": datasets.Sequence(datasets.Value("int32"))})
rows = [{"image": one["path"], "label": one["label"], "__key__": one["name"].split(".")[0], "ids": [1, 2, 3]}
        for one in samples]
data = datasets.Dataset.from_list(rows, features=features)
data.save_to_disk(out / "one", num_shards=3)
datasets.load_from_disk(out / "one").to_parquet(out / "one.parquet")
data.select(range(len(rows) - 1, -1, -1)).select(range(len(rows) - 1, -1, -1)).save_to_disk(out / "selected")
datasets.DatasetDict({"train": data, "test": data.select([0])}).save_to_disk(out / "dict")
loaded = datasets.load_dataset("parquet", data_files={"train": str(out / "one.parquet")}, cache_dir=str(out / "cache"))
loaded["train"].map(lambda row: row)  # leaves another table beside it
print(pathlib.Path(loaded["train"].cache_files[0]["filename"]).parent)
"""


@full
def test_what_datasets_saved_and_cached_is_read(stoker, samples, tmp_path):
    out = tmp_path / "theirs"
    out.mkdir()
    python = python_with(tmp_path, *DATASETS)
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    cache = subprocess.run([python, "-c", DATASETS_WRITER, out], input=listing(samples), text=True, check=True,
                           stdout=subprocess.PIPE, env=environment).stdout.strip().splitlines()[-1]
    expected = audit(stoker, tmp_path, samples[0])
    places = [out / "one", out / "selected", out / "dict/train", cache]
    assert audit(stoker, tmp_path, out / "one.parquet") == expected
    assert len(list((out / "one").glob("*.arrow"))) == 3
    for place in places:
        assert audit(stoker, tmp_path, place) == expected, place
        info = stoker.json("info", place)
        assert info["format"] == "arrow" and info["labelled"] == 12 and info["classes"] == 3 and info["problems"] == [], place
        assert info["fields"] == stoker.json("info", out / "one.parquet")["fields"], place
    assert "give '" in stoker.refusal(2, "run", out / "dict", "--recipe", "imagenet-val", "--batch", 4)
