"""HDF5 files, written here structure by structure (or, with --full, by h5py): what runs deliver from them is what they
deliver from the same images in a folder."""

import json
import struct
import subprocess

import numpy
import pytest
from PIL import Image

from foreign_formats import audit, full, python_with

NOWHERE = 2**64 - 1


class Hdf5:
    """Datasets in the root group of a file of the older generation."""

    def __init__(self):
        self.data, self.members = bytearray(96), []

    def add(self, data):
        self.data += bytes(-len(self.data) % 8)
        at = len(self.data)
        self.data += data
        return at

    def add_object(self, *messages):
        padded = [(kind, body + bytes(-len(body) % 8)) for kind, body in messages]
        block = b"".join(struct.pack("<HHI", kind, len(body), 0) + body for kind, body in padded)
        return self.add(struct.pack("<HHIII", 1, len(messages), 1, len(block), 0) + block)

    def add_dataset(self, name, shape, datatype, content):
        space = struct.pack("<BBBxI", 1, len(shape), 0, 0) + struct.pack(f"<{len(shape)}Q", *shape)
        layout = struct.pack("<BBQQ", 3, 1, self.add(content), len(content))
        self.members.append((name.encode(), self.add_object((1, space), (3, datatype), (5, b"\2\2\2\0"), (8, layout))))

    @staticmethod
    def integer(size):
        return struct.pack("<BBBBIHH", 0x10, 0, 0, 0, size, 0, 8 * size)

    def add_numbers(self, name, array):
        self.add_dataset(name, array.shape, self.integer(array.itemsize), array.tobytes())

    def add_bytes(self, name, values):
        """Each in a collection of its own."""
        references = b""
        for value in values:
            size = max(4096, len(value) + 64)
            used = 32 + len(value) + -len(value) % 8
            collection = b"GCOL" + struct.pack("<IQ", 1, size) + struct.pack("<HHIQ", 1, 1, 0, len(value)) + value
            collection += bytes(-len(value) % 8) + struct.pack("<HHIQ", 0, 0, 0, size - used)
            references += struct.pack("<IQI", len(value), self.add(collection + bytes(size - len(collection))), 1)
        self.add_dataset(name, (len(values),), struct.pack("<BBBBI", 0x19, 0, 0, 0, 16) + self.integer(1), references)

    def file(self):
        names, entries = bytearray(8), b""
        for name, address in sorted(self.members):
            entries += struct.pack("<QQIIQQ", len(names), address, 0, 0, 0, 0)
            last = len(names)
            names += name + bytes(8 - len(name) % 8)
        symbols = b"SNOD" + struct.pack("<BBH", 1, 0, len(self.members)) + entries
        table = self.add(symbols + bytes(8 + 8 * 40 - len(symbols)))
        heap = self.add(b"HEAP" + struct.pack("<IQQQ", 0, len(names), 1, self.add(names)))
        tree = b"TREE" + struct.pack("<BBHQQ", 0, 0, 1, NOWHERE, NOWHERE) + struct.pack("<QQQ", 0, table, last)
        tree = self.add(tree + bytes(544 - len(tree)))
        root = self.add_object((0x11, struct.pack("<QQ", tree, heap)))
        head = b"\x89HDF\r\n\x1a\n" + struct.pack("<5B3B2HI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
        head += struct.pack("<4Q", 0, NOWHERE, len(self.data), NOWHERE) + struct.pack("<QQIIQQ", 0, root, 0, 0, 0, 0)
        self.data[:len(head)] = head
        return bytes(self.data)


def test_images_in_hdf5_give_the_batches_of_the_folder(stoker, samples, tmp_path):
    (tmp_path / "set").mkdir()
    for shard in range(2):
        part = samples[1][6 * shard:6 * shard + 6]
        file = Hdf5()
        file.add_bytes("images", [one["image"] for one in part])
        file.add_bytes("filename", [one["name"].encode() for one in part])
        file.add_numbers("labels", numpy.array([one["label"] for one in part], "<i4"))
        (tmp_path / "set" / f"train-{shard}.h5").write_bytes(file.file())
    expected = audit(stoker, tmp_path, samples[0])
    assert audit(stoker, tmp_path, tmp_path / "set") == expected
    info = stoker.json("info", tmp_path / "set")
    assert info["format"] == "hdf5" and info["labelled"] == info["samples"] == 12 and info["problems"] == []
    assert info["fields"] == ["filename", "png", "jpg"] and info["codecs"] == {"jpeg": 9, "png": 3}
    stoker.text("pack", tmp_path / "set", tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == expected
    stoker.text("index", tmp_path / "set", "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, tmp_path / "set", "--index-dir", tmp_path / "indexes") == expected
    assert stoker.json("verify", tmp_path / "set")["bad"] == []


@pytest.fixture(scope="module")
def pixels(tmp_path_factory):
    """12 pictures of one size, as an array and as a folder of PNGs of three classes."""
    folder = tmp_path_factory.mktemp("pixels")
    array = numpy.random.default_rng(3).integers(0, 256, (12, 40, 50, 3), dtype=numpy.uint8)
    for number, picture in enumerate(array):
        name = folder / f"class{number // 4}" / f"{number:03}.png"
        name.parent.mkdir(exist_ok=True)
        Image.fromarray(picture).save(name)
    return folder, array


def test_pixels_in_hdf5_give_those_of_pngs(stoker, pixels, tmp_path):
    file = Hdf5()
    file.add_numbers("images", pixels[1])
    file.add_numbers("labels", numpy.arange(12) // 4)
    file.add_numbers("depth", pixels[1][:, :, :, 0].copy())
    data = file.file()
    (tmp_path / "all.h5").write_bytes(data)
    expected = [line["hash"] for line in audit(stoker, tmp_path, pixels[0])]
    assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "all.h5")] == expected
    assert stoker.json("info", tmp_path / "all.h5", "--image-field", "depth.npy")["codecs"] == {"raw": 12}
    (tmp_path / "cut.h5").write_bytes(data[:-1])
    said = stoker.refusal(1, "run", tmp_path / "cut.h5", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.h5" in said and "truncated" in said


H5PY_WRITER = """
import itertools, json, sys
import h5py, numpy
folder, pixels = sys.argv[1], numpy.load(sys.argv[2])
samples = json.load(sys.stdin)
images = [open(one["path"], "rb").read() for one in samples]
encoded = [numpy.frombuffer(one, numpy.uint8) for one in images]
names, labels = [one["name"] for one in samples], numpy.array([one["label"] for one in samples])
count, shape = len(pixels), pixels.shape[1:]
whole, grows = dict(chunks=(1, *shape)), dict(maxshape=(None, *shape))
layouts = [{}, whole, dict(chunks=(5, *shape)), {**whole, **grows}, dict(chunks=(2, *shape), maxshape=(None, None, *shape[1:])),
           dict(chunks=(2, *shape), maxshape=(40, 80, *shape[1:])), dict(chunks=pixels.shape)]
filters = [{}, dict(compression="gzip"), dict(compression="lzf"), dict(compression="gzip", shuffle=True),
           dict(compression="lzf", shuffle=True, fletcher32=True), dict(fletcher32=True)]
for version, options in itertools.product(("earliest", "latest"), ({}, dict(track_order=True, userblock_size=512))):
    def create(name):
        return h5py.File(f"{folder}/{name}-{version}-{len(options)}.h5", "w", libver=version, **options)
    for number, (layout, chosen) in enumerate(itertools.product(layouts, filters)):
        if chosen and not layout:
            continue
        with create(f"pixels{number:02}") as file:
            file.create_dataset("images", data=pixels, **layout, **chosen)
            small = dict(chunks=(5,), **chosen) if layout else {}
            file.create_dataset("labels", data=labels, **small)
            file.create_dataset("weight", data=numpy.arange(count, dtype="f4") / 2, **small)
    for number, chosen in enumerate([{}] + [dict(chunks=(5,), **one) for one in filters]):
        with create(f"strings{number}") as file:
            file.create_dataset("images", data=numpy.array(images), **{k: v for k, v in chosen.items() if k != "shuffle"})
            file.create_dataset("filename", data=numpy.array(names, "S"), chunks=(3,))
            file["labels"] = labels.astype(">i4")
        if "fletcher32" in chosen:
            continue  # not for values of any length
        with create(f"bytes{number}") as file:
            for name, values, kind in (("images", encoded, h5py.vlen_dtype(numpy.uint8)),
                                       ("filename", names, h5py.string_dtype())):
                dataset = file.create_dataset(name, (count,), dtype=kind, **chosen)
                for i, value in enumerate(values):
                    dataset[i] = value
            file["labels"] = labels.astype("i2")
    with create("bytes_in_groups") as file:
        group = file.create_group("train/all")
        dataset = group.create_dataset("images", (count,), dtype=h5py.vlen_dtype(numpy.uint8))
        for i, value in enumerate(images):
            dataset[i] = numpy.frombuffer(value, numpy.uint8)
        group["filename"], group["labels"] = names, labels
        for i in range(300):
            group[f"a further dataset with a long name, number {i}"] = numpy.arange(count)
# Chunks that fill every kind of block of an index; growth after writing.
many = numpy.arange(30000 * 12, dtype="u4").astype("u1").reshape(30000, 2, 2, 3)
numpy.savez(f"{folder}/many.npz", images=many, labels=numpy.arange(30000))
for version, (number, options) in itertools.product(("earliest", "latest"), enumerate(
        (dict(), dict(maxshape=(None, 2, 2, 3)), dict(maxshape=(None, None, 2, 3), compression="lzf")))):
    with h5py.File(f"{folder}/many{number}-{version}.h5", "w", libver=version) as file:
        file.create_dataset("images", data=many, chunks=(1, 2, 2, 3), **options)
        file["labels"] = numpy.arange(30000)
with h5py.File(f"{folder}/auto.h5", "w") as file:
    file.create_dataset("images", data=pixels, compression="gzip")
"""


@full
def test_files_that_h5py_wrote_are_read(stoker, samples, pixels, tmp_path):
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    (tmp_path / "theirs").mkdir()
    numpy.save(tmp_path / "pixels.npy", pixels[1])
    subprocess.run([python_with(tmp_path, "h5py==3.16.0"), "-c", H5PY_WRITER, tmp_path / "theirs", tmp_path / "pixels.npy"],
                   input=json.dumps(listing), text=True, check=True)
    loose = audit(stoker, tmp_path, samples[0])
    pictures = [line["hash"] for line in audit(stoker, tmp_path, pixels[0])]
    files = sorted((tmp_path / "theirs").glob("*-*-*.h5"))
    assert len(files) == 4 * (1 + 6 * 6 + 7 + 5 + 1)
    for file in files:
        delivered = audit(stoker, tmp_path, file)
        if not file.name.startswith("pixels"):
            assert delivered == loose, file
            continue
        assert [line["hash"] for line in delivered] == pictures, file
        described = stoker.json("info", file, "--sample", 7)["sample"]
        assert [field["shown"] for field in described["fields"] if field["name"] == "weight.f32"] == ["3.5"], file
    said = stoker.refusal(1, "run", tmp_path / "theirs" / "auto.h5", "--recipe", "imagenet-val", "--batch", 4)
    assert "'images' is stored in chunks of" in said and "h5repack -l images:CHUNK=1x40x50x3" in said

    recipe = tmp_path / "small.toml"
    recipe.write_text('''
[[view]]
name = "image"
field = "image"
operators = [{ op = "decode" }, { op = "resize", size = [2, 2] }, { op = "layout", layout = "nhwc" }]
''')

    def hashes(data):
        lines = stoker.audit(tmp_path, "run", data, "--recipe", recipe, "--batch", 300)
        return [json.loads(line)["hash"] for line in lines]

    expected = hashes(tmp_path / "theirs" / "many.npz")
    assert len(expected) == 30000
    for file in sorted((tmp_path / "theirs").glob("many?-*.h5")):
        assert hashes(file) == expected, file
