"""Trains a network without labels, as DINO does: on two large and eight small views of each image.

    python train.py IMAGENET/train --checkpoint run.pt
"""

import argparse
import copy
import itertools
import os
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import log_softmax, softmax

import stoker
import stoker.torch

STUDENT_WARMTH, TEACHER_WARMTH = 0.1, 0.04
CENTRE_DECAY = 0.9


class Network(nn.Module):
    """A backbone, and a head that chooses among prototypes that have no names."""

    def __init__(self, name: str, prototypes: int) -> None:
        super().__init__()
        if name == "tiny":
            self.backbone = nn.Sequential(
                nn.Conv2d(3, 16, 7, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
            width = 32
        else:
            import torchvision

            self.backbone = getattr(torchvision.models, name)()
            width, self.backbone.fc = self.backbone.fc.in_features, nn.Identity()
        self.head = nn.Sequential(nn.Linear(width, 256), nn.GELU(), nn.Linear(256, prototypes))

    def forward(self, images):
        return self.head(self.backbone(images))


def save(path: Path, **parts) -> None:
    """Whole or not at all: a process that is killed while it writes leaves the checkpoint before."""
    unfinished = path.with_suffix(".unfinished")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def main(words=None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--model", default="resnet50", help="of torchvision.models, a ResNet; or tiny, to try the script")
    parser.add_argument("--prototypes", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--momentum", type=float, default=0.996, help="of the teacher's weights")
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--checkpoint", type=Path, help="go on from this file if it is there, and write it")
    parser.add_argument("--every", type=int, default=1000, help="steps between two checkpoints; an epoch ends with one, too")
    options = parser.parse_args(words)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = stoker.torch.Loader(options.data, "dino", batch=options.batch, seed=1, pin_memory=device == "cuda")
    torch.manual_seed(0)
    student = Network(options.model, options.prototypes).to(device)
    teacher = copy.deepcopy(student).requires_grad_(False)
    centre = torch.zeros(options.prototypes, device=device)
    optimizer = torch.optim.AdamW(student.parameters(), lr=5e-4)
    if options.checkpoint and options.checkpoint.exists():
        saved = torch.load(options.checkpoint)
        for name, part in (("student", student), ("teacher", teacher), ("optimizer", optimizer), ("loader", loader)):
            part.load_state_dict(saved[name])
        centre = saved["centre"].to(device)

    batches = (batch for epoch in range(loader.state_dict()["epoch"], options.epochs) for batch in loader.epoch(epoch))
    for step, batch in enumerate(itertools.islice(batches, options.steps), 1):
        batch = batch.map(lambda tensor: tensor.to(device, non_blocking=True))
        large = [batch.global_0, batch.global_1]
        small = [getattr(batch, f"local_{number}") for number in range(8)]
        with torch.no_grad():
            taught = teacher(torch.cat(large))
            wanted = softmax((taught - centre) / TEACHER_WARMTH, dim=-1).chunk(len(large))
        # Views of one size go through the network together.
        said = [*student(torch.cat(large)).chunk(len(large)), *student(torch.cat(small)).chunk(len(small))]
        losses = [-(teaching * log_softmax(saying / STUDENT_WARMTH, dim=-1)).sum(-1).mean()
                  for view, teaching in enumerate(wanted) for other, saying in enumerate(said) if view != other]
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            centre = CENTRE_DECAY * centre + (1 - CENTRE_DECAY) * taught.mean(0)
            for slow, fast in zip(teacher.parameters(), student.parameters()):
                slow.lerp_(fast, 1 - options.momentum)
        if step % 100 == 1:
            print(f"epoch {batch.epoch}: loss {loss.item():.3f}", flush=True)
        is_last = step == options.steps or loader.state_dict()["batch"] == len(loader)  # of this run or this epoch
        if options.checkpoint and (is_last or step % options.every == 0):
            save(options.checkpoint, student=student.state_dict(), teacher=teacher.state_dict(), centre=centre,
                 optimizer=optimizer.state_dict(), loader=loader.state_dict())
    print(loader.report(), end="")
    loader.close()


if __name__ == "__main__":
    main()
