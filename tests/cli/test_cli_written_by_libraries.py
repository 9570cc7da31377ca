"""Files as the formats' own libraries write them: what runs deliver from them is what they deliver from the same images in a
folder. webdataset is there always, the others with --full; tests of single formats have more of them."""

import io
import json
import os
import subprocess
import tarfile

import pytest
from PIL import Image

from foreign_formats import DATASETS, MXNET, audit, full, python_with, python_with_streaming, python_with_tensorflow
from hf_hub import DATASET, TOKEN, HfHub


def hashes(stoker, tmp_path, data):
    return [line["hash"] for line in audit(stoker, tmp_path, data)]


def write(python, program, samples, *args, **env):
    """Runs a program that gets the samples' paths, names and labels as JSON."""
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    subprocess.run([python, "-c", program, *map(str, args)], input=json.dumps(listing), text=True, check=True,
                   env={**os.environ, **env})


@pytest.mark.parametrize("format", ["USTAR_FORMAT", "PAX_FORMAT", "GNU_FORMAT"])
def test_tars_that_webdataset_wrote_are_read(stoker, samples, tmp_path, format):
    import webdataset  # ./dev test fetches it, and gives its place in PYTHONPATH

    (tmp_path / "theirs").mkdir()
    for shard in range(2):
        with webdataset.TarWriter(str(tmp_path / "theirs" / f"shard-{shard:06}.tar"), format=format) as writer:
            for one in samples[1][6 * shard:6 * shard + 6]:
                key, extension = one["name"].split(".")
                writer.write({"__key__": key, extension: one["image"], "cls": one["label"], "json": {"name": one["name"]},
                              "txt": f"caf\u00e9 {one['label']}"})
    assert audit(stoker, tmp_path, tmp_path / "theirs") == audit(stoker, tmp_path, samples[0])
    stoker.text("index", tmp_path / "theirs")
    assert audit(stoker, tmp_path, tmp_path / "theirs") == audit(stoker, tmp_path, samples[0])
    info = stoker.json("info", tmp_path / "theirs", "--sample", 7)
    assert info["labelled"] == info["samples"] == 12 and info["problems"] == []
    shown = {field["name"]: field["shown"] for field in info["sample"]["fields"] if "shown" in field}
    assert json.loads(shown["json"]) == {"name": samples[1][7]["name"]} and shown["txt"] == "caf\u00e9 1"
    assert stoker.json("verify", tmp_path / "theirs")["bad"] == []


def test_pictures_that_webdataset_encoded_are_read(stoker, samples, tmp_path):
    import webdataset

    with webdataset.TarWriter(str(tmp_path / "theirs.tar")) as writer:
        for one in samples[1]:
            name = tmp_path / "loose" / one["name"].split(".")[0]
            name.parent.mkdir(parents=True, exist_ok=True)
            pixels = Image.open(io.BytesIO(one["image"]))
            pixels.save(name.with_suffix(".png"))
            writer.write({"__key__": one["name"].split(".")[0], "png": pixels, "cls": one["label"]})
    assert audit(stoker, tmp_path, tmp_path / "theirs.tar") == audit(stoker, tmp_path, tmp_path / "loose")


TENSORFLOW_WRITER = """
import json, sys
import tensorflow as tf
def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))
def features(**named):
    return tf.train.Features(feature={name.replace("_", "/"): feature(values) for name, values in named.items()})
def steps(*rows):
    return tf.train.FeatureList(feature=[feature(row) for row in rows])
folder = sys.argv[1]
plain = tf.io.TFRecordWriter(folder + "/plain.tfrecord")
steps_of = tf.io.TFRecordWriter(folder + "/sequences.tfrecord")
gzipped = tf.io.TFRecordWriter(folder + "/gzipped.tfrecord", tf.io.TFRecordOptions(compression_type="GZIP"))
for one in json.load(sys.stdin):
    image = open(one["path"], "rb").read()
    common = dict(image_encoded=[image], image_class_label=[one["label"]], image_filename=[one["name"].encode()])
    example = tf.train.Example(features=features(**common, image_object_bbox=[0.25, 0.5], ids=[3, 300, 2**40],
                                                 texts=[b"red", b"blue"]))
    plain.write(example.SerializeToString())
    gzipped.write(example.SerializeToString())
    lists = {"captions": steps([b"a dog"], [b"a cat"]), "box": steps([0.5, 1.0], [1.5], [2.5]), "frame": steps([image], [image])}
    steps_of.write(tf.train.SequenceExample(context=features(**common),
                                            feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString())
for writer in (plain, steps_of, gzipped):
    writer.close()
"""


