"""A contestant of the benchmark of functions, told over stdin when to run."""

import functools
import io
import itertools
import json
import pathlib
import resource
import sys
import time

import numpy as np
from PIL import Image, ImageEnhance

BATCH, SIDE, CALLS, BATCHES = 32, 224, 400, 24
GIVES = {"image": ("u8", (SIDE, SIDE, 3))}


def light(image):
    return image[..., ::-1, :] ^ 5


def noise(image, rng):
    return np.clip(image + rng.normal(0, 8, image.shape).astype(np.float32), 0, 255).astype(np.uint8)


def pillow(image):
    turned = Image.fromarray(image).rotate(7, Image.BILINEAR)
    return np.asarray(ImageEnhance.Color(turned).enhance(1.3))


def cpu_seconds():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def recipe():
    import stoker

    return stoker.recipe().decode().random_resized_crop(SIDE).random_flip().layout("nhwc")


def bare(function, data, _, batch):
    """The function alone, on pictures that are there."""
    files = sorted(pathlib.Path(data).rglob("*.jpg"))[:64]
    pictures = [recipe().apply(file.read_bytes())["image"] for file in files]
    if batch:
        pictures = [np.stack(pictures[first:first + BATCH]) for first in range(0, len(pictures), BATCH)]
    function, calls, each = seeded(function), CALLS // BATCH if batch else CALLS, BATCH if batch else 1
    loop = itertools.cycle(pictures)
    while True:
        for _ in range(calls):
            function(next(loop))
        yield calls * each


def seeded(function):
    """For a caller that gives it no random numbers."""
    return functools.partial(noise, rng=np.random.default_rng(1)) if function is noise else function


def batches_of(loader):
    """For ever, the first ones before anything is timed."""
    forever = itertools.chain.from_iterable(loader for _ in itertools.count())
    for _ in range(4):
        next(forever)
    while True:
        for _ in range(BATCHES):
            next(forever)
        yield BATCHES * BATCH


def without(_, data, workers, __):
    import stoker

    return batches_of(stoker.Loader(data, recipe(), batch=BATCH, threads=workers, tune="off"))


def with_function(function, data, workers, batch):
    import stoker

    mapped = recipe().map(function, "image", GIVES, batch=batch)
    return batches_of(stoker.Loader(data, mapped, batch=BATCH, threads=workers, tune="off"))


class Files:
    """A data set of PyTorch's, as its users write one."""

    def __init__(self, function, data):
        from torchvision import transforms

        self.files = sorted(pathlib.Path(data).rglob("*.jpg"))
        self.transform = transforms.Compose([transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip()])
        self.function = function

    def __len__(self):
        return len(self.files)

    def __getitem__(self, number):
        image = Image.open(io.BytesIO(self.files[number].read_bytes())).convert("RGB")
        return np.ascontiguousarray(self.function(np.array(self.transform(image))))


def collated(function, images):
    import torch

    return torch.from_numpy(np.ascontiguousarray(function(np.stack(images))))


def as_it_is(image):
    return image


def dataloader(function, data, workers, batch):
    import torch

    torch.set_num_threads(1)
    files = Files(as_it_is if batch else seeded(function), data)
    collate = functools.partial(collated, seeded(function)) if batch else None
    return batches_of(torch.utils.data.DataLoader(files, BATCH, shuffle=True, num_workers=workers, drop_last=True,
                                                  persistent_workers=True, collate_fn=collate))


CONTESTANTS = {"bare": bare, "without": without, "stoker": with_function, "dataloader": dataloader}


def main():
    name, function, calls, data, workers = sys.argv[1:]
    # By the module that other processes find it in.
    import function_loop

    rounds = function_loop.CONTESTANTS[name](getattr(function_loop, function), data, int(workers), calls == "batches")
    for _ in sys.stdin:
        began, cpu_began = time.perf_counter(), cpu_seconds()
        samples = next(rounds)
        print(json.dumps({"samples": samples, "seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - cpu_began}),
              flush=True)


if __name__ == "__main__":
    main()
