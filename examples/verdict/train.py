"""Trains a small network, and prints what limits the training: its step, or the data.

    python train.py DATA
"""

import argparse

import torch
from torch import nn

import stoker
import stoker.torch

HEADSPACE_STEPS = 12


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=32, help="channels: more make a step heavier")
    parser.add_argument("--threads", type=int, help="of the loader; as many as are best if it is not given")
    parser.add_argument("--trace", help="write what each thread did when to this file, for ui.perfetto.dev")
    return parser.parse_args()


def network(width: int, classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, stride=2), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, classes))


def main() -> None:
    options = arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = stoker.open(options.data)
    threads = "auto" if options.threads is None else options.threads
    loader = stoker.torch.Loader(
        data, "imagenet-train", batch=options.batch, threads=threads, trace=options.trace, pin_memory=device == "cuda")
    model = network(options.width, len(data.classes) or 10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        if epoch == options.epochs - 1:
            loader.headspace(steps=HEADSPACE_STEPS)  # a few extra steps with one and the same batch
        for image, label in loader.epoch(epoch):
            loss = nn.functional.cross_entropy(model(image.to(device)), label.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()  # waits for the GPU, so that its time counts as the step's
        print(f"epoch {epoch}: loss {loss.item():.3f}. {loader.report(epoch=epoch).verdict}.")
    print()
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
