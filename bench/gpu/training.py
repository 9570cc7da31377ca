#!/usr/bin/env python3
"""The experiment that Stoker began with: how fast networks train by how many threads the loader has, at which transfer
index, and in what batches, beside how fast they train on batches that already are on the GPU; and what the tuner, which
begins with nothing, makes of it.

AlexNet, GoogLeNet, ResNet-50 and ViT-B/16 of torchvision, in bf16 autocast and channels_last, with real pixels. Takes a GPU,
PyTorch and torchvision; the whole grid takes about an hour, `--quick` under 8 minutes.
"""

import argparse
import importlib
import itertools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from heat_map import draw  # noqa: E402
from table import Figure, report  # noqa: E402

NETWORKS = ("alexnet", "googlenet", "resnet50", "vit_b_16")
INDICES = range(4)
GRID = {"threads": (1, 2, 3, 4, 5, 8), "prefetch": (1, 2, 4), "batches": (64, 128, 256, 512, 1024), "seconds": 1.0,
        "tuner_seconds": 40.0}
QUICK = {"threads": (1, 2, 4), "prefetch": (2,), "batches": (256,), "seconds": 0.6, "tuner_seconds": 12.0}
WARM_STEPS, STEPS_MIN, CLASSES = 4, 4, 1000
TUNED_PASSES = 3  # of the grid's best and of the tuner, in turn
SAMPLES_PER_EPOCH = 1_000_000


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Training:
    """A network and its optimizer on the GPU."""

    def __init__(self, torch, name, device):
        import torchvision

        self.torch = torch
        options = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
        network = getattr(torchvision.models, name)(weights=None, num_classes=CLASSES, **options)
        self.network = network.to(device, memory_format=torch.channels_last).train()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-3, momentum=0.9)
        self.loss = torch.nn.CrossEntropyLoss()

    def step(self, image, label):
        with self.torch.autocast("cuda", self.torch.bfloat16):
            loss = self.loss(self.network(image), label)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss


def timed(torch, seconds, batch, next_batch, training):
    """Images per second of steps on what `next_batch` gives."""
    for _ in range(WARM_STEPS):
        training.step(*next_batch())
    torch.cuda.synchronize()
    began, steps, pending = time.perf_counter(), 0, []
    while steps < STEPS_MIN or time.perf_counter() - began < seconds:
        training.step(*next_batch())
        steps += 1
        # Python runs ahead of the GPU; a few steps are enough, or the time would be up before they are done.
        pending.append(torch.cuda.Event())
        pending[-1].record()
        if len(pending) > 2:
            pending.pop(0).synchronize()
    torch.cuda.synchronize()
    return steps * batch / (time.perf_counter() - began)


