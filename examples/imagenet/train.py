"""Trains a network of torchvision on ImageNet: on any number of GPUs, in mixed precision, with an average of its weights that is
evaluated beside it, and from where it was stopped.

    torchrun --nproc-per-node 8 train.py IMAGENET --model resnet50 --checkpoint run.pt

IMAGENET has `train` and `val`: folders of classes, shards, or packs of either.
"""

import argparse
import math
import os
import re
from pathlib import Path

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

import stoker
import stoker.torch


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="resnet50", help="of torchvision.models; tiny: a few convolutions, to try the script")
    parser.add_argument("--recipe", default="imagenet-train", help="`resnet50-v2` and others are there, or a file")
    parser.add_argument("--global-batch", type=int, default=1024, help="images a step, of all processes together")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--lr", type=float, default=0.1, help="for batches of 256; larger ones get as much more")
    parser.add_argument("--warmup-epochs", type=float, default=5)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--label-smoothing", type=float, default=0.1, help="of the loss; 0 if the recipe smooths labels")
    parser.add_argument("--ema-decay", type=float, default=0.9998)
    parser.add_argument("--amp", choices=("bf16", "off"), default="bf16")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints")
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--audit", type=Path, help="a folder: each process writes down what it was given")
    return parser.parse_args()


def opened(folder: Path) -> tuple[stoker.Dataset, stoker.Dataset]:
    """`train`, and `val` with its classes: one that lacks some would number the others differently."""
    train, val = stoker.open(folder / "train"), stoker.open(folder / "val")
    if val.classes not in ([], train.classes):
        val = val.with_labels("folders", train.classes)
    return train, val


def recipe_for(name: str, classes: int) -> tuple[stoker.Recipe, bool]:
    """The recipe, for so many classes, and whether it smooths labels."""
    text = re.sub(r'(op = "one_hot", classes =) \d+', rf"\1 {classes}", stoker.recipe(name).to_toml())
    smoothing = re.findall(r'op = "one_hot", .*smoothing = ([\d.e-]+)', text)
    return stoker.Recipe.from_toml(text), any(map(float, smoothing))


def network(name: str, classes: int) -> nn.Module:
    torch.manual_seed(0)  # the same weights on every process
    if name == "tiny":
        return nn.Sequential(
            nn.Conv2d(3, 8, 7, stride=4), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, classes))
    import torchvision

    return getattr(torchvision.models, name)(num_classes=classes)


def without_decay(model: nn.Module) -> list[dict]:
    """Groups of parameters: biases and those of norms do not decay."""
    decays = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    rest = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    return [{"params": decays}, {"params": rest, "weight_decay": 0.0}]


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


class Training:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rank = distributed.get_rank()
        gpu = int(os.environ.get("LOCAL_RANK", 0)) if torch.cuda.is_available() else None
        self.device = torch.device("cpu" if gpu is None else f"cuda:{gpu}")
        if gpu is not None:
            torch.cuda.set_device(gpu)
        common = dict(global_batch=options.global_batch, pin_memory=gpu is not None)
        train, val = opened(options.data)
        classes = len(train.classes) or 1000
        recipe, smooths = recipe_for(options.recipe, classes)
        # Where Stoker was built with CUDA, device=f"cuda:{gpu}" leaves a part of the work to the GPU.
        audit = options.audit and options.audit / f"{os.uname().nodename}-{os.getpid()}.jsonl"
        self.train = stoker.torch.Loader(train, recipe, seed=options.seed, audit=audit, **common)
        self.val = stoker.torch.Loader(val, "imagenet-val", order="none", bad_sample="skip", **common)

        self.module = network(options.model, classes).to(self.device, memory_format=torch.channels_last)
        self.model = DistributedDataParallel(self.module, device_ids=None if gpu is None else [gpu])
        decay = options.ema_decay
        self.average = AveragedModel(  # with the statistics of the norms, which are buffers
            self.module, avg_fn=lambda mean, now, _: decay * mean + (1 - decay) * now, use_buffers=True)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0 if smooths else options.label_smoothing)
        self.optimizer = torch.optim.SGD(without_decay(self.module), lr=options.lr * options.global_batch / 256, momentum=0.9,
                                         weight_decay=options.weight_decay)
        warmup, steps = options.warmup_epochs * len(self.train), options.epochs * len(self.train)
        self.steps = 0
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / max(warmup, 1), 0.5 * (1 + math.cos(math.pi * step / steps))))

    def parts(self) -> dict:
        return {"model": self.module, "average": self.average, "optimizer": self.optimizer, "schedule": self.schedule, "loader": self.train}

    def resume(self) -> int:
        """The epoch to go on with."""
        path = self.options.checkpoint
        if not path or not path.exists():
            return 0
        saved = torch.load(path, map_location=self.device)
        for name, part in self.parts().items():
            part.load_state_dict(saved[name])
        state = saved["loader"]
        return state["epoch"] + (state["batch"] >= len(self.train))  # at an epoch's end the next one begins

    def keep(self) -> None:
        if self.rank == 0 and self.options.checkpoint:
            save(self.options.checkpoint, **{name: part.state_dict() for name, part in self.parts().items()})

    def placed(self, part: torch.Tensor) -> torch.Tensor:
        return part.to(self.device, non_blocking=True, memory_format=torch.channels_last if part.ndim == 4 else torch.preserve_format)

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.amp == "bf16")

    def epoch(self, number: int) -> None:
        self.model.train()
        for batch in self.train.epoch(number):
            with self.autocast():
                loss = self.loss(self.model(self.placed(batch.image)), self.placed(batch.label))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.average.update_parameters(self.module)
            if self.train.state_dict()["batch"] % self.options.every == 0:
                self.keep()
            self.steps += 1
            if self.steps == self.options.steps:
                break

    @torch.no_grad()
    def accuracy(self, model: nn.Module) -> float:
        """Of all images of `val`, each counted once: batches are padded for even ranks, and the padding is not valid."""
        model.eval()
        counts = torch.zeros(2, device=self.device)
        for batch in self.val.epoch(0):
            with self.autocast():
                chosen = model(self.placed(batch.image)).argmax(1)
            valid = self.placed(batch.valid)
            counts += torch.stack([((chosen == self.placed(batch.label)) & valid).sum(), valid.sum()])
        distributed.all_reduce(counts)
        return (counts[0] / counts[1]).item()

    def run(self) -> None:
        for number in range(self.resume(), self.options.epochs):
            self.epoch(number)
            if self.steps == self.options.steps:
                break
            self.keep()
            accuracies = self.accuracy(self.module), self.accuracy(self.average.module)
            if self.rank == 0:
                print("epoch {}: {:.2%} right, {:.2%} by the average of the weights. {}.".format(
                    number, *accuracies, self.train.report(epoch=number).verdict), flush=True)


def main() -> None:
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    Training(arguments()).run()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
