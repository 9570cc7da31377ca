#!/usr/bin/env python3
"""Readers of shard formats, Stoker's among them: each measures itself in a process of its own.

Usage: readers.py READER, with its arguments as JSON on standard input: `path`, the `field` that has the image, `samples`,
whether to `check`, and the folder `scratch` for what it writes. It prints one line of JSON; what imports take is in none of
its figures. Every reader gives the images as Python's bytes, encoded, from the calling thread."""

import json
import os
import pathlib
import random
import resource
import sys
import time
import zlib

BATCH = 64


class Reader:
    """Opens `path` when it is made. `get`, where it has one, reads any sample; `all` reads all in order, anew on each call."""

    get = None

    def all(self):
        raise NotImplementedError


class StokerReader(Reader):
    uses_index = True

    def __init__(self, path, field, **_):
        import stoker

        self.data, self.field = stoker.open(path, use_index=self.uses_index), field

    def all(self):
        return (self.data[sample][self.field] for sample in range(len(self.data)))

    def get(self, sample):
        return self.data[sample][self.field]


class ScanningReader(StokerReader):
    """Finds the samples anew each time that it opens a shard."""

    uses_index = False


class FilesReader(Reader):
    def __init__(self, path, **_):
        self.files = sorted(file for file in pathlib.Path(path).rglob("*") if file.is_file())

    def all(self):
        return (file.read_bytes() for file in self.files)

    def get(self, sample):
        return self.files[sample].read_bytes()


class ZipfileReader(Reader):
    def __init__(self, path, **_):
        import zipfile

        self.zip = zipfile.ZipFile(path)
        self.names = [name for name in self.zip.namelist() if not name.endswith("/")]

    def all(self):
        return map(self.zip.read, self.names)

    def get(self, sample):
        return self.zip.read(self.names[sample])


class WebdatasetReader(Reader):
    def __init__(self, path, field, **_):
        import webdataset

        self.data, self.field = webdataset.WebDataset(shards_of(path, "*.tar"), shardshuffle=False), field

    def all(self):
        return (sample[self.field] for sample in self.data)


class TfDataReader(Reader):
    """Records parsed in batches, the fastest way that it has."""

    def __init__(self, path, field, **_):
        import tensorflow

        features = {field: tensorflow.io.FixedLenFeature([], tensorflow.string),
                    "cls": tensorflow.io.FixedLenFeature([], tensorflow.int64)}
        self.field = field
        self.data = (tensorflow.data.TFRecordDataset(shards_of(path, "*.tfrecord")).batch(BATCH)
                     .map(lambda records: tensorflow.io.parse_example(records, features)).prefetch(2))

    def all(self):
        for batch in self.data.as_numpy_iterator():
            yield from batch[self.field]


class StreamingReader(Reader):
    def __init__(self, path, field, **_):
        from streaming import StreamingDataset
        from streaming.base.util import clean_stale_shared_memory

        clean_stale_shared_memory()  # of one that was killed
        self.data, self.field = StreamingDataset(local=path, shuffle=False, batch_size=1), field

    def all(self):
        return (sample[self.field] for sample in self.data)

    def get(self, sample):
        return self.data[sample][self.field]


class LitdataReader(Reader):
    def __init__(self, path, field, **_):
        from litdata import StreamingDataset

        self.data, self.field = StreamingDataset(path, shuffle=False), field

    def all(self):
        return (sample[self.field] for sample in self.data)

    def get(self, sample):
        return self.data[sample][self.field]


class DatasetsReader(Reader):
    """Opening includes the copy that it makes of a Parquet file it has not seen."""

    def __init__(self, path, scratch, **_):
        import datasets

        datasets.disable_progress_bars()
        files = shards_of(path, "*.parquet")
        data = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=scratch)
        self.data = data.cast_column("image", datasets.Image(decode=False))

    def all(self):
        for batch in self.data.iter(batch_size=BATCH):
            for image in batch["image"]:
                yield image["bytes"]

    def get(self, sample):
        return self.data[sample]["image"]["bytes"]


class SavedDatasetsReader(DatasetsReader):
    def __init__(self, path, **_):
        import datasets

        self.data = datasets.load_from_disk(path).cast_column("image", datasets.Image(decode=False))


