"""The benchmark of the device: batches at each transfer index, batch size and number of threads, beside what the GPU's
memory and link do at best, and beside nvJPEG's batched decoder.

First audits: every index has to make the CPU's bytes. Then rounds that interleave all contestants, as many as there is time
for; figures are medians, ratios medians of ratios within rounds. The images are in memory, encoded.
"""

import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from table import Figure, report

DEVICE_DEFAULT, SECONDS_DEFAULT = "cuda:0", 240
INDICES, BATCHES, THREADS = range(4), (64, 256), (1, 4, 16)
BATCHES_EMULATED = (8, 16)  # where figures mean nothing, they should come soon
ROUNDS_MAX, WARM_BATCHES, GAP_BATCHES = 5, 4, 30
SECONDS_PER_PASS_MAX, SAMPLES_PER_EPOCH = 1.0, 100_000
SIDE = 224
OUT_BYTES, RESIZED_BYTES = 2 * 3 * SIDE * SIDE, 3 * SIDE * SIDE  # of a sample: float16, and 8 bits
RECIPE = f"""[[view]]
name = "image"
operators = [
  {{ op = "decode" }},
  {{ op = "random_resized_crop", size = {SIDE} }},
  {{ op = "random_flip" }},
  {{ op = "normalize", preset = "imagenet" }},
  {{ op = "cast", dtype = "f16" }},
]
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


class Consumer:
    """Takes batches as a training would that does nothing with them."""

    def __init__(self, device):
        self.torch = None
        if device.startswith("cuda"):
            try:
                import torch
            except ImportError:
                torch = None
            if torch and torch.cuda.is_available():
                torch.cuda.set_device(int(device.split(":")[1]))
                self.torch = torch
            else:
                say("no PyTorch that can use GPUs: batches are released untouched, and gaps are unmeasured")
        self.can_wait = self.torch is not None or not device.startswith("cuda")

    def take(self, batch):
        """Returns what has to be kept until finish()."""
        return self.torch.from_dlpack(batch.image) if self.torch else batch

    def finish(self):
        if self.torch:
            self.torch.cuda.current_stream().synchronize()


def endless(loader):
    for epoch in itertools.count():
        yield from loader.epoch(epoch)


class Contestant:
    """One transfer index with so many threads and so large batches."""

    def __init__(self, bench, index, batch, threads):
        self.bench, self.index, self.batch, self.threads = bench, index, batch, threads
        self.rates, self.kernel_s, self.bytes_per_batch = [], [], []

    def loader(self):
        import stoker

        bench = self.bench
        return stoker.Loader(bench.data, bench.recipe, batch=self.batch, seed=1, threads=self.threads, prefetch=3,
                             device=bench.device, transfer_index=self.index, cache="ram", repeats=bench.repeats,
                             tune="off")

    def measure(self, seconds):
        """A pass: as many batches as the time allows after some that warm everything up."""
        consumer = self.bench.consumer
        with self.loader() as loader:
            batches = endless(loader)
            for _ in range(WARM_BATCHES):
                kept = consumer.take(next(batches))
            consumer.finish()
            before, began, count = loader.metrics(), time.perf_counter(), 0
            while count < 3 or time.perf_counter() - began < seconds:
                kept = consumer.take(next(batches))
                count += 1
            consumer.finish()
            elapsed, after = time.perf_counter() - began, loader.metrics()
            del kept
        self.rates.append(count * self.batch / elapsed)
        # What the loader counted may be a batch before or after what was taken.
        counted = after["batches"] - before["batches"]
        self.kernel_s.append(1e-9 * (after["device_ns"] - before["device_ns"]) / counted)
        self.bytes_per_batch.append((after["bytes_to_device"] - before["bytes_to_device"]) / counted)

    def gap(self, seconds):
        """Seconds until a batch that was asked for is there, for a consumer that is twice as slow as the loader; None if
        nothing tells when it is. Takes about so long."""
        consumer = self.bench.consumer
        if not consumer.can_wait:
            return None
        period, gaps = 2 * self.batch / statistics.median(self.rates), []
        with self.loader() as loader:
            batches = endless(loader)
            next(batches)
            for _ in range(max(3, min(GAP_BATCHES, int(seconds / period)))):
                time.sleep(period)  # the consumer's step
                asked = time.perf_counter()
                kept = consumer.take(next(batches))
                consumer.finish()
                gaps.append(time.perf_counter() - asked)
            del kept
        return statistics.median(gaps)

    @property
    def rate(self):
        return statistics.median(self.rates)


class Bench:
    def __init__(self, build, device, data, scratch):
        self.consumer = Consumer(device)  # PyTorch first: docs/measurements/gpu.md
        import stoker

        self.build, self.device, self.scratch = pathlib.Path(build), device, pathlib.Path(scratch)
        self.recipe = self.scratch / "recipe.toml"
        self.recipe.write_text(RECIPE)
        self.data = pathlib.Path(data) if data else self.synthetic()
        self.dataset = stoker.open(self.data)
        self.repeats = max(1, SAMPLES_PER_EPOCH // len(self.dataset))

    @property
    def ordinal(self):
        return self.device.split(":")[1]

    def synthetic(self):
        images, packed = self.scratch / "images", self.scratch / "packed"
        subprocess.run([self.build / "stoker", "synth", images, "--kind", "imagenet", "--format", "folder", "--count", "300",
                        "--classes", "10", "--seed", "1"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([self.build / "stoker", "pack", images, packed], check=True, stdout=subprocess.DEVNULL)
        return packed

    def check(self):
        """Ends everything unless each index makes what the CPU does."""
        def audit(*options):
            path = self.scratch / "audit"
            subprocess.run([self.build / "stoker", "run", self.data, "--recipe", self.recipe, "--batch", "32", "--seed", "1",
                            "--audit", path, *options], check=True, stdout=subprocess.DEVNULL)
            return path.read_bytes()

        want = audit()
        if not want:
            sys.exit("bench: the data set has less than one batch of 32")
        for index in INDICES:
            if audit("--device", self.device, "--transfer-index", str(index)) != want:
                sys.exit(f"bench: at transfer index {index} {self.device} does not make what the CPU makes")
        lines = want.count(b"\n")
        say(f"{lines} samples equal the CPU's at each transfer index")

    def machine(self):
        """What the GPU does at best; nothing of a device that is none."""
        if not self.device.startswith("cuda"):
            return None
        figures = json.loads(subprocess.run([self.build / "gpu_bandwidth", self.ordinal], check=True, stdout=subprocess.PIPE,
                                            text=True).stdout)
        say(f"{figures['gpu']}, {len(os.sched_getaffinity(0))} cores")
        return figures

    def nvjpeg(self):
        """nvJPEG's best batched rate on the same images, and how it came about; None where it is not."""
        if not self.device.startswith("cuda"):
            return None
        folder = self.scratch / "jpegs"
        folder.mkdir()
        for number in range(min(len(self.dataset), 512)):
            image = next((value for key, value in self.dataset[number].items() if key in ("jpg", "jpeg")), None)
            if image is not None:
                (folder / f"{number:06}.jpg").write_bytes(bytes(image))
        done = subprocess.run([self.build / "gpu_nvjpeg", folder, self.ordinal], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"LD_LIBRARY_PATH": folders_of_nvjpeg()})
        answer = json.loads(done.stdout) if done.returncode == 0 else {"library": True, "images": 0, "rates": []}
        if answer["rates"]:
            return max(answer["rates"], key=lambda rate: rate["images_per_s"])
        say("nvJPEG: unmeasured: " + ("it decodes none of these images" if answer["library"] else "there is no libnvjpeg.so"))
        return None


