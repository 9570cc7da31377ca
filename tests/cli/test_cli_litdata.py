"""LitData chunks, written here byte by byte (or, with --full, by litdata): what runs deliver from them is what they deliver
from the same images in a folder."""

import json
import struct
import subprocess

import pytest

from foreign_formats import audit, full, python_with

LEAF = {"type": None, "context": None, "children_spec": []}


def index(formats, chunks):
    """What litdata says of chunks of dictionaries."""
    tree = [1, {"type": "builtins.dict", "context": json.dumps(list(formats)), "children_spec": [LEAF] * len(formats)}]
    return json.dumps({"chunks": [{"chunk_bytes": 0, "chunk_size": size, "dim": None, "filename": name}
                                  for name, size in chunks],
                       "config": {"compression": None, "data_format": list(formats.values()), "data_spec": json.dumps(tree),
                                  "encryption": None, "item_loader": "PyTreeLoader"}})


def chunk(samples):
    """A count, offsets, and items, each with the sizes of its values before them."""
    items = [struct.pack("<III", len(one["name"]), len(one["image"]), 8) + one["name"].encode() + one["image"] +
             struct.pack("<q", one["label"]) for one in samples]
    offsets = [4 + 4 * (len(items) + 1)]
    for item in items:
        offsets.append(offsets[-1] + len(item))
    return struct.pack(f"<I{len(offsets)}I", len(items), *offsets) + b"".join(items)


@pytest.fixture(scope="module")
def chunks(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("litdata")
    names = ["chunk-1-0.bin", "chunk-0-0.bin"]  # not in the order of names
    for number, name in enumerate(names):
        (folder / name).write_bytes(chunk(samples[1][6 * number:6 * number + 6]))
    (folder / "index.json").write_text(index({"filename": "str", "image": "jpeg", "label": "int"},
                                             [(name, 6) for name in names]))
    return folder


def test_chunks_give_the_batches_of_the_folder_and_of_their_pack(stoker, samples, chunks, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    assert len(expected) == 24
    assert audit(stoker, tmp_path, chunks, "--no-index") == expected
    for kept in (False, True):  # in the cache
        assert audit(stoker, tmp_path, chunks) == expected, kept
    assert audit(stoker, tmp_path, chunks / "chunk-1-0.bin", chunks / "chunk-0-0.bin") == expected
    stoker.text("index", chunks, "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, chunks, "--index-dir", tmp_path / "indexes") == expected
    stoker.text("pack", chunks, tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected


def test_jobs_tell_what_is_in_chunks(stoker, chunks):
    info = stoker.json("info", chunks)
    assert info["format"] == "litdata" and info["fields"] == ["filename", "png", "jpg"]
    assert info["labelled"] == info["samples"] == 12
    assert info["codecs"] == {"jpeg": 9, "png": 3} and info["problems"] == []
    assert stoker.json("verify", chunks)["bad"] == []


def test_a_chunk_without_its_list_or_of_another_says_so(stoker, chunks, tmp_path):
    def said():
        return stoker.refusal(1, "run", tmp_path, "--recipe", "imagenet-val", "--batch", 4)

    data = (chunks / "chunk-0-0.bin").read_bytes()
    (tmp_path / "chunk-0-0.bin").write_bytes(data)
    assert "needs the 'index.json'" in said()
    (tmp_path / "index.json").write_text(index({"image": "jpeg"}, [("chunk-0-0.bin", 7)]))
    assert "has 6 samples, and the 'index.json' in its folder says 7" in said()
    (tmp_path / "index.json").write_text(index({"image": "jpeg"}, [("chunk-0-0.bin", 6)]))
    assert "sample 0 cannot be used" in said()
    (tmp_path / "index.json").write_bytes((chunks / "index.json").read_bytes())
    (tmp_path / "chunk-1-0.bin").write_bytes((chunks / "chunk-1-0.bin").read_bytes())
    (tmp_path / "chunk-0-0.bin").write_bytes(data[:-1])
    assert "is truncated" in said()


WRITER = """
import json, os, sys
import numpy, torch
if not hasattr(torch, "uint16"):  # litdata asks a newer PyTorch than Debian's for it
    torch.uint16 = torch.int16
from litdata.streaming.writer import BinaryWriter
from PIL import Image
folder, compression, *pickled = sys.argv[1:]
os.makedirs(folder)
writer = BinaryWriter(folder, chunk_size=5, compression=compression or None)
for number, one in enumerate(json.load(sys.stdin)):
    sample = {"filename": one["name"], "image": open(one["path"], "rb").read(), "label": one["label"], "good": True,
              "box": numpy.ones((2, 4), numpy.float32), "ids": numpy.arange(3), "size": {"w": 2.5},
              "view": Image.new("RGB", (4, 3), (number, 2, 3)), "t": torch.ones((2, 2))}
    writer[number] = {**sample, "object": {1}} if pickled else sample
writer.done()
writer.merge()
"""


@full
@pytest.mark.parametrize("version", ["0.2.61", "0.2.76"])  # the newer one compresses some samples at a time
def test_chunks_that_litdata_wrote_are_read(stoker, samples, tmp_path, version):
    python = python_with(tmp_path, f"litdata=={version}", "lightning-utilities==0.15.3", "--no-deps",
                         system_packages=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "boto3", "filelock", "requests", "tifffile", "obstore",
                    "zstd"], check=True)
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    expected = audit(stoker, tmp_path, samples[0])

    def write(name, *arguments):
        subprocess.run([python, "-c", WRITER, tmp_path / name, *arguments], input=json.dumps(listing), text=True,
                       check=True)
        assert len(list((tmp_path / name).glob("chunk-*.bin"))) == 3
        return tmp_path / name

    for compression in ("", "zstd"):
        folder = write("theirs" + compression, compression)
        for kept in (False, True):
            assert audit(stoker, tmp_path, folder) == expected, (compression, kept)
        info = stoker.json("info", folder, "--sample", 7)
        assert {"box.f32", "box.shape.u32", "good.u8", "ids.i64", "size.w.f64", "t.f32", "view.npy"} <= set(info["fields"])
        assert info["problems"] == []
        shown = {field["name"]: field.get("shown") for field in info["sample"]["fields"]}
        assert shown["ids.i64"] == "0, 1, 2" and shown["size.w.f64"] == "2.5"
    said = stoker("info", write("pickled", "", "yes")).stdout
    assert "pickled, since reading it could run any code: 'object'" in said