class Experiment:
    def __init__(self, torch, data, device, seconds):
        import stoker
        import stoker.torch

        self.torch, self.stoker, self.data, self.device, self.seconds = torch, stoker, stoker.open(data), device, seconds
        # Its memory is channels_last, as the networks want it.
        self.recipe = (stoker.recipe().decode().random_resized_crop(224).random_flip().normalize("imagenet")
                       .cast("bf16").layout("nhwc").view("label", "label"))
        self.repeats = max(1, SAMPLES_PER_EPOCH // len(self.data))

    def loader(self, batch, **knobs):
        return self.stoker.torch.Loader(self.data, self.recipe, batch=batch, seed=1, device=self.device, cache="ram",
                                        repeats=self.repeats, **knobs)

    def batches(self, loader):
        for epoch in itertools.count():
            for image, label in loader.epoch(epoch):
                yield image.permute(0, 3, 1, 2), label.clamp(0, CLASSES - 1)

    def ceiling(self, training, batch):
        with self.loader(batch, transfer_index=INDICES[-1], threads=4, prefetch=2, tune="off") as loader:
            image, label = next(self.batches(loader))
            image, label = image.clone(memory_format=self.torch.preserve_format), label.clone()
        return timed(self.torch, self.seconds, batch, lambda: (image, label), training)

    def rate(self, training, batch, knobs):
        with self.loader(batch, tune="off", **knobs) as loader:
            batches = self.batches(loader)
            return timed(self.torch, self.seconds, batch, lambda: next(batches), training)

    def tuned(self, training, batch, seconds, best):
        """Trains so long with a tuner that begins with nothing; then its rate, still on, against the grid's best, which is
        measured again before and after."""
        with tempfile.TemporaryDirectory(prefix="training-") as cache:
            os.environ["STOKER_CACHE_DIR"] = cache  # in which the tuner would find what it kept
            best_rates = [self.rate(training, batch, best)]
            with self.loader(batch, tune="on") as loader:
                batches = self.batches(loader)
                timed(self.torch, seconds, batch, lambda: next(batches), training)
                cpu, began = cpu_seconds(), time.perf_counter()
                rates = [timed(self.torch, self.seconds, batch, lambda: next(batches), training) for _ in range(TUNED_PASSES)]
                cores = (cpu_seconds() - cpu) / (time.perf_counter() - began)
                moves = loader.tuning()
                knobs = {"threads": loader.threads, "index": loader.transfer_index, "prefetch": loader.prefetch}
            best_rates.append(self.rate(training, batch, best))
        return knobs | {"images_per_s": statistics.median(rates), "cores": cores, "moves": moves,
                        "of_best": statistics.median(rates) / statistics.mean(best_rates)}

    def unless_memory_runs_out(self, function, *arguments):
        """None, and says so, if the GPU has too little memory for this."""
        try:
            return function(*arguments)
        except self.torch.cuda.OutOfMemoryError as error:
            said = str(error)
        except self.stoker.Error as error:
            if error.kind != "memory":
                raise
            said = str(error)
        self.torch.cuda.empty_cache()
        print(f"unmeasured {arguments[1:]}: {said.splitlines()[0]}", file=sys.stderr)
        return None


def measure(experiment, grid, networks, keep):
    """By network and batch: the ceiling, and the rate by threads and index. Calls `keep` with what there is after each."""
    results = []
    for name, batch in itertools.product(networks, grid["batches"]):
        training = Training(experiment.torch, name, experiment.device)
        result = {"network": name, "batch": batch, "rates": []}
        ceilings = [experiment.unless_memory_runs_out(experiment.ceiling, training, batch)]
        points = list(itertools.product(grid["threads"], INDICES, grid["prefetch"])) if ceilings[0] else []
        for threads, index, prefetch in points:
            knobs = {"threads": threads, "transfer_index": index, "prefetch": prefetch}
            rate = experiment.unless_memory_runs_out(experiment.rate, training, batch, knobs)
            result["rates"].append({"threads": threads, "index": index, "prefetch": prefetch, "images_per_s": rate})
        measured = [rate for rate in result["rates"] if rate["images_per_s"]]
        if measured:
            best = max(measured, key=lambda rate: rate["images_per_s"])
            knobs = {"threads": best["threads"], "transfer_index": best["index"], "prefetch": best["prefetch"]}
            result["tuner"] = experiment.unless_memory_runs_out(experiment.tuned, training, batch, grid["tuner_seconds"], knobs)
        if ceilings[0]:  # the GPU's clock may have changed meanwhile
            ceilings.append(experiment.ceiling(training, batch))
        result["ceiling"] = statistics.mean(ceilings) if ceilings[0] else None
        results.append(result)
        keep(results)
        print(f"{name}, batches of {batch}: ceiling {result['ceiling'] or 0:.0f} images/s", file=sys.stderr, flush=True)
        del training
        experiment.torch.cuda.empty_cache()
    return results


def figures_of(results):
    figures = []
    for result in results:
        if not result["ceiling"]:
            continue
        label = f"{result['network']}, {result['batch']}"
        figures.append(Figure(f"{label}: ceiling", result["ceiling"], "img/s"))
        measured = [rate for rate in result["rates"] if rate["images_per_s"]]
        for rate in sorted(measured, key=lambda rate: -rate["images_per_s"])[:1]:
            figures.append(Figure(f"  {rate['threads']} thr., index {rate['index']}", rate["images_per_s"], "img/s", "ceiling",
                                  rate["images_per_s"] / result["ceiling"]))
        if tuner := result.get("tuner"):
            figures.append(Figure(f"  tuner: {tuner['threads']} thr., index {tuner['index']}", tuner["images_per_s"], "img/s",
                                  "grid's best", tuner["of_best"], 0.97))
    return figures


def arguments():
    parser = argparse.ArgumentParser(prog="training", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer threads and batch sizes")
    parser.add_argument("--device", default="cuda:0", help="cuda:N")
    parser.add_argument("--data", type=pathlib.Path, help="photographs; generated ones where it is left out")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="of " + ", ".join(NETWORKS))
    parser.add_argument("--batches", help="sizes, with commas")
    parser.add_argument("--threads", help="numbers of threads, with commas")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/cuda-bench", help="the command and the module")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--svg", type=pathlib.Path, help="a file for the heat map")
    return parser.parse_args()


def sample_data(build, scratch):
    images, packed = scratch / "images", scratch / "packed"
    subprocess.run([build / "stoker", "synth", images, "--kind", "imagenet", "--format", "folder", "--count", "300",
                    "--classes", "10", "--seed", "1"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([build / "stoker", "pack", images, packed], check=True, stdout=subprocess.DEVNULL)
    return packed


def main():
    options = arguments()
    sys.path.insert(0, str(options.build / "python"))
    try:
        import torch
        importlib.import_module("torchvision")
    except ImportError as error:
        sys.exit(f"training: it takes PyTorch and torchvision: {error}")
    if not options.device.startswith("cuda:") or not torch.cuda.is_available():
        sys.exit("training: it takes a GPU that PyTorch can use")
    torch.cuda.set_device(int(options.device.split(":")[1]))
    torch.backends.cudnn.benchmark = True
    grid = dict(QUICK if options.quick else GRID)
    for name in ("batches", "threads"):
        if getattr(options, name):
            grid[name] = [int(number) for number in getattr(options, name).split(",")]
    with tempfile.TemporaryDirectory(prefix="training-") as scratch:
        data = options.data or sample_data(options.build, pathlib.Path(scratch))
        gpu = torch.cuda.get_device_name()

        def keep(results):
            if options.json:
                options.json.write_text(json.dumps({"gpu": gpu, "torch": torch.__version__, "results": results}, indent=2) + "\n")

        results = measure(Experiment(torch, data, options.device, grid["seconds"]), grid, options.networks.split(","), keep)
    report(figures_of(results))
    if options.svg:
        draw(results, f"Training speed on one {gpu}, of what it is with batches already there", options.svg)


if __name__ == "__main__":
    main()
