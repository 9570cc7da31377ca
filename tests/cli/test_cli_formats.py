"""Shards of other tools' formats, written here byte by byte (or, with --full, by a package of others): what runs deliver
from them is what they deliver from the same images in a folder and in tars."""

import json
import os
import shutil
import struct
import subprocess
import types
import zipfile

import numpy
import pytest
from PIL import Image

from foreign_formats import audit, example, full, python_with, python_with_streaming, tfrecord


def recordio(data):
    return struct.pack("<II", 0xCED7230A, len(data)) + data + bytes(-len(data) % 4)


@pytest.fixture(scope="module")
def tfrecords(samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tfrecords")
    for shard in range(2):
        data = b"".join(tfrecord(example(one)) for one in samples[1][6 * shard:6 * shard + 6])
        (folder / f"train-{shard:05}-of-00002").write_bytes(data)
    return folder


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


def mds_shard(samples):
    """As MosaicML's Streaming writes it: counts, offsets, a description, samples."""
    text = json.dumps({"column_encodings": ["str", "jpeg", "int"], "column_names": ["filename", "x", "y"],
                       "column_sizes": [None, None, 8], "compression": None, "format": "mds", "hashes": [],
                       "size_limit": 67108864, "version": 2}).encode()
    data = [struct.pack("<II", len(one["name"]), len(one["image"])) + one["name"].encode() + one["image"] +
            struct.pack("<q", one["label"]) for one in samples]
    offsets = [4 + 4 * (len(data) + 1) + len(text)]
    for one in data:
        offsets.append(offsets[-1] + len(one))
    return struct.pack(f"<I{len(offsets)}I", len(data), *offsets) + text + b"".join(data)


def test_mds_gives_the_batches_of_the_folder(stoker, samples, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    listed = []
    for number, folder in ((0, "b"), (1, "a")):  # not in the order of names
        data = mds_shard(samples[1][6 * number:6 * number + 6])
        (tmp_path / "mds" / folder).mkdir(parents=True)
        (tmp_path / "mds" / folder / "shard.00000.mds").write_bytes(data)
        listed.append({"format": "mds", "raw_data": {"basename": f"{folder}/shard.00000.mds", "bytes": len(data)}})
    (tmp_path / "mds" / "index.json").write_text(json.dumps({"version": 2, "shards": listed}))
    assert audit(stoker, tmp_path, tmp_path / "mds") == expected
    shards = [tmp_path / "mds" / folder / "shard.00000.mds" for folder in ("b", "a")]
    assert audit(stoker, tmp_path, *shards) == expected
    info = stoker.json("info", tmp_path / "mds")
    assert info["format"] == "mds" and info["labelled"] == 12 and info["problems"] == []
    (tmp_path / "mds" / "a" / "shard.00000.mds").write_bytes(data[:-1])
    assert "and '" in stoker.refusal(1, "info", tmp_path / "mds")


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zips_give_the_batches_of_the_folder(stoker, samples, tmp_path, method, piped):
    with open(tmp_path / "train.zip", "wb") as opened:
        # To a pipe Python writes descriptors after the data, and zip64's numbers.
        pipe = types.SimpleNamespace(write=opened.write, flush=opened.flush)
        with zipfile.ZipFile(pipe if piped else opened, "w", method) as file:
            file.comment = b"made by Python"
            for one in reversed(samples[1]):
                with file.open(zipfile.ZipInfo(one["name"]), "w", force_zip64=piped) as member:
                    member.write(one["image"])
            file.writestr("class0/notes.txt", "belongs to no sample")
    expected = audit(stoker, tmp_path, samples[0])
    assert audit(stoker, tmp_path, tmp_path / "train.zip", "--no-index") == expected
    for kept in (False, True):  # in the cache
        assert audit(stoker, tmp_path, tmp_path / "train.zip") == expected, kept
    stoker.text("index", tmp_path / "train.zip")
    assert audit(stoker, tmp_path, tmp_path / "train.zip") == expected
    info = stoker.json("info", tmp_path / "train.zip")
    assert info["format"] == "zip" and info["labelled"] == 12 and info["problems"] == []
    assert stoker.json("verify", tmp_path / "train.zip")["bad"] == []
    stoker.text("pack", tmp_path / "train.zip", tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_that_is_not_what_the_zip_says_is_a_bad_sample(stoker, samples, tmp_path, method):
    path = tmp_path / "train.zip"
    with zipfile.ZipFile(path, "w", method) as file:
        for one in samples[1][:4]:
            file.writestr(one["name"], one["image"])
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\1\2")
    data[entry + 16] ^= 1  # of the checksum in the directory
    path.write_bytes(data)
    key = samples[1][0]["name"].split(".")[0]
    found = stoker("verify", path, "--json")
    assert found.returncode == 1
    assert [(bad["key"], "CRC-32" in bad["reason"]) for bad in json.loads(found.stdout)["bad"]] == [(key, True)]

    def bad_samples():
        done = stoker("run", path, "--recipe", "imagenet-val", "--batch", 4, "--json")
        assert done.returncode == 0, done
        return json.loads(done.stdout)["bad_samples"]

    assert [bad_samples(), bad_samples()] == [1, 1]  # scanned, and from the cache
    stoker("index", path)
    assert bad_samples() == 1


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_arrays_give_the_pixels_of_images_in_a_folder(stoker, tmp_path, save):
    images = numpy.random.default_rng(2).integers(0, 256, (9, 24, 32, 3), dtype=numpy.uint8)
    labels = numpy.arange(9, dtype=numpy.int32) % 3
    for number, (image, label) in enumerate(zip(images, labels)):
        name = tmp_path / "loose" / f"class{label}" / f"{number:08}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(name)
    order = numpy.argsort(labels, kind="stable")  # as the folder's
    save(tmp_path / "train.npz", images=images[order], label=labels[order])
    expected = [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "loose")]
    assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "train.npz")] == expected
    stoker.text("index", tmp_path / "train.npz")
    assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "train.npz")] == expected
    info = stoker.json("info", tmp_path / "train.npz")
    assert info["format"] == "npy" and info["fields"] == ["npy"] and info["labelled"] == 9
    assert stoker.json("verify", tmp_path / "train.npz")["bad"] == []
    numpy.save(tmp_path / "alone.npy", images[..., 0])
    assert stoker.json("info", tmp_path / "alone.npy")["samples"] == 9
    numpy.save(tmp_path / "fortran.npy", numpy.asfortranarray(images))
    said = stoker.refusal(1, "run", tmp_path / "fortran.npy", "--recipe", "imagenet-val", "--batch", 4)
    assert "column by column" in said


