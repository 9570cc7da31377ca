#!/usr/bin/env python3
"""What the GPU's kernels take: by transfer index, by batch size, and by the size of images; and how copies to the GPU go
beside kernels. Takes a GPU and PyTorch.

Usage: kernels.py --data PHOTOS [--sizes FOLDER], whose subfolders are data sets of one image size each, named by megapixels.
"""

import argparse
import itertools
import json
import pathlib
import resource
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

BATCHES, SIZES_BATCH = (32, 64, 128, 256, 512, 1024), 64
SAMPLES_PER_EPOCH, WARM_BATCHES, BATCHES_MIN = 1_000_000, 6, 6
DEVICE_STAGES = ("device_decode_ns", "device_geometry_color_ns", "device_color_ns")


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Kernels:
    def __init__(self, torch, device, seconds):
        import stoker

        self.torch, self.stoker, self.device, self.seconds = torch, stoker, device, seconds
        self.recipes = {mode: stoker.recipe().decode(mode).random_resized_crop(224).random_flip().normalize("imagenet")
                        .cast("f16") for mode in ("planar", "faithful")}

    def loader(self, data, index, batch, threads, mode="planar"):
        return self.stoker.Loader(data, self.recipes[mode], batch=batch, seed=1, threads=threads, prefetch=3,
                                  device=self.device, transfer_index=index, cache="ram", tune="off",
                                  repeats=max(1, SAMPLES_PER_EPOCH // len(data)))

    def batches(self, loader):
        for epoch in itertools.count():
            yield from loader.epoch(epoch)

    def measure(self, data, index, batch, threads, mode="planar"):
        with self.loader(data, index, batch, threads, mode) as loader:
            batches = self.batches(loader)
            for _ in range(max(WARM_BATCHES, len(data) // batch)):
                kept = self.torch.from_dlpack(next(batches).image)
            self.torch.cuda.synchronize()
            before, cpu, began, count = loader.metrics(), cpu_seconds(), time.perf_counter(), 0
            while count < BATCHES_MIN or time.perf_counter() - began < self.seconds:
                kept = self.torch.from_dlpack(next(batches).image)
                count += 1
            self.torch.cuda.synchronize()
            elapsed, cpu, after = time.perf_counter() - began, cpu_seconds() - cpu, loader.metrics()
            del kept
        gained = {name: after[name] - before[name] for name in after if isinstance(after[name], int)}
        samples = gained["batches"] * batch
        line = {"mode": mode, "index": index, "batch": batch, "threads": threads, "images_per_s": count * batch / elapsed,
                "cores": cpu / elapsed, "bytes_per_image": gained["bytes_to_device"] / samples,
                "link_bytes_per_s": gained["bytes_to_device"] / gained["batches"] * count / elapsed}
        line |= {name.replace("_ns", "_us_per_image"): 1e-3 * gained[name] / samples for name in DEVICE_STAGES}
        line["device_busy"] = gained["device_ns"] / gained["batches"] * count / elapsed * 1e-9
        print(json.dumps(line), flush=True)
        return line

    def overlap(self, data, index, batch, threads):
        """How the copies of some batches lie beside kernels, by CUPTI's account of both."""
        with self.loader(data, index, batch, threads) as loader:
            batches = self.batches(loader)
            for _ in range(WARM_BATCHES):
                next(batches)
            with self.torch.profiler.profile(activities=[self.torch.profiler.ProfilerActivity.CUDA]) as profile:
                for _ in range(20):
                    kept = self.torch.from_dlpack(next(batches).image)
                self.torch.cuda.synchronize()
            del kept
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            profile.export_chrome_trace(file.name)
            events = json.loads(pathlib.Path(file.name).read_text())["traceEvents"]
        copies = [event for event in events if event.get("cat") == "gpu_memcpy" and "HtoD" in event["name"]]
        kernels = [event for event in events if event.get("cat") == "kernel"]
        by_name = {}
        for event in kernels:
            by_name.setdefault(event["name"][:110], []).append((event["dur"], event.get("args", {})))
        line = {"overlap": index, "batch": batch, "copies": len(copies), "copy_us": union(spans(copies)),
                "copy_bytes": sum(event["args"].get("bytes", 0) for event in copies), "kernel_us": union(spans(kernels)),
                "either_us": union(spans(copies) + spans(kernels)), "all_us": extent(spans(copies) + spans(kernels)),
                "kernels": {name: {"count": len(all_), "us": sum(us for us, _ in all_),
                                   **{key: all_[-1][1].get(key) for key in ("grid", "block", "registers per thread",
                                                                            "shared memory", "est. achieved occupancy %")}}
                            for name, all_ in by_name.items()}}
        print(json.dumps(line), flush=True)
        return line


def spans(events):
    return [(event["ts"], event["ts"] + event["dur"]) for event in events]


def union(intervals):
    total, end = 0.0, float("-inf")
    for begin, until in sorted(intervals):
        total += max(0.0, until - max(begin, end))
        end = max(end, until)
    return total


def extent(intervals):
    return max((until for _, until in intervals), default=0) - min((begin for begin, _ in intervals), default=0)


def arguments():
    parser = argparse.ArgumentParser(prog="kernels", description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda:0", help="cuda:N")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="photographs")
    parser.add_argument("--sizes", type=pathlib.Path, help="a folder of data sets, named by their images' megapixels")
    parser.add_argument("--seconds", type=float, default=0.6, help="of each measurement")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/cuda-bench", help="the command and the module")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")
    return parser.parse_args()


def main():
    options = arguments()
    sys.path.insert(0, str(options.build / "python"))
    import torch
    import stoker

    torch.cuda.set_device(int(options.device.split(":")[1]))
    bench, data, lines = Kernels(torch, options.device, options.seconds), stoker.open(options.data), []
    lines += [bench.measure(data, 0, batch, options.threads) for batch in BATCHES]
    lines += [bench.measure(data, 0, 256, threads) for threads in (1, 2, 4, 16)]
    lines += [bench.measure(data, index, 256, options.threads, mode) for index, mode in
              ((1, "planar"), (2, "planar"), (3, "planar"), (1, "faithful"), (2, "faithful"))]
    lines += [bench.overlap(data, index, 256, options.threads) for index in (0, 1, 2)]
    for folder in sorted(options.sizes.iterdir() if options.sizes else (), key=lambda folder: float(folder.name)):
        lines.append(bench.measure(stoker.open(folder), 0, SIZES_BATCH, options.threads) | {"megapixels": folder.name})
    if options.json:
        options.json.write_text(json.dumps({"gpu": torch.cuda.get_device_name(), "lines": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
