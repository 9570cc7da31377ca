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
folder, kind, compression, level = sys.argv[1:]
os.makedirs(folder)
options = {"compression_level": level} if level else {}
writer = BinaryWriter(folder, chunk_size=5, compression=compression or None, **options)
for number, one in enumerate(json.load(sys.stdin)):
    sample = {"filename": one["name"], "image": open(one["path"], "rb").read(), "label": one["label"]}
    if kind == "plain":
        sample.update(good=number > 0, size={"w": 2.5}, ids=[0, 1, number], words=["a", "b"])
    elif kind == "tuples":
        sample = (sample["image"], sample["label"])
    else:
        sample.update(good=True, box=numpy.ones((2, 4), numpy.float32), ids=numpy.arange(3), size={"w": 2.5},
                      view=Image.new("RGB", (4, 3), (number, 2, 3)), t=torch.ones((2, 2)),
                      words=["a", "b"], spans=[{"from": 0, "to": number}])
        if kind == "pickled":
            sample["object"] = {1}
    writer[number] = sample
writer.done()
writer.merge()
"""


@pytest.fixture(scope="module", params=["0.2.61", "0.2.76"])  # the newer one writes tables of Arrow, and frames of zstd
def write(request, samples, tmp_path_factory):
    """Writes chunks of the samples by litdata: of a kind, with a compression and its level."""
    home = tmp_path_factory.mktemp("litdata")
    python = python_with(home, f"litdata=={request.param}", "lightning-utilities==0.15.3", "--no-deps", system_packages=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "boto3", "filelock", "requests", "tifffile", "obstore", "zstd",
                    "pyarrow==20.0.0"], check=True)
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]

    def write(kind, compression="", level=""):
        folder = home / f"{kind}-{compression}-{level}"
        subprocess.run([python, "-c", WRITER, folder, kind, compression, level], input=json.dumps(listing), text=True,
                       check=True)
        assert len(list(folder.glob("chunk-*.bin"))) == 3
        return folder

    write.version = request.param
    return write


def wrappings(write):
    levels = ["chunk", "batch", "sample"] if write.version == "0.2.76" else [""]
    return [("", "")] + [("zstd", level) for level in levels]


def info_of(stoker, folder):
    info = stoker.json("info", folder, "--sample", 7)
    return info, {field["name"]: field.get("shown") for field in info["sample"]["fields"]}


@full
def test_chunks_that_litdata_wrote_are_read(stoker, samples, tmp_path, write):
    expected = audit(stoker, tmp_path, samples[0])
    for wrapping in wrappings(write):
        folder = write("all", *wrapping)
        for kept in (False, True):
            assert audit(stoker, tmp_path, folder) == expected, (wrapping, kept)
        info, shown = info_of(stoker, folder)
        assert {"box.f32", "box.shape.u32", "good.u8", "size.w.f64", "t.f32", "view.npy"} <= set(info["fields"])
        assert info["problems"] == []
        assert shown["ids.i64"] == "0, 1, 2" and shown["size.w.f64"] == "2.5"
        # The older one flattens lists, the newer one keeps them as one value.
        assert (shown["words.1"], shown["spans.0.to.i64"]) == ("b", "7")
    said = stoker("info", write("pickled")).stdout
    assert "pickled, since reading it could run any code: 'object'" in said


@full
def test_samples_without_pictures_of_pil_are_read(stoker, samples, tmp_path, write):
    expected = audit(stoker, tmp_path, samples[0])
    for wrapping in wrappings(write):
        folder = write("plain", *wrapping)
        for kept in (False, True):
            assert audit(stoker, tmp_path, folder) == expected, (wrapping, kept)
        if write.version == "0.2.76":  # as tables
            assert all(chunk.read_bytes().endswith(b"LDARW01\0") for chunk in folder.glob("chunk-*.bin"))
        info, shown = info_of(stoker, folder)
        assert (shown["good.u8"], shown["size.w.f64"], shown["words.1"]) == ("1", "2.5", "b")
        assert stoker.json("verify", folder)["bad"] == []


@full
def test_tuples_are_read(stoker, samples, write):
    for wrapping in wrappings(write):
        info, shown = info_of(stoker, write("tuples", *wrapping))
        assert info["samples"] == info["labelled"] == 12 and info["codecs"] == {"jpeg": 9, "png": 3}
        assert info["sample"]["label"] == samples[1][7]["label"]
