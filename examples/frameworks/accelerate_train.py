"""Hugging Face's Accelerate with a network of timm: the loop of a loader, on any number of processes.

    accelerate launch accelerate_train.py DATA --model resnet18
"""

import argparse
import itertools
from pathlib import Path

import accelerate
import timm
import torch
from torch import nn

import stoker
import stoker.torch


def main(words=None) -> list[tuple[int, int]]:
    """The samples of this process: epoch, and position in its order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model", default="resnet18", help="of timm")
    parser.add_argument("--global-batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="a folder; go on from it if it is there, and write it")
    options = parser.parse_args(words)

    accelerator = accelerate.Accelerator()
    data = stoker.open(options.data)
    loader = stoker.torch.Loader(
        data, "imagenet-train", global_batch=options.global_batch, rank=accelerator.process_index, world=accelerator.num_processes,
        pin_memory=accelerator.device.type == "cuda")
    model = timm.create_model(options.model, num_classes=len(data.classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    # The loader is not prepared: it has this process's part already. Its state goes into Accelerate's checkpoints.
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.register_for_checkpointing(loader)
    if options.checkpoint and options.checkpoint.exists():
        accelerator.load_state(options.checkpoint)

    seen = []
    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for batch in itertools.islice(batches, options.steps):
        batch = batch.map(lambda tensor: tensor.to(accelerator.device, non_blocking=True))
        loss = nn.functional.cross_entropy(model(batch.image), batch.label)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        seen += [(batch.epoch, position) for position in batch.position.tolist()]
    if options.checkpoint:
        accelerator.save_state(options.checkpoint)
    accelerator.print(loader.report(), end="")
    loader.close()
    return seen


if __name__ == "__main__":
    main()
