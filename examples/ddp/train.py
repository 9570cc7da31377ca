"""Trains a small network on several processes, and goes on where it was stopped, on any number of them.

    torchrun --nproc-per-node 2 train.py DATA --checkpoint run.pt

Every process makes its own loader; which part of each global batch is its own the loader knows from the launcher. The
checkpoint has the network, the optimizer and the loader's state, which is the same on every process.
"""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import stoker
import stoker.torch

SIDE = 32


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--global-batch", type=int, default=32, help="samples a step, of all processes together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=2, help="steps between two checkpoints")
    parser.add_argument("--seen", type=Path, help="a folder: each process writes down what it was given")
    return parser.parse_args()


def network(classes: int) -> nn.Module:
    torch.manual_seed(0)  # the same weights on every process
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main() -> None:
    options = arguments()
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()

    data = stoker.open(options.data)
    recipe = stoker.recipe().decode().random_resized_crop(SIDE).random_flip().normalize("imagenet")
    loader = stoker.torch.Loader(data, recipe, global_batch=options.global_batch, seed=options.seed, threads=1)

    model = DistributedDataParallel(network(len(data.classes) or 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    epoch = 0
    if options.checkpoint and options.checkpoint.exists():
        checkpoint = torch.load(options.checkpoint)
        model.module.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        loader.load_state_dict(checkpoint["loader"])
        epoch = checkpoint["loader"]["epoch"]

    seen = open(options.seen / f"{os.getpid()}.txt", "w") if options.seen else None
    for epoch in range(epoch, options.epochs):
        loss = torch.tensor(0.0)
        for batch in loader.epoch(epoch):
            if seen:  # before the step, which no process ends without the others: what a checkpoint counts is written down
                for position, key in zip(batch.position.tolist(), batch.key):
                    seen.write(f"{epoch} {position} {key}\n")
                seen.flush()
            loss = nn.functional.cross_entropy(model(batch.image), batch.label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state = loader.state_dict()
            if rank == 0 and options.checkpoint and state["batch"] % options.every == 0:
                save(options.checkpoint, model=model.module.state_dict(), optimizer=optimizer.state_dict(), loader=state)
        if rank == 0:
            print(f"epoch {epoch}: the last batch's loss is {loss.item():.3f}", flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