@full
def test_examples_that_tensorflow_wrote_are_read(stoker, samples, tmp_path):
    write(python_with_tensorflow(tmp_path), TENSORFLOW_WRITER, samples, tmp_path)
    expected = audit(stoker, tmp_path, samples[0])
    described = {}
    for name in ("plain", "sequences"):
        file = tmp_path / f"{name}.tfrecord"
        assert audit(stoker, tmp_path, file) == expected, name
        stoker.text("index", file)
        assert audit(stoker, tmp_path, file) == expected, name
        info = stoker.json("info", file, "--sample", 5)
        assert info["labelled"] == info["samples"] == 12 and info["problems"] == []
        described[name] = {field["name"]: field.get("shown") for field in info["sample"]["fields"]}
        assert stoker.json("verify", file)["bad"] == []
    plain = described["plain"]
    assert plain["image.object.bbox.f32"] == "0.25, 0.5" and plain["ids.varint"] == "3, 300, 1099511627776"
    assert (plain["texts.0"], plain["texts.1"]) == ("red", "blue")
    sequences = described["sequences"]
    assert (sequences["captions.0"], sequences["captions.1"]) == ("a dog", "a cat")
    assert [sequences[f"box.{step}.f32"] for step in range(3)] == ["0.5, 1", "1.5", "2.5"]
    assert {"frame.0.jpg", "frame.1.jpg"} <= set(sequences)
    said = stoker.refusal(1, "run", tmp_path / "gzipped.tfrecord", "--recipe", "imagenet-val", "--batch", 4)
    assert "gzipped.tfrecord' is compressed as a whole (gzip)" in said


MXNET_WRITER = """
import json, os, struct, subprocess, sys
import mxnet, numpy
from mxnet.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO, pack
folder, loose = sys.argv[1:]
samples = json.load(sys.stdin)
images = [open(one["path"], "rb").read() for one in samples]
magic = struct.pack("<I", 0xCED7230A)
# One that is split: after a picture's end decoders look at nothing.
odd = images[1] + bytes(-len(images[1]) % 4) + magic + b"more" + magic + b"."
indexed = MXIndexedRecordIO(folder + "/plain.idx", folder + "/plain.rec", "w")
for number, (one, image) in enumerate(zip(samples, images)):
    indexed.write_idx(number, pack(IRHeader(0, float(one["label"]), number, 0), odd if number == 1 else image))
vectors = MXRecordIO(folder + "/vectors.rec", "w")
for number, (one, image) in enumerate(zip(samples, images)):
    vectors.write(pack(IRHeader(0, numpy.array([one["label"], 0.5, number], "f4"), number, 0), image))
indexed.close()
vectors.close()
tool = os.path.join(os.path.dirname(mxnet.__file__), "tools", "im2rec.py")
os.mkdir(folder + "/tool")
for options in (["--list", "--recursive", "--no-shuffle"], ["--pass-through", "--num-thread", "1"]):
    subprocess.run([sys.executable, tool, folder + "/tool/train", loose, *options], check=True, stdout=sys.stderr)
"""


@full
def test_records_that_mxnet_and_im2rec_wrote_are_read(stoker, samples, tmp_path):
    python = python_with(tmp_path, *MXNET, "opencv-python-headless==4.8.1.78")
    write(python, MXNET_WRITER, samples, tmp_path, samples[0])
    expected = hashes(stoker, tmp_path, samples[0])
    for name in ("plain.rec", "tool/train.rec", "tool"):
        assert hashes(stoker, tmp_path, tmp_path / name) == expected, name
        info = stoker.json("info", tmp_path / name)
        assert info["format"] == "recordio" and info["labelled"] == info["samples"] == 12 and info["problems"] == []
        assert stoker.json("verify", tmp_path / name)["bad"] == []
    stoker.text("index", tmp_path / "tool")
    assert hashes(stoker, tmp_path, tmp_path / "tool") == expected
    fields = stoker.json("info", tmp_path / "vectors.rec", "--sample", 7)["sample"]["fields"]
    assert [field["shown"] for field in fields if field["name"] == "label.f32"] == ["1, 0.5, 7"]
    stoker.text("pack", tmp_path / "plain.rec", tmp_path / "packed")
    with tarfile.open(next((tmp_path / "packed").glob("*.tar"))) as tar:
        images = [tar.extractfile(member).read() for member in tar if member.name.endswith(("jpg", "png"))]
    assert [image.startswith(one["image"]) for image, one in zip(images, samples[1])] == [True] * 12
    assert images[1].endswith(b"\x0a\x23\xd7\xcemore\x0a\x23\xd7\xce."), "its parts are joined"


