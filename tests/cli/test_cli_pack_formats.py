"""Packs of every format, and the fields that users name: what runs deliver from them is what they deliver from the folder
that was packed. With --full the formats' own libraries read the shards."""

import json
import os
import shutil
import struct
import subprocess
import tarfile

import numpy
import pytest
from PIL import Image

from foreign_formats import DATASETS, MXNET, audit, full, python_with, python_with_streaming, python_with_tensorflow


def pixels(delivered):
    return [(line["epoch"], line["position"], line["hash"]) for line in delivered]


def test_packs_of_all_formats_give_the_batches_of_the_folder(stoker, samples, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    data, keys_are_kept = samples[0], True
    # Each into each other but tar, which the others are packed into elsewhere.
    for number, form in enumerate(("tar", "tfrecord", "mds", "parquet", "tfrecord", "parquet", "mds", "tfrecord", "recordio",
                                   "mds", "recordio", "parquet", "recordio", "tfrecord", "tar")):
        packed = tmp_path / f"{number}-{form}"
        made = stoker.json("pack", data, packed, "--format", form, "--shard-size", "20KB")
        assert made["samples"] == 12 and made["shards"] > 2 and made["bad"] == []
        keys_are_kept = keys_are_kept and form != "recordio"
        delivered = audit(stoker, tmp_path, packed)
        assert delivered == expected if keys_are_kept else pixels(delivered) == pixels(expected)
        info = stoker.json("info", packed)
        assert info["format"] == form and info["classes"] == 3 and info["indexed_shards"] == info["shards"]
        assert stoker.json("verify", packed)["bad"] == []
        data = packed


def test_info_describes_a_sample(stoker, samples, tmp_path):
    shutil.copytree(samples[0], tmp_path / "in")
    (tmp_path / "in" / "class1" / "005.json").write_text(json.dumps({"text": "\x1b[31mred"}))
    (tmp_path / "in" / "class1" / "005.txt").write_bytes(b"\x1b[31mred")
    stoker.text("pack", tmp_path / "in", tmp_path / "packed", "--format", "tfrecord")
    shard = tmp_path / "packed" / "shard-000000.tfrecord"
    sample = stoker.json("info", tmp_path / "packed", "--sample", 5)["sample"]
    assert (sample["number"], sample["key"], sample["label"], sample["class"]) == (5, "class1/005", 1, "class1")
    assert sample["image"] == "jpg" and [field["name"] for field in sample["fields"]] == ["jpg", "json", "txt"]
    image, text, escape = sample["fields"]
    assert image["kind"] == "image" and image["image"] == {"codec": "jpeg", "width": 60, "height": 45}
    content = shard.read_bytes()[image["offset"]:image["offset"] + image["bytes"]]
    assert image["shard"] == str(shard) and content == samples[1][5]["image"]
    assert text["kind"] == "json" and json.loads(text["shown"]) == {"text": "\x1b[31mred"}
    assert escape["kind"] == "text" and escape["shown"] == "\\x1b[31mred"
    said = stoker.text("info", tmp_path / "packed", "--sample", 5)
    assert "Sample 5: 'class1/005', label 1 ('class1')" in said and "jpeg, 60 x 45" in said and "\x1b" not in said
    assert "sample" not in stoker.json("info", tmp_path / "packed")
    assert "no sample 12" in stoker.refusal(2, "info", tmp_path / "packed", "--sample", 12)


@pytest.fixture
def with_other_fields(samples, tmp_path):
    """The images under a name of their own, beside others that have the usual one, and their classes as names. Its
    second value is a folder that has the same by the usual names."""
    other = Image.fromarray(numpy.zeros((8, 8, 3), numpy.uint8))
    for number, one in enumerate(samples[1]):
        place = tmp_path / "fields" / f"{number:03}"
        place.parent.mkdir(exist_ok=True)
        other.save(place.with_suffix(".jpg"))
        place.with_suffix(".cls").write_text("0")
        place.with_suffix(".photo").write_bytes(one["image"])
        place.with_suffix(".kind").write_text(f"class{one['label']}\n")
        usual = tmp_path / "usual" / place.name
        usual.parent.mkdir(exist_ok=True)
        usual.with_suffix(os.path.splitext(one["name"])[1]).write_bytes(one["image"])
        usual.with_suffix(".cls").write_text(str(one["label"]))
    return tmp_path / "fields", tmp_path / "usual"


CHOICE = ("--image-field", "photo", "--label-field", "kind")


def test_images_and_labels_are_found_in_the_fields_that_the_user_names(stoker, with_other_fields, tmp_path):
    fields, usual = with_other_fields
    expected = audit(stoker, tmp_path, usual)
    assert audit(stoker, tmp_path, fields, *CHOICE) == expected != audit(stoker, tmp_path, fields)
    for form in ("tar", "tfrecord", "mds", "parquet"):
        stoker.text("pack", fields, tmp_path / form, "--format", form)
        packed = audit(stoker, tmp_path, tmp_path / form, *CHOICE)  # whose index has the facts of other images
        assert packed == expected
    info = stoker.json("info", tmp_path / "tfrecord", *CHOICE, "--sample", 11)
    assert info["classes"] == 3 and info["codecs"] == {"jpeg": 9, "png": 3} and info["labelled"] == 12
    assert (info["sample"]["image"], info["sample"]["label"], info["sample"]["class"]) == ("photo", 2, "class2")
    assert stoker.json("verify", tmp_path / "tar", *CHOICE)["bad"] == []
    stoker.text("view", fields, "--recipe", "imagenet-val", "--out", tmp_path / "sheet.png", *CHOICE)
    assert stoker.json("plan", fields, "--recipe", "imagenet-val", *CHOICE)["stages"]


def test_a_pack_of_chosen_fields_needs_no_choice(stoker, with_other_fields, tmp_path):
    folder, usual = with_other_fields
    fields = tmp_path / "fields.tar"
    with tarfile.open(fields, "w") as tar:
        for path in sorted((*folder.glob("*.photo"), *folder.glob("*.kind"))):
            tar.add(path, path.name)
    expected = audit(stoker, tmp_path, usual)
    for form in ("tar", "tfrecord", "mds", "parquet"):
        stoker.text("pack", fields, tmp_path / form, "--format", form, *CHOICE)
        assert audit(stoker, tmp_path, tmp_path / form) == expected
        assert stoker.json("info", tmp_path / form)["classes"] == 3
        assert stoker.json("verify", tmp_path / form)["bad"] == []
    said = stoker.refusal(2, "pack", fields, tmp_path / "tar", "--image-field", "photo")
    assert "another packed data set" in said


def test_a_field_that_is_not_there_is_refused_with_those_that_are(stoker, with_other_fields, tmp_path):
    fields = with_other_fields[0]
    run = ("run", fields, "--recipe", "imagenet-val", "--batch", 4)
    for command in (run, ("pack", fields, tmp_path / "out"), ("info", fields), ("verify", fields)):
        for option in ("--image-field", "--label-field"):
            said = stoker.refusal(2, *command, option, "photograph")
            assert "there is no field 'photograph'" in said and "'cls'" in said and "'photo'" in said
    said = stoker.refusal(1, *run, "--label-field", "photo")
    assert "sample '000': its field 'photo' has" in said and "not a label" in said


def test_a_format_that_cannot_hold_a_field_is_refused_before_anything_is_written(stoker, samples, tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / "in" / name).write_bytes(samples[1][1]["image"])
    (tmp_path / "in" / "b.json").write_text("{}")
    said = stoker.refusal(2, "pack", tmp_path / "in", tmp_path / "out", "--format", "recordio")
    assert "sample 'b'" in said and "besides its image 'jpg' it has a field 'json'" in said
    assert not (tmp_path / "out").exists()
    stoker.refusal(2, "pack", tmp_path / "in", tmp_path / "out", "--format", "recordio", "--dry-run")
    said = stoker.refusal(2, "pack", tmp_path / "in", tmp_path / "out", "--format", "zip")
    assert "tar, tfrecord" in said
    said = stoker.refusal(2, "pack", tmp_path / "in", tmp_path / "out", "--format", "mds")
    assert "sample 'a'" in said and "it has no field 'json', which 1 of 2 samples have" in said
    assert not (tmp_path / "out").exists()
    for form in ("tfrecord", "parquet"):
        stoker.text("pack", tmp_path / "in", tmp_path / form, "--format", form)


READ_TFRECORDS = """
import json, sys
import tensorflow as tf
found = []
for record in tf.data.TFRecordDataset(sys.argv[1:]):
    features = tf.train.Example.FromString(record.numpy()).features.feature
    image = (features["jpg"] if "jpg" in features else features["png"]).bytes_list.value[0]
    found.append([features["__key__"].bytes_list.value[0].decode(), features["cls"].int64_list.value[0], image.hex(),
                  list(features["box"].float_list.value)])
json.dump(found, sys.stdout)
"""

READ_RECORDIO = """
import json, sys
import mxnet
found = []
for path in sys.argv[1:]:
    reader = mxnet.recordio.MXIndexedRecordIO(path[:-3] + "idx", path, "r")
    for number in reversed(reader.keys):  # at random
        header, image = mxnet.recordio.unpack(reader.read_idx(number))
        found.append([header.id, header.label, image.hex()])
    plain = mxnet.recordio.MXRecordIO(path, "r")
    assert len(reader.keys) == sum(1 for _ in iter(plain.read, None))
json.dump(found, sys.stdout)
"""


def read_by_its_own_library(python, program, shards):
    done = subprocess.run([python, "-c", program, *map(str, shards)], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


@full
def test_tensorflow_reads_packed_tfrecords(stoker, samples, tmp_path):
    shutil.copytree(samples[0], tmp_path / "in")
    for one in samples[1]:
        (tmp_path / "in" / one["name"]).with_suffix(".box.f32").write_bytes(struct.pack("<2f", 0.25, one["label"]))
    stoker.text("pack", tmp_path / "in", tmp_path / "packed", "--format", "tfrecord", "--shard-size", "20KB")
    shards = sorted((tmp_path / "packed").glob("*.tfrecord"))
    found = read_by_its_own_library(python_with_tensorflow(tmp_path), READ_TFRECORDS, shards)
    assert found == [[one["name"].split(".")[0], one["label"], one["image"].hex(), [0.25, one["label"]]]
                     for one in samples[1]]


@full
def test_mxnet_reads_packed_recordio(stoker, samples, tmp_path):
    magic = struct.pack("<I", 0xCED7230A)
    shutil.copytree(samples[0], tmp_path / "in")
    # One that is split: after a picture's end decoders look at nothing.
    odd = samples[1][1]["image"]
    odd += bytes(-len(odd) % 4) + magic + b"more" + magic + b"."
    (tmp_path / "in" / samples[1][1]["name"]).write_bytes(odd)
    stoker.text("pack", tmp_path / "in", tmp_path / "packed", "--format", "recordio", "--shard-size", "20KB")
    shards = sorted((tmp_path / "packed").glob("*.rec"))
    found = read_by_its_own_library(python_with(tmp_path, *MXNET), READ_RECORDIO, reversed(shards))
    images = [odd if number == 1 else one["image"] for number, one in enumerate(samples[1])]
    assert [[label, image] for _, label, image in reversed(found)] == [
        [one["label"], image.hex()] for one, image in zip(samples[1], images)]


READ_MDS = """
import json, sys
from streaming import StreamingDataset
found = []
data = StreamingDataset(local=sys.argv[1], shuffle=False, batch_size=1)
for number in reversed(range(len(data))):  # at random
    one = data[number]
    image = one["image"]
    found.append([one["__key__"], one["label"], image.hex() if isinstance(image, bytes) else [image.format, *image.size],
                  one["note.txt"], one["vector"].hex()])
json.dump(found[::-1], sys.stdout)
"""

READ_PARQUET = """
import json, os, sys
os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=sys.argv[1], HF_DATASETS_CACHE=sys.argv[1])
import datasets, pyarrow.parquet
files = sys.argv[2:]
rows = sum((pyarrow.parquet.read_table(file, page_checksum_verification=True).to_pylist() for file in files), [])
data = datasets.load_dataset("parquet", data_files=files, split="train")
names = data.features["label"].names
sizes = [list(one["image"].size) for one in data]
data = data.cast_column("image", datasets.Image(decode=False))
assert list(data) == rows
json.dump({"rows": [[one["__key__"], one["label"], one["image"]["bytes"].hex(), one["note.txt"], one["vector"].hex()]
                    for one in data], "names": names, "sizes": sizes}, sys.stdout)
"""


@pytest.fixture
def with_notes(samples, tmp_path):
    """The images with two fields more, and what a reader is to find."""
    shutil.copytree(samples[0], tmp_path / "in")
    for one in samples[1]:
        at = tmp_path / "in" / one["name"]
        at.with_suffix(".note.txt").write_text(f"caf\u00e9 {one['label']}")
        at.with_suffix(".vector").write_bytes(struct.pack("<2f", 0.25, one["label"]))
    return tmp_path / "in", [[one["name"].split(".")[0], one["label"], one["image"].hex(), f"caf\u00e9 {one['label']}",
                              struct.pack("<2f", 0.25, one["label"]).hex()] for one in samples[1]]


@full
def test_streaming_reads_packed_mds(stoker, with_notes, tmp_path):
    stoker.text("pack", with_notes[0], tmp_path / "packed", "--format", "mds", "--shard-size", "20KB")
    stoker.text("pack", with_notes[0], tmp_path / "jpegs", "--format", "mds", "--shard-size", "20KB", "--quality", 90)
    python = python_with_streaming(tmp_path)

    def read(folder):
        done = subprocess.run([python, "-c", READ_MDS, folder], check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    assert len(list((tmp_path / "packed").glob("*.mds"))) > 2
    assert read(tmp_path / "packed") == with_notes[1]
    found = read(tmp_path / "jpegs")
    assert [one[:2] for one in found] == [one[:2] for one in with_notes[1]]
    assert {one[2][0] for one in found} == {"JPEG"}, "they are said to be images, which Streaming decodes"


@full
def test_datasets_and_pyarrow_read_packed_parquet(stoker, samples, with_notes, tmp_path):
    stoker.text("pack", with_notes[0], tmp_path / "packed", "--format", "parquet", "--shard-size", "20KB")
    files = sorted((tmp_path / "packed").glob("*.parquet"))
    assert len(files) > 2
    found = read_by_its_own_library(python_with(tmp_path, *DATASETS), READ_PARQUET, [tmp_path / "cache", *files])
    assert found["rows"] == with_notes[1]
    assert found["names"] == ["class0", "class1", "class2"]
    assert found["sizes"] == [list(Image.open(samples[0] / one["name"]).size) for one in samples[1]]
