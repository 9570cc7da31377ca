"""Trains a ResNet on CIFAR-10 from the files that its authors publish, read where they lie.

    python train.py cifar-10-batches-py --checkpoint run.pt
"""

import argparse
import os
import pickle
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import stoker
import stoker.torch


def as_arrays(folder: Path, names: list[str], to: Path) -> Path:
    """The authors' pickles as one file of numpy, which has random access. They are trusted: unpickling runs what they say."""
    if not to.exists():
        parts = [pickle.loads((folder / name).read_bytes(), encoding="latin1") for name in names]
        images = np.concatenate([part["data"] for part in parts]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = np.concatenate([part["labels"] for part in parts])
        np.savez(to.with_suffix(".unfinished"), image=np.ascontiguousarray(images), label=labels)
        os.replace(to.with_suffix(".unfinished.npz"), to)
    return to


class Block(nn.Module):
    def __init__(self, into: int, out: int, stride: int) -> None:
        super().__init__()
        self.way = nn.Sequential(
            nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.past = nn.Identity() if into == out else nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.way(x) + self.past(x))


def resnet(width: int, depth: int) -> nn.Module:
    """ResNet-20 for a width of 16 and a depth of 3."""
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    for stage in range(3):
        for block in range(depth):
            first = block == 0 and stage > 0
            layers.append(Block(width << (stage - first), width << stage, 2 if first else 1))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width << 2, 10))


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with data_batch_1 to 5 and test_batch")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    options = parser.parse_args(words)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    train = as_arrays(options.data, [f"data_batch_{number}" for number in range(1, 6)], options.data / "train.npz")
    test = as_arrays(options.data, ["test_batch"], options.data / "test.npz")
    loader = stoker.torch.Loader(train, "cifar-train", batch=options.batch, seed=1)
    held_out = stoker.torch.Loader(test, stoker.recipe().decode().center_crop(32).normalize("cifar10").set_tail("pad"), batch=500, order="none",
                                   bad_sample="skip")

    torch.manual_seed(0)
    model = resnet(options.width, options.depth).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.lr, total_steps=options.epochs * len(loader))
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule, "loader": loader}
    if options.checkpoint and options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        for name, part in parts.items():
            part.load_state_dict(saved[name])

    def keep():
        if options.checkpoint:
            save(options.checkpoint, **{name: part.state_dict() for name, part in parts.items()})

    step = 0
    for epoch in range(loader.state_dict()["epoch"], options.epochs):
        model.train()
        for batch in loader.epoch(epoch):
            loss = functional.cross_entropy(model(batch.image.to(device)), batch.label.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
            if step == options.steps:
                keep()
                return
        keep()
        model.eval()
        with torch.no_grad():
            right = sum(((model(batch.image.to(device)).argmax(1).cpu() == batch.label) & batch.valid).sum().item() for batch in held_out.epoch(0))
        print(f"epoch {epoch}: {right / len(held_out.dataset):.2%} right. {loader.report(epoch=epoch).verdict}.", flush=True)


if __name__ == "__main__":
    main()