MDS_WRITER = """
import json, sys
from PIL import Image
from streaming import MDSWriter
samples = json.load(sys.stdin)
for encoding in ("jpeg", "png"):
    columns = {"filename": "str", "image": encoding, "label": "int"}
    with MDSWriter(out=f"{sys.argv[1]}/{encoding}", columns=columns, size_limit=20000) as writer:
        for one in samples:
            if encoding == "png" or one["name"].endswith("jpg"):
                # Of a JPEG's file it takes the bytes as they are.
                writer.write({"filename": one["name"], "image": Image.open(one["path"]), "label": one["label"]})
"""


@full
def test_pictures_that_streaming_encoded_are_read(stoker, samples, tmp_path):
    write(python_with_streaming(tmp_path), MDS_WRITER, samples, tmp_path)
    for one in samples[1]:
        for encoding, extension in (("jpeg", "jpg"), ("png", "png")):
            name = (tmp_path / f"loose-{encoding}" / one["name"]).with_suffix(f".{extension}")
            name.parent.mkdir(parents=True, exist_ok=True)
            if encoding == "png":
                Image.open(io.BytesIO(one["image"])).save(name)
            elif one["name"].endswith("jpg"):
                name.write_bytes(one["image"])
    for encoding, count in (("jpeg", 9), ("png", 12)):
        folder = tmp_path / encoding
        assert len(list(folder.glob("*.mds"))) > 1
        expected = audit(stoker, tmp_path, tmp_path / f"loose-{encoding}")
        assert audit(stoker, tmp_path, folder) == expected, encoding
        stoker.text("index", folder)
        assert audit(stoker, tmp_path, folder) == expected, encoding
        info = stoker.json("info", folder)
        assert info["codecs"] == {encoding: count} and info["labelled"] == count and info["problems"] == []
        assert stoker.json("verify", folder)["bad"] == []


DATASETS_WRITER = """
import io, json, os, sys
import datasets
from PIL import Image
at, loose = sys.argv[1:]
samples = json.load(sys.stdin)
names = ["class0", "class1", "class2"]
features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=names)})
files = [{"image": {"bytes": open(one["path"], "rb").read(), "path": os.path.basename(one["name"])}, "label": one["label"]}
         for one in samples]
pixels = [{"image": Image.open(one["path"]).copy(), "label": names[one["label"]]} for one in samples]
for name, rows in (("files", files), ("pixels", pixels)):
    data = datasets.Dataset.from_list(rows, features=features)
    data.to_parquet(f"{at}/{name}.parquet", batch_size=5)
    for shard in range(2):
        os.makedirs(f"{at}/{name}-shards", exist_ok=True)
        data.shard(2, shard, contiguous=True).to_parquet(f"{at}/{name}-shards/train-{shard:05}-of-00002.parquet")
"""


@full
def test_files_that_datasets_wrote_are_read(stoker, samples, tmp_path):
    write(python_with(tmp_path, *DATASETS), DATASETS_WRITER, samples, tmp_path, samples[0], HF_HUB_OFFLINE="1",
          HF_HOME=str(tmp_path / "home"))
    for one in samples[1]:
        name = (tmp_path / "loose" / one["name"]).with_suffix(".png")
        name.parent.mkdir(parents=True, exist_ok=True)
        Image.open(io.BytesIO(one["image"])).save(name)
    for name, loose, codecs in (("files", samples[0], {"jpeg": 9, "png": 3}), ("pixels", tmp_path / "loose", {"png": 12})):
        expected = hashes(stoker, tmp_path, loose)
        with HfHub(tmp_path / f"{name}-shards", token=TOKEN) as hub:
            from_hub = audit(stoker, tmp_path, f"{DATASET}/train-*.parquet", env=hub.env)
            assert [line["hash"] for line in from_hub] == expected and hub.counts["files"] > 0
        for data in (tmp_path / f"{name}.parquet", tmp_path / f"{name}-shards"):
            assert hashes(stoker, tmp_path, data) == expected, data
            stoker.text("index", data)
            assert hashes(stoker, tmp_path, data) == expected, data
            info = stoker.json("info", data, "--sample", 7)
            assert info["format"] == "parquet" and info["codecs"] == codecs and info["classes"] == 3 and info["problems"] == []
            assert (info["labelled"], info["sample"]["label"], info["sample"]["class"]) == (12, 1, "class1")
            assert stoker.json("verify", data)["bad"] == []
