"""Trains a detector of torchvision on COCO's own files: images and boxes that move together, in crops that hold objects.

    python train.py COCO/annotations/instances_train2017.json --checkpoint run.pt
"""

import argparse
import itertools
import os
from pathlib import Path

import torch
import torchvision

import stoker
import stoker.torch

CLASSES = 91  # COCO's category numbers, and the background


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("annotations", help="COCO's list, with the folder of its images beside it; or a pack of it")
    parser.add_argument("--model", default="ssd300_vgg16", help="of torchvision.models.detection")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = stoker.open(options.annotations)
    loader = stoker.torch.Loader(data, "ssd-train", batch=options.batch, seed=1, pin_memory=device == "cuda")
    torch.manual_seed(0)
    # The recipe has subtracted the mean; the model's own transform only resizes, which here it need not.
    model = getattr(torchvision.models.detection, options.model)(
        weights=None, weights_backbone=None, num_classes=CLASSES, image_mean=[0.0] * 3, image_std=[1.0] * 3).to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, weight_decay=5e-4)
    if options.checkpoint and options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for step, batch in enumerate(itertools.islice(batches, options.steps), 1):
        batch = batch.map(lambda tensor: tensor.to(device, non_blocking=True))
        objects = zip(batch.boxes.as_list(), batch.labels.as_list())
        losses = model(list(batch.image), [{"boxes": boxes, "labels": labels} for boxes, labels in objects])
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 1:
            print(f"epoch {batch.epoch}: loss {loss.item():.3f}", flush=True)
        is_last = step == options.steps or loader.state_dict()["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or step % options.every == 0):
            save(options.checkpoint, model=model.state_dict(), optimizer=optimizer.state_dict(), loader=loader.state_dict())
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
