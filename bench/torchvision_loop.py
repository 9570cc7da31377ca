"""torchvision's side of the loader benchmark: PIL images through the usual transforms, told over stdin when to run."""

import json
import pathlib
import resource
import sys
import time

import torch
from PIL import Image
from torchvision import transforms

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    data, epochs = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    paths = sorted(p for p in pathlib.Path(data).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    transform = transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ])
    batch = torch.empty(64, 3, 224, 224)
    for _ in sys.stdin:
        began, cpu_began, samples = time.perf_counter(), cpu_seconds(), 0
        for _ in range(epochs):
            for path in paths:
                with open(path, "rb") as file:
                    batch[samples % 64] = transform(Image.open(file).convert("RGB"))
                samples += 1
        answer = {"samples": samples, "seconds": time.perf_counter() - began, "cpu_seconds": cpu_seconds() - cpu_began}
        print(json.dumps(answer), flush=True)


main()
