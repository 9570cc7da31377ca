"""Trains a network of torchvision to segment: images and masks that go through the same crops and mirrors.

    python train.py train.csv --classes 21 --checkpoint run.pt

train.csv names images and masks; docs/formats.md has the commands that make it of Cityscapes, Pascal VOC and ADE20K.
"""

import argparse
import itertools
import os
from pathlib import Path

import torch
import torchvision

import stoker
import stoker.torch

UNLABELLED = 255  # of a mask, also where it is padded


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="a list of images and masks, or a pack of it")
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--recipe", default="deeplab-train", help="`mask2former-train` is there, too, or a file")
    parser.add_argument("--model", default="deeplabv3_resnet50", help="of torchvision.models.segmentation")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.torch.Loader(options.data, options.recipe, batch=options.batch, seed=1, pin_memory=device == "cuda")
    torch.manual_seed(0)
    model = getattr(torchvision.models.segmentation, options.model)(
        weights=None, weights_backbone=None, num_classes=options.classes).to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=options.epochs * len(loader), power=0.9)
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule, "loader": loader}
    if options.checkpoint and options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        for name, part in parts.items():
            part.load_state_dict(saved[name])

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for step, batch in enumerate(itertools.islice(batches, options.steps), 1):
        image, mask = (tensor.to(device, non_blocking=True) for tensor in (batch.image, batch.mask))
        loss = torch.nn.functional.cross_entropy(model(image)["out"], mask.long(), ignore_index=UNLABELLED)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 1:
            print(f"epoch {batch.epoch}: loss {loss.item():.3f}", flush=True)
        is_last = step == options.steps or loader.state_dict()["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or step % options.every == 0):
            save(options.checkpoint, **{name: part.state_dict() for name, part in parts.items()})
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
