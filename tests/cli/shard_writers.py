"""Data sets of every format that people bring, each written byte by byte into a folder. Rows are dicts of name, label and
image."""

import io
import json
import struct
import tarfile
import zipfile

import numpy
from PIL import Image

from foreign_formats import beton, example, message, tfrecord, varint
from test_cli_arrow import write_saved
from test_cli_formats import mds_shard, recordio
from test_cli_hdf5 import Hdf5
from test_cli_litdata import chunk, index
from test_cli_lmdb import lmdb_file
from test_cli_parquet import parquet


def halves(rows):
    return rows[:len(rows) // 2], rows[len(rows) // 2:]


def write_tfrecord(folder, rows):
    for shard, part in enumerate(halves(rows)):
        (folder / f"train-{shard:05}-of-00002").write_bytes(b"".join(tfrecord(example(one)) for one in part))


def write_recordio(folder, rows):
    for shard, part in enumerate(halves(rows)):
        (folder / f"{shard}.rec").write_bytes(b"".join(
            recordio(struct.pack("<IfQQ", 0, one["label"], number, 0) + one["image"]) for number, one in enumerate(part)))


def write_parquet(folder, rows):
    for shard, part in enumerate(halves(rows)):
        (folder / f"train-{shard:05}-of-00002.parquet").write_bytes(parquet(part))
    (folder / "README.md").write_text("as on the hub\n")


def write_arrow(folder, rows):
    write_saved(folder, halves(rows))


def write_mds(folder, rows):
    listed = []
    for name, part in zip(("b/shard.00000.mds", "a/shard.00001.mds"), halves(rows)):  # not in the order of names
        data = mds_shard(part)
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(data)
        listed.append({"format": "mds", "raw_data": {"basename": name, "bytes": len(data)}})
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": listed}))


def write_litdata(folder, rows):
    names = ["chunk-1-0.bin", "chunk-0-0.bin"]  # not in the order of names
    for name, part in zip(names, halves(rows)):
        (folder / name).write_bytes(chunk(part))
    (folder / "index.json").write_text(index({"filename": "str", "image": "jpeg", "label": "int"},
                                             [(name, len(rows) // 2) for name in names]))


def write_lmdb(folder, rows):
    datums = [message(4, one["image"]) + b"\x28" + varint(one["label"]) + b"\x38\x01" for one in rows]
    (folder / "data.mdb").write_bytes(lmdb_file([(b"%08d" % number, datum) for number, datum in enumerate(datums)]))
    (folder / "lock.mdb").write_bytes(bytes(8192))


def write_npz(folder, rows):
    """With pixels of its own: an array has no encoded images."""
    pixels = numpy.random.default_rng(2).integers(0, 256, (len(rows), 40, 50, 3), dtype=numpy.uint8)
    numpy.savez(folder / "train.npz", images=pixels, label=numpy.array([one["label"] for one in rows]))


def beton_image(data):
    """JPEGs as they are, others as pixels: FFCV's mode "smart"."""
    image = Image.open(io.BytesIO(data))
    return (0, *image.size, data) if image.format == "JPEG" else (1, *image.size, image.tobytes())


def write_beton(folder, rows):
    (folder / "train.beton").write_bytes(beton({"image": 2, "label": 1}, [
        {"image": beton_image(one["image"]), "label": one["label"]} for one in rows]))


def write_hdf5(folder, rows):
    for shard, part in enumerate(halves(rows)):
        file = Hdf5()
        file.add_bytes("images", [one["image"] for one in part])
        file.add_bytes("filename", [one["name"].encode() for one in part])
        file.add_numbers("labels", numpy.array([one["label"] for one in part], "<i4"))
        (folder / f"train-{shard}.h5").write_bytes(file.file())


def write_zip(folder, rows):
    with zipfile.ZipFile(folder / "train.zip", "w") as file:
        for number, one in enumerate(rows):
            file.writestr(one["name"], one["image"], zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED)


def write_tar(folder, rows):
    with tarfile.open(folder / "train.tar", "w") as tar:
        for one in rows:
            member = tarfile.TarInfo(one["name"])
            member.size = len(one["image"])
            tar.addfile(member, io.BytesIO(one["image"]))


# How each is written, and the names of its shards: what a web server, which lists nothing, is asked for.
FOREIGN = {
    "tar": (write_tar, "train.tar"),
    "tfrecord": (write_tfrecord, "train-{00000,00001}-of-00002"),
    "recordio": (write_recordio, "{0,1}.rec"),
    "parquet": (write_parquet, "train-{00000..00001}-of-00002.parquet"),
    "arrow": (write_arrow, "data-{00000,00001}-of-00002.arrow"),
    "mds": (write_mds, "{b/shard.00000,a/shard.00001}.mds"),
    "litdata": (write_litdata, "chunk-{1,0}-0.bin"),
    "lmdb": (write_lmdb, "data.mdb"),
    "npz": (write_npz, "train.npz"),
    "beton": (write_beton, "train.beton"),
    "hdf5": (write_hdf5, "train-{0,1}.h5"),
    "zip": (write_zip, "train.zip"),
}
PACKED = ("tar", "tfrecord", "recordio", "mds", "parquet")  # what `stoker pack` writes
