"""A contestant of the benchmark of volumes, told over stdin when to run. All crop images and labels alike, at random places."""

import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import queue
import resource
import sys
import time

import numpy as np

CROP, BATCH, BATCHES = (128, 128, 128), 2, 20


def cpu_seconds():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def recipe():
    import stoker

    return (stoker.recipe().view("image", field="npy").decode_array("f32", shape=(1, -1, -1, -1)).array_crop(CROP)
            .array_flip([1, 2, 3], p=1 / 3)
            .view("label", field="y.npy").like("image").decode_array("u8", shape=(1, -1, -1, -1)))


def batches_of(loader, count):
    forever = itertools.chain.from_iterable(loader for _ in itertools.count())
    while True:
        for _ in range(count):
            next(forever)
        yield count * BATCH, None


def with_stoker(folder):
    import stoker

    loader = stoker.Loader(stoker.open(str(folder / "cases.csv")), recipe(), batch=BATCH, threads=1, tune="off", repeats=4)
    return batches_of(loader, BATCHES)


def corners(files):
    """Without end: a case, and the corner of a crop of it."""
    rng = np.random.default_rng(1)
    while True:
        for case in rng.permutation(len(files)):
            shape = np.load(files[case], mmap_mode="r").shape[1:]
            yield files[case], shape, [rng.integers(0, extent - side + 1) for extent, side in zip(shape, CROP)]


def ranges(folder, files):
    """Without end: of a crop's image and label the rows of each slice."""
    descriptors = {path: os.open(path, os.O_RDONLY) for path in folder.glob("*.npy")}
    for file, shape, corner in corners(files):
        found = []
        for path, item in ((file, 4), (file.with_name(file.name.replace("_x", "_y")), 1)):
            row = shape[2] * item
            found += [(descriptors[path], CROP[1] * row, 128 + (depth * shape[1] + corner[1]) * row)
                      for depth in range(corner[0], corner[0] + CROP[0])]
        yield found


def with_pread(folder, at_once=1):
    """Reads them into memory that is there."""
    room = np.empty((at_once, CROP[1] * 512 * 4), np.uint8)
    places = queue.SimpleQueue()
    for place in room:
        places.put(place)

    def read(one):
        descriptor, length, offset = one
        place = places.get()
        count = os.preadv(descriptor, [place[:length]], offset)
        places.put(place)
        return count

    pool = concurrent.futures.ThreadPoolExecutor(at_once)
    order = ranges(folder, sorted(folder.glob("*_x.npy")))
    while True:
        wanted = [one for sample in itertools.islice(order, BATCH * BATCHES) for one in sample]
        yield BATCH * BATCHES, sum(map(read, wanted) if at_once == 1 else pool.map(read, wanted))


class Crops:
    """A data set of PyTorch's, as its users write one."""

    def __init__(self, folder):
        self.files = sorted(folder.glob("*_x.npy"))

    def __len__(self):
        return len(self.files) * 4

    def __getitem__(self, number):
        file = self.files[number % len(self.files)]
        image, label = np.load(file, mmap_mode="r"), np.load(file.with_name(file.name.replace("_x", "_y")), mmap_mode="r")
        begin = [np.random.randint(0, extent - side + 1) for extent, side in zip(image.shape[1:], CROP)]
        box = (slice(None), *(slice(at, at + side) for at, side in zip(begin, CROP)))
        image, label = image[box], label[box]
        for axis in (1, 2, 3):
            if np.random.random() < 1 / 3:
                image, label = np.flip(image, axis), np.flip(label, axis)
        return image.copy(), label.copy()


def with_dataloader(folder):
    import torch

    torch.set_num_threads(1)
    return batches_of(torch.utils.data.DataLoader(Crops(folder), BATCH, shuffle=True, num_workers=1, drop_last=True,
                                                  persistent_workers=True), BATCHES)


CONTESTANTS = {"stoker": with_stoker, "pread": with_pread, "pread x16": functools.partial(with_pread, at_once=16), "dataloader": with_dataloader}


def main():
    name, folder = sys.argv[1:]
    rounds = CONTESTANTS[name](pathlib.Path(folder))
    for _ in sys.stdin:
        began, cpu_began = time.perf_counter(), cpu_seconds()
        samples, read = next(rounds)
        print(json.dumps({"samples": samples, "bytes": read or 0, "seconds": time.perf_counter() - began,
                          "cpu_seconds": cpu_seconds() - cpu_began}), flush=True)


if __name__ == "__main__":
    main()