def folders_of_nvjpeg():
    """Where dlopen should look for nvJPEG: in Python's packages, and where toolkits are."""
    packages = [path.parent for place in sys.path for path in pathlib.Path(place).glob("nvidia/*/lib/libnvjpeg.so*")]
    toolkits = [pathlib.Path(home, "lib64") for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home]
    return ":".join(map(str, filter(None, [*packages, *toolkits, os.environ.get("LD_LIBRARY_PATH")])))


def measure(bench, until):
    """The contestants, measured in turn until the time is up, but once at least."""
    cores = len(os.sched_getaffinity(0))
    threads = [count for count in THREADS if count <= max(cores, 1)]
    batches = BATCHES if bench.device.startswith("cuda") else BATCHES_EMULATED
    contestants = [Contestant(bench, *each) for each in itertools.product(INDICES, batches, threads)]
    per_pass = max(0.02, min(SECONDS_PER_PASS_MAX, 0.6 * (until - time.monotonic()) / len(contestants)))
    for number in range(ROUNDS_MAX):
        began = time.monotonic()
        turn = number * 5 % len(contestants)
        for contestant in contestants[turn:] + contestants[:turn]:
            contestant.measure(per_pass)
        took = time.monotonic() - began
        say(f"round {number + 1} of {len(contestants)} passes took {took:.0f} s")
        if time.monotonic() + 1.2 * took > until:
            break
    return contestants


