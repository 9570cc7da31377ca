"""A contestant of the benchmark of tokens, told over stdin when to run. Samples are bytes of int64 delivered: tokens and targets."""

import itertools
import json
import pathlib
import resource
import sys
import time

import numpy as np

BATCH, BYTES_EACH_TOKEN, PART = 32, 16, 64 << 20


def stoker(folder, length):
    import stoker

    recipe = stoker.recipe()
    for part in ("inputs", "targets"):
        recipe = recipe.view(part, field="tokens.u16").decode_tokens(length, part=part)
    return stoker.Loader(stoker.open(folder / "corpus.bin", tokens=length), recipe, batch=BATCH, threads=1, tune="off")


def memmap(folder, length):
    import torch

    torch.set_num_threads(1)

    class Sequences(torch.utils.data.Dataset):
        def __init__(self):
            self.tokens = np.memmap(folder / "corpus.bin", np.uint16, "r")

        def __len__(self):
            return (len(self.tokens) - 1) // length

        def __getitem__(self, number):
            part = torch.from_numpy(self.tokens[number * length:(number + 1) * length + 1].astype(np.int64))
            return part[:-1], part[1:]

    return torch.utils.data.DataLoader(Sequences(), BATCH, shuffle=True, drop_last=True)


def streaming(folder, length):
    import streaming as mosaic
    import torch

    torch.set_num_threads(1)
    out = folder / f"mds-{length}"
    if not out.exists():
        tokens = np.memmap(folder / "corpus.bin", np.uint16, "r")
        with mosaic.MDSWriter(out=str(out), columns={"tokens": "ndarray:uint16"}) as writer:
            for number in range(min(len(tokens) // (length + 1), (64 << 20) // length)):
                writer.write({"tokens": tokens[number * (length + 1):(number + 1) * (length + 1)]})

    class Sequences(mosaic.StreamingDataset):
        def __getitem__(self, number):
            part = torch.from_numpy(super().__getitem__(number)["tokens"].astype(np.int64))
            return part[:-1], part[1:]

    return torch.utils.data.DataLoader(Sequences(local=str(out), shuffle=True, batch_size=BATCH), BATCH, drop_last=True)


def copy(_folder, _length):
    """A plain copy, of more than caches hold."""
    room, other = np.ones(PART, np.uint8), np.empty(PART, np.uint8)
    while True:
        np.copyto(other, room)
        yield PART


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    name, folder, length = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    made = globals()[name](folder, length)
    forever = made if name == "copy" else (BATCH * length * BYTES_EACH_TOKEN for _ in itertools.chain.from_iterable(
        made for _ in itertools.count()))
    for _ in range(4):
        next(forever)
    for _ in sys.stdin:
        began, cpu_began, done = time.perf_counter(), cpu_seconds(), 0
        while time.perf_counter() - began < 1.5:
            done += next(forever)
        print(json.dumps({"samples": done, "seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - cpu_began}),
              flush=True)


if __name__ == "__main__":
    main()
