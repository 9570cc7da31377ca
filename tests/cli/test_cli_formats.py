"""Shards of other tools' formats, written here byte by byte (or, with --full, by a package of others): what runs deliver
from them is what they deliver from the same images in a folder and in tars."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import types
import venv
import zipfile

import numpy
import pytest
from PIL import Image

FULL = "STOKER_TEST_FULL" in os.environ
TENSORFLOW = ["tensorflow-cpu==2.21.0"]
# It needs names that NumPy had until 1.23, of which no wheel came out for later versions of Python.
MXNET = ["mxnet==1.9.1", "numpy==1.23.5", "requests"]


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


def pixels(delivered):
    return [(line["epoch"], line["position"], line["hash"]) for line in delivered]


def test_packs_of_all_formats_give_the_batches_of_the_folder(stoker, samples, tmp_path):
    expected = audit(stoker, tmp_path, samples[0])
    data, keys_are_kept = samples[0], True
    for number, form in enumerate(("tar", "tfrecord", "tar", "recordio", "tfrecord", "recordio", "tar")):
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
    for form in ("tar", "tfrecord"):
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
    for form in ("tar", "tfrecord"):
        stoker.text("pack", fields, tmp_path / form, "--format", form, *CHOICE)
        assert audit(stoker, tmp_path, tmp_path / form) == expected
        assert stoker.json("info", tmp_path / form)["classes"] == 3
        assert stoker.json("verify", tmp_path / form)["bad"] == []
    said = stoker.refusal(2, "pack", fields, tmp_path / "tar", "--image-field", "photo")
    assert "another packed data set" in said


def test_a_field_that_is_not_there_is_refused_with_those_that_are(stoker, with_other_fields, tmp_path):
    fields = with_other_fields[0]
    run = ("run", fields, "--recipe", "imagenet-val", "--batch", 4)
    for command in (run, ("pack", fields, tmp_path / "out"), ("info", fields)):
        for option in ("--image-field", "--label-field"):
            said = stoker.refusal(2, *command, option, "photograph")
            assert "there is no field 'photograph'" in said and "'cls'" in said and "'photo'" in said
    said = stoker.refusal(1, *run, "--label-field", "photo")
    assert "sample '000': its field 'photo' has" in said and "not a label" in said
    assert stoker("verify", fields, "--image-field", "photograph").returncode == 1


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
    stoker.text("pack", tmp_path / "in", tmp_path / "out", "--format", "tfrecord")


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


def test_what_is_of_no_format_is_described(stoker, tmp_path):
    (tmp_path / "program").write_bytes(b"MZ\x90\x00 and so on")
    said = stoker.refusal(1, "info", tmp_path / "program")
    assert "folder, tar, tfrecord, recordio" in said and "4d 5a 90 00 20 61" in said


WRITER = """
import json, sys
from tfrecord import TFRecordWriter
writer = TFRecordWriter(sys.argv[1])
for one in json.load(sys.stdin):
    writer.write({"image/encoded": (open(one["path"], "rb").read(), "byte"), "image/class/label": (one["label"], "int"),
                  "image/filename": (one["name"].encode(), "byte"), "bbox": ([0.25, 0.5], "float")})
writer.close()
"""


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


def read_by_its_own_library(tmp_path, program, packages, shards):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
    done = subprocess.run([python, "-c", program, *map(str, shards)], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
def test_tensorflow_reads_packed_tfrecords(stoker, samples, tmp_path):
    shutil.copytree(samples[0], tmp_path / "in")
    for one in samples[1]:
        (tmp_path / "in" / one["name"]).with_suffix(".box.f32").write_bytes(struct.pack("<2f", 0.25, one["label"]))
    stoker.text("pack", tmp_path / "in", tmp_path / "packed", "--format", "tfrecord", "--shard-size", "20KB")
    found = read_by_its_own_library(tmp_path, READ_TFRECORDS, TENSORFLOW, sorted((tmp_path / "packed").glob("*.tfrecord")))
    assert found == [[one["name"].split(".")[0], one["label"], one["image"].hex(), [0.25, one["label"]]]
                     for one in samples[1]]


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
def test_mxnet_reads_packed_recordio(stoker, samples, tmp_path):
    magic = struct.pack("<I", 0xCED7230A)
    shutil.copytree(samples[0], tmp_path / "in")
    # One that is split: after a picture's end decoders look at nothing.
    odd = samples[1][1]["image"]
    odd += bytes(-len(odd) % 4) + magic + b"more" + magic + b"."
    (tmp_path / "in" / samples[1][1]["name"]).write_bytes(odd)
    stoker.text("pack", tmp_path / "in", tmp_path / "packed", "--format", "recordio", "--shard-size", "20KB")
    shards = sorted((tmp_path / "packed").glob("*.rec"))
    found = read_by_its_own_library(tmp_path, READ_RECORDIO, MXNET, reversed(shards))
    images = [odd if number == 1 else one["image"] for number, one in enumerate(samples[1])]
    assert [[label, image] for _, label, image in reversed(found)] == [
        [one["label"], image.hex()] for one, image in zip(samples[1], images)]


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