class PyarrowReader(Reader):
    def __init__(self, path, **_):
        import pyarrow.parquet

        self.files = [pyarrow.parquet.ParquetFile(file) for file in shards_of(path, "*.parquet")]

    def all(self):
        for file in self.files:
            for batch in file.iter_batches(batch_size=BATCH, columns=["image", "label"]):
                yield from batch.column("image").field("bytes").to_pylist()


class MappedPyarrowReader(Reader):
    """Tables in mapped memory, which datasets has, too."""

    def __init__(self, path, **_):
        import pyarrow

        self.images = pyarrow.chunked_array([
            chunk for file in shards_of(path, "*.arrow")
            for chunk in pyarrow.ipc.open_stream(pyarrow.memory_map(file)).read_all()["image"].chunks])

    def all(self):
        for chunk in self.images.chunks:
            for begin in range(0, len(chunk), BATCH):
                yield from chunk.slice(begin, BATCH).field("bytes").to_pylist()

    def get(self, sample):
        return self.images[sample]["bytes"].as_py()


class LmdbReader(Reader):
    def __init__(self, path, **_):
        import lmdb

        self.transaction = lmdb.open(path, readonly=True, lock=False).begin()
        self.keys = list(self.transaction.cursor().iternext(keys=True, values=False))

    def all(self):
        return self.transaction.cursor().iternext(keys=False, values=True)

    def get(self, sample):
        return self.transaction.get(self.keys[sample])


class H5pyReader(Reader):
    def __init__(self, path, **_):
        import h5py

        self.images = h5py.File(path)["image"]

    def all(self):
        for begin in range(0, len(self.images), BATCH):
            for image in self.images[begin:begin + BATCH]:
                yield image.tobytes()

    def get(self, sample):
        return self.images[sample].tobytes()


def shards_of(path, pattern):
    at = pathlib.Path(path)
    return [str(file) for file in sorted(at.glob(pattern))] if at.is_dir() else [str(at)]


def cpu_seconds():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(images):
    """Goes through them, and says how many and how long."""
    began, cpu = time.perf_counter(), cpu_seconds()
    samples = size = 0
    for image in images:
        samples += 1
        size += len(image)
    return {"samples": samples, "bytes": size, "seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - cpu}


def import_of(reader):
    """What the constructor imports, before the clock runs."""
    modules = {StokerReader: "stoker", ScanningReader: "stoker", WebdatasetReader: "webdataset", TfDataReader: "tensorflow", StreamingReader: "streaming",
               LitdataReader: "litdata", DatasetsReader: "datasets", SavedDatasetsReader: "datasets", PyarrowReader: "pyarrow.parquet",
               MappedPyarrowReader: "pyarrow", LmdbReader: "lmdb",
               H5pyReader: "h5py", ZipfileReader: "zipfile"}
    if reader in modules:
        __import__(modules[reader])


def measure(reader, path, field, samples, check, scratch):
    import_of(reader)
    began = time.perf_counter()
    opened = reader(path=path, field=field, scratch=scratch)
    answer = {"open": time.perf_counter() - began}
    for number, image in enumerate(opened.all(), 1):
        if number == BATCH:
            break
    answer["first"] = time.perf_counter() - began
    answer["in order"] = timed(opened.all())
    answer["random"] = None
    if opened.get:
        order = random.Random(7).sample(range(samples), samples)
        answer["random"] = timed(map(opened.get, order))
    if check:  # of all images, in whatever order a format has them
        answer["sum"] = sum(map(zlib.crc32, opened.all()))
    return answer


READERS = {"stoker": StokerReader, "stoker, no index": ScanningReader, "files": FilesReader, "zipfile": ZipfileReader, "webdataset": WebdatasetReader,
           "tf.data": TfDataReader, "streaming": StreamingReader, "litdata": LitdataReader,
           "datasets": DatasetsReader, "datasets, saved": SavedDatasetsReader, "pyarrow": PyarrowReader,
           "pyarrow, mapped": MappedPyarrowReader, "lmdb": LmdbReader, "h5py": H5pyReader}

if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    print(json.dumps(measure(READERS[sys.argv[1]], **json.load(sys.stdin))), file=answers, flush=True)
    os._exit(0)  # not every library's threads would end
