"""Shards of other tools' formats, written here byte by byte (or, with --full, by a package of others): what runs deliver
from them is what they deliver from the same images in a folder and in tars."""

import json
import os
import pathlib
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


LMDB_WRITER = """
import json, lmdb, pickle, struct, sys
def varint(number):
    data = b""
    while number > 0x7F:
        data, number = data + bytes([number & 0x7F | 0x80]), number >> 7
    return data + bytes([number])
def fill(kind, entries, **options):
    # Small transactions, so that pages are written anew and old ones used again.
    with lmdb.open(sys.argv[1] + "/" + kind, map_size=1 << 28, **options) as env:
        for key, value in entries:
            with env.begin(write=True) as transaction:
                transaction.put(key, value)
samples = json.load(sys.stdin)
images = [open(one["path"], "rb").read() for one in samples]
fill("caffe", ((b"%08d_%s" % (i, one["name"].encode()),
               b"\\x22" + varint(len(image)) + image + b"\\x28" + varint(one["label"]) + b"\\x38\\x01")
              for i, (one, image) in reversed(list(enumerate(zip(samples, images))))))
fill("text", [(b"image-%09d" % i, image) for i, image in enumerate(images, 1)] +
             [(b"label-%09d" % i, one["name"].encode()) for i, one in enumerate(samples, 1)] +
             [(b"num-samples", b"%d" % len(images))])
fill("named", [(one["name"].encode(), image) for one, image in zip(samples, images)])
fill("pickled", [(b"0", images[0]), (b"__len__", pickle.dumps(1)), (b"__keys__", pickle.dumps([b"0"]))])
fill("numbers.lmdb", ((struct.pack(">I", i), image) for i, image in enumerate(images)), subdir=False)
"""


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
def test_databases_that_the_package_lmdb_wrote_are_read(stoker, samples, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "lmdb==3.0.0"], check=True, stdout=sys.stderr)
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    subprocess.run([python, "-c", LMDB_WRITER, tmp_path], input=json.dumps(listing), text=True, check=True)
    loose = audit(stoker, tmp_path, samples[0])
    expected = [line["hash"] for line in loose]
    labels = tmp_path / "labels.csv"
    labels.write_text("".join(f"text/{i + 1:09},{one['label']}\nnumbers/{i:08},{one['label']}\n"
                              for i, one in enumerate(listing)))
    for data, *options in (("caffe",), ("caffe/data.mdb",), ("text", "--labels", labels),
                           ("numbers.lmdb", "--labels", labels)):
        assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / data, *options)] == expected, data
    assert audit(stoker, tmp_path, tmp_path / "named", "--labels", "folders") == loose
    assert stoker.json("info", tmp_path / "caffe")["labelled"] == 12
    assert "label" in stoker.json("info", tmp_path / "text")["fields"]
    assert "skips 2 keys with a value that Python pickled" in stoker("info", tmp_path / "pickled").stdout
    stoker.text("pack", tmp_path / "caffe", tmp_path / "packed")
    assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "packed")] == expected


def lmdb_file(entries):
    """A tree of a root and its leaves, each value on pages of its own, with pages of 4 KiB."""
    pages = [b"", b""]

    def header(kind, lower, upper):
        return struct.pack("<QHHHH", len(pages), 0, kind, lower, upper)

    def add_nodes(kind, nodes):
        nodes = [node + bytes(len(node) % 2) for node in nodes]
        ends = [4096 - sum(map(len, nodes[:i + 1])) for i in range(len(nodes))]
        page = header(kind, 16 + 2 * len(nodes), ends[-1]) + struct.pack(f"<{len(nodes)}H", *ends)
        pages.append(page + bytes(ends[-1] - len(page)) + b"".join(reversed(nodes)))
        return len(pages) - 1

    leaves = []
    for key, value in entries:
        count = -(-(len(value) + 16) // 4096)
        run = len(pages)
        data = header(4, count, 0) + value
        data += bytes(count * 4096 - len(data))
        pages.extend(data[i:i + 4096] for i in range(0, len(data), 4096))
        leaves.append((key, add_nodes(2, [struct.pack("<IHH", len(value), 1, len(key)) + key + struct.pack("<Q", run)])))
    root = add_nodes(1, [struct.pack("<IHH", page, 0, len(key) if i else 0) + (key if i else b"")
                         for i, (key, page) in enumerate(leaves)])
    for number, depth, count, at in ((0, 0, 0, 2**64 - 1), (1, 2, len(leaves), root)):
        meta = struct.pack("<QHHI", number, 0, 8, 0) + struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 30)
        meta += struct.pack("<IHHQQQQQ", 4096, 0, 0, 0, 0, 0, 0, 2**64 - 1)
        meta += struct.pack("<IHHQQQQQ", 0, 0, depth, 1, len(leaves), 0, count, at)
        meta += struct.pack("<QQ", root if depth else 1, number)
        pages[number] = meta + bytes(4096 - len(meta))
    return b"".join(pages)


def raw_datum(pixels, label):
    height, width, _ = pixels.shape
    data = pixels[:, :, ::-1].transpose(2, 0, 1).tobytes()
    return b"".join(bytes([field << 3]) + varint(value) for field, value in ((1, 3), (2, height), (3, width))) + \
        message(4, data) + b"\x28" + varint(label)


def test_pixels_of_caffe_give_those_of_pngs(stoker, tmp_path):
    random = numpy.random.default_rng(2)
    entries = []
    for number in range(12):
        pixels = random.integers(0, 256, (40 + number, 50, 3), dtype=numpy.uint8)
        name = tmp_path / "loose" / f"class{number // 4}" / f"{number:03}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(name)
        entries.append((b"%08d" % number, raw_datum(pixels, number // 4)))
    (tmp_path / "pixels").mkdir()
    (tmp_path / "pixels" / "data.mdb").write_bytes(lmdb_file(entries))
    (tmp_path / "pixels" / "lock.mdb").write_bytes(bytes(8192))
    expected = audit(stoker, tmp_path, tmp_path / "loose")
    delivered = audit(stoker, tmp_path, tmp_path / "pixels")
    assert [line["hash"] for line in delivered] == [line["hash"] for line in expected]
    info = stoker.json("info", tmp_path / "pixels")
    assert info["format"] == "lmdb" and info["labelled"] == 12 and info["fields"] == ["datum"]
    assert info["codecs"] == {"datum": 12} and info["problems"] == []
    stoker.text("index", tmp_path / "pixels", "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, tmp_path / "pixels", "--index-dir", tmp_path / "indexes") == delivered
    for options in ((), ("--raw",)):
        packed = tmp_path / ("packed" + "".join(options))
        stoker.text("pack", tmp_path / "pixels", packed, *options)
        assert audit(stoker, tmp_path, packed) == delivered
    assert stoker.json("verify", tmp_path / "pixels")["bad"] == []
    data = lmdb_file(entries)
    (tmp_path / "cut.mdb").write_bytes(data[:len(data) // 2])
    said = stoker.refusal(1, "run", tmp_path / "cut.mdb", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.mdb" in said and "truncated" in said


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
    assert "folder, tar, tfrecord, recordio, parquet, npy, zip, mds, lmdb, list, or a text file" in said and "4d 5a 90 00 20 61" in said


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


def python_with_streaming(tmp_path):
    """The one that `./dev bench remote` made, if it did: the package brings 6 GB of others."""
    made = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / "remote" / "bin" / "python"
    if made.exists():
        return made
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "mosaicml-streaming==0.10.0"], check=True,
                   stdout=sys.stderr)
    return python


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
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