def test_a_set_of_arrays_is_chosen_by_its_images(stoker, tmp_path):
    random = numpy.random.default_rng(3)
    images = {name: random.integers(0, 256, (count, 24, 32), dtype=numpy.uint8) for name, count in (("train", 9), ("test", 5))}
    labels = {name: numpy.arange(len(array), dtype=numpy.uint8) % 3 for name, array in images.items()}
    everything = {f"{role}_{name}": array for role, arrays in (("x", images), ("y", labels)) for name, array in arrays.items()}
    numpy.savez(tmp_path / "mnist.npz", **everything)
    run = ("run", tmp_path / "mnist.npz", "--recipe", "imagenet-val", "--batch", 4)
    for refused in (run, (*run, "--image-field", "x_valid"), ("pack", tmp_path / "mnist.npz", tmp_path / "none"),
                    ("verify", tmp_path / "mnist.npz"), ("verify", tmp_path / "mnist.npz", "--image-field", "x_valid")):
        said = stoker.refusal(2, *refused)
        assert "'x_test' with 'y_test' (5 rows), 'x_train' with 'y_train' (9 rows)" in said
    for name, array in images.items():
        numpy.savez(tmp_path / f"{name}.npz", x=array, y=labels[name])
        choice = ("--image-field", f"x_{name}")
        expected = [line["hash"] for line in audit(stoker, tmp_path, tmp_path / f"{name}.npz")]
        for kept in (False, True):  # each set by itself
            assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "mnist.npz", *choice)] == expected, kept
        info = stoker.json("info", tmp_path / "mnist.npz", *choice)
        assert info["samples"] == info["labelled"] == len(array) and info["problems"] == []
        assert stoker.json("verify", tmp_path / "mnist.npz", *choice)["bad"] == []
        stoker.text("pack", tmp_path / "mnist.npz", tmp_path / "packed" / name, *choice)
        assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "packed" / name, *choice)] == expected


