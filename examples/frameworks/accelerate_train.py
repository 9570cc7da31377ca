"""Hugging Face's Accelerate with a network of timm: the loop of a loader, on any number of processes.

    accelerate launch accelerate_train.py DATA --model resnet18
"""

import argparse
import itertools
import os
import shutil
from pathlib import Path

import accelerate
import timm
import torch
from torch import nn

import stoker
import stoker.torch


def save(accelerator: accelerate.Accelerator, folder: Path, name: str) -> None:
    """`last` leads to it only when it is whole: a run that is stopped while it writes has the checkpoint before."""
    accelerator.save_state(folder / name)
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        last, unfinished = folder / "last", folder / "last.unfinished"
        before = last.resolve() if last.exists() else None
        unfinished.unlink(missing_ok=True)
        unfinished.symlink_to(name)
        os.replace(unfinished, last)
        if before and before.name != name:
            shutil.rmtree(before)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model", default="resnet18", help="of timm")
    parser.add_argument("--global-batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="a folder; go on from its last one if there is one, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    accelerator = accelerate.Accelerator()
    data = stoker.open(options.data)
    loader = stoker.torch.Loader(
        data, "imagenet-train", global_batch=options.global_batch, rank=accelerator.process_index, world=accelerator.num_processes,
        pin_memory=accelerator.device.type == "cuda")
    model = timm.create_model(options.model, num_classes=len(data.classes) or 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    # The loader is not prepared: it has this process's part already. Its state goes into Accelerate's checkpoints.
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator.register_for_checkpointing(loader)
    if options.checkpoint and (options.checkpoint / "last").exists():
        accelerator.load_state(options.checkpoint / "last")

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for step, batch in enumerate(itertools.islice(batches, options.steps), 1):
        batch = batch.map(lambda tensor: tensor.to(accelerator.device, non_blocking=True))
        loss = nn.functional.cross_entropy(model(batch.image), batch.label)
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        at = loader.state_dict()
        is_last = step == options.steps or at["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or step % options.every == 0):
            save(accelerator, options.checkpoint, f"epoch{at['epoch']}-batch{at['batch']}")
    accelerator.print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