def ratio(ours, theirs):
    return statistics.median(a / b for a, b in zip(ours, theirs))


def figures_of(contestants, machine, nvjpeg, until):
    by = {(c.index, c.batch, c.threads): c for c in contestants}
    figures = []
    for c in contestants:
        on_cpu = by[INDICES[-1], c.batch, c.threads]
        against = ("index 3", ratio(c.rates, on_cpu.rates)) if c.index != on_cpu.index else (None, None)
        figures.append(Figure(f"index {c.index}, {c.batch}, {c.threads} thr.", c.rate, "img/s", *against))
    pairs = sorted({(c.index, c.batch) for c in contestants})
    seconds = (until - time.monotonic()) / len(pairs)
    for index, batch in pairs:
        best = max((c for c in contestants if (c.index, c.batch) == (index, batch)), key=lambda c: c.rate)
        figures += details(best, machine, seconds)
    best = max((c for c in contestants if c.index == 0), key=lambda c: c.rate)
    figures.append(Figure("index 0, best", best.rate, "img/s", "50,000", best.rate / 50_000, goal=1.0))
    if nvjpeg:
        say(f"nvJPEG's best: {nvjpeg['back_end']}, batches of {nvjpeg['batch']}, {nvjpeg['streams']} streams")
        figures += [Figure("nvJPEG, decoding alone", nvjpeg["images_per_s"], "img/s"),
                    Figure("index 0, best", best.rate, "img/s", "nvJPEG", best.rate / nvjpeg["images_per_s"], 5)]
    return figures


def details(c, machine, seconds):
    """Of the fastest number of threads: what a batch takes, and how that stands to what the GPU can do."""
    name, kernel_s, bytes_in = f"index {c.index}, {c.batch}:", statistics.median(c.kernel_s), statistics.median(c.bytes_per_batch)
    figures = [Figure(f"{name} kernels", 1e6 * kernel_s, "us"), Figure(f"{name} to device", bytes_in / 1e6, "MB")]
    if machine:
        per_s = bytes_in * c.rate / c.batch
        figures.append(Figure(f"{name} link", per_s / 1e9, "GB/s", "pinned copy", per_s / machine["copy_to_gpu_bytes_per_s"]))
        if c.index in (1, 2) and kernel_s > 0:
            # What geometry and color cannot do without: what came is read, resized pixels written and read, results written.
            between = 2 * RESIZED_BYTES if c.index == 1 else 0
            moved = (bytes_in + c.batch * (between + OUT_BYTES)) / kernel_s
            figures.append(Figure(f"{name} memory", moved / 1e9, "GB/s", "copy kernel", moved / machine["memory_bytes_per_s"],
                                  0.6))
    gap = c.gap(seconds)
    if gap is not None:
        figures.append(Figure(f"{name} gap", 1e6 * gap, "us", "limit 100", 1e6 * gap / 100, ceiling=1.0))
    return figures


def run(build, options):
    sys.path.insert(0, str(pathlib.Path(build) / "python"))
    device = options.device or DEVICE_DEFAULT
    until = time.monotonic() + (options.seconds or SECONDS_DEFAULT)
    with tempfile.TemporaryDirectory(prefix="device-") as scratch:
        bench = Bench(build, device, options.data, scratch)
        machine = bench.machine()
        bench.check()
        nvjpeg = bench.nvjpeg()
        contestants = measure(bench, until - 0.2 * (until - time.monotonic()))  # what is left is for the gaps
        figures = figures_of(contestants, machine, nvjpeg, until)
    if not device.startswith("cuda"):
        say(f"{device} is not a GPU: nothing of this is a figure of one")
    report(figures, options.json)