def test_lists_give_the_batches_of_the_folder(stoker, samples, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    shutil.copytree(samples[0], tmp_path / "set")
    rows = samples[1]
    (tmp_path / "set" / "train.csv").write_text("".join(
        ["Path,Label\n"] + [f"{one['name']},class{one['label']}\n" for one in rows]))
    (tmp_path / "set" / "train.jsonl").write_text("".join(
        json.dumps({"file_name": one["name"], "label": one["label"]}) + "\n" for one in rows))
    document = {"images": [{"id": number, "file_name": one["name"]} for number, one in enumerate(rows)],
                "annotations": [{"image_id": number, "category_id": one["label"] + 1} for number, one in enumerate(rows)],
                "categories": [{"id": number + 1, "name": f"class{number}"} for number in range(3)]}
    (tmp_path / "set" / "train.json").write_text(json.dumps(document))
    for name in ("train.csv", "train.jsonl", "train.json"):
        assert audit(stoker, tmp_path, tmp_path / "set" / name) == expected, name
    info = stoker.json("info", tmp_path / "set" / "train.json")
    assert info["format"] == "list" and info["classes"] == 3 and info["fields"] == ["png", "json", "jpg"]
    stoker.text("pack", tmp_path / "set" / "train.json", tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected
    assert stoker.json("verify", tmp_path / "set" / "train.csv")["bad"] == []
    assert "stands for loose files" in stoker.refusal(2, "index", tmp_path / "set" / "train.csv")


def test_what_is_of_no_format_is_described(stoker, tmp_path):
    (tmp_path / "program").write_bytes(b"MZ\x90\x00 and so on")
    said = stoker.refusal(1, "info", tmp_path / "program")
    assert "folder, tar, tfrecord, recordio, parquet, arrow, npy, zip, mds, litdata, beton, lmdb, hdf5, list, or a text file" in said and "4d 5a 90 00 20 61" in said


WRITER = """
import json, sys
from tfrecord import TFRecordWriter
writer = TFRecordWriter(sys.argv[1])
for one in json.load(sys.stdin):
    writer.write({"image/encoded": (open(one["path"], "rb").read(), "byte"), "image/class/label": (one["label"], "int"),
                  "image/filename": (one["name"].encode(), "byte"), "bbox": ([0.25, 0.5], "float")})
writer.close()
"""


@full
def test_a_file_that_the_package_tfrecord_wrote_is_read(stoker, samples, tmp_path):
    python = python_with(tmp_path, "--no-deps", "tfrecord==1.14.6", "protobuf==7.36.2", "numpy==2.4.6", "crc32c==2.9.post0")
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    # Its messages were compiled for an older protobuf, which only the implementation in Python still takes.
    subprocess.run([python, "-c", WRITER, tmp_path / "theirs.tfrecord"], input=json.dumps(listing), text=True, check=True,
                   env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})
    assert audit(stoker, tmp_path, tmp_path / "theirs.tfrecord") == audit(stoker, tmp_path, samples[0])
    assert "bbox.f32" in stoker.json("info", tmp_path / "theirs.tfrecord")["fields"]


MDS_WRITER = """
import json, sys
import numpy
from streaming import MDSWriter
columns = {"filename": "str", "x": "bytes", "y": "int", "box": "ndarray:float32", "meta": "json"}
if sys.argv[3]:
    columns["object"] = "pkl"
with MDSWriter(out=sys.argv[1], columns=columns, compression=sys.argv[2] or None, size_limit=20000) as writer:
    for one in json.load(sys.stdin):
        writer.write({"filename": one["name"], "x": open(one["path"], "rb").read(), "y": one["label"],
                      "box": numpy.ones((2, 4), numpy.float32), "meta": {"a": 1}, "object": {1}})
"""


@full
def test_shards_that_streaming_wrote_are_read(stoker, samples, tmp_path):
    python = python_with_streaming(tmp_path)
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]

    def write(folder, compression, pickled):
        subprocess.run([python, "-c", MDS_WRITER, folder, compression, pickled], input=json.dumps(listing), text=True,
                       check=True)
        assert len(list(folder.glob("shard.*"))) > 1

    for compression in ("", "zstd", "gz", "snappy"):
        folder = tmp_path / ("theirs" + compression)
        write(folder, compression, "")
        assert audit(stoker, tmp_path, folder) == audit(stoker, tmp_path, samples[0])
        info = stoker.json("info", folder)
        assert {"box.f32", "box.shape.u8", "meta.json"} <= set(info["fields"]) and info["problems"] == []
    write(tmp_path / "pickled", "", "yes")
    assert "pickled, since reading it could run any code: 'object'" in stoker("info", tmp_path / "pickled").stdout
