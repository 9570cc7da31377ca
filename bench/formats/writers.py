#!/usr/bin/env python3
"""Writes a folder of images as a shard of a format, by the library that the format comes from.

Usage: writers.py FORMAT FOLDER OUT FIELD, in the environment that environments.py names for it. Samples stand in the order
of their paths; classes are the top-level folders."""

import os
import pathlib
import sys

SHARD_BYTES = 64 << 20


def images(folder):
    """Path, class number and bytes of each."""
    classes = sorted(path.name for path in pathlib.Path(folder).iterdir())
    for file in sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file()):
        name = file.relative_to(folder)
        yield str(name), classes.index(name.parts[0]), file.read_bytes()


def write_mds(folder, out, field):
    from streaming import MDSWriter

    with MDSWriter(out=out, columns={field: "bytes", "cls": "int"}, size_limit=SHARD_BYTES) as writer:
        for _, label, image in images(folder):
            writer.write({field: image, "cls": label})


def one_litdata_sample(described):
    field, label, file = described
    return {field: pathlib.Path(file).read_bytes(), "cls": label}


def write_litdata(folder, out, field):
    from litdata import optimize

    described = [(field, label, str(pathlib.Path(folder, name))) for name, label, _ in images(folder)]
    optimize(one_litdata_sample, described, output_dir=out, chunk_bytes=SHARD_BYTES, num_workers=1)


def huggingface(folder):
    import datasets

    classes = sorted(path.name for path in pathlib.Path(folder).iterdir())
    features = datasets.Features({"image": datasets.Image(decode=False), "label": datasets.ClassLabel(names=classes)})
    rows = [{"image": {"bytes": image, "path": os.path.basename(name)}, "label": label} for name, label, image in images(folder)]
    return datasets.Dataset.from_list(rows, features=features)


def write_parquet(folder, out, _):
    huggingface(folder).to_parquet(out)


def write_arrow(folder, out, _):
    huggingface(folder).save_to_disk(out, max_shard_size=SHARD_BYTES)


def write_lmdb(folder, out, _):
    import lmdb

    size = sum(len(image) for _, _, image in images(folder))
    with lmdb.open(out, map_size=2 * size + (64 << 20)) as database, database.begin(write=True) as transaction:
        for name, _, image in images(folder):
            transaction.put(name.encode(), image)


def write_hdf5(folder, out, _):
    import h5py
    import numpy

    rows = list(images(folder))
    with h5py.File(out, "w") as file:
        file["label"] = numpy.array([label for _, label, _ in rows], numpy.int64)
        data = file.create_dataset("image", (len(rows),), h5py.vlen_dtype(numpy.uint8))
        for number, (_, _, image) in enumerate(rows):
            data[number] = numpy.frombuffer(image, numpy.uint8)


def write_zip(folder, out, _):
    import zipfile

    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name, _, image in images(folder):
            file.writestr(name, image)


WRITERS = {"mds": write_mds, "litdata": write_litdata, "parquet": write_parquet, "arrow": write_arrow, "lmdb": write_lmdb, "hdf5": write_hdf5,
           "zip": write_zip}

if __name__ == "__main__":
    WRITERS[sys.argv[1]](*sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # not every library's threads would end
