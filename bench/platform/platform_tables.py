"""Training, inference and preprocessing against cores, disk and memory, for six networks before an emulated GPU, from data in
LMDB and RecordIO that are read in place; AlexNet by transfer index and threads before GPUs of two generations; and what the doctor
says is enough.

A GPU's step is what MLPerf Storage gives for ResNet-50 on it, and for the other networks as much longer or shorter as they have more
or fewer multiplications; inference takes a third of that, since it only goes forward. So the tables say what cores and storage do
before a GPU of known appetite. They do not say how fast a GPU is.
"""

import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import doctor
import environments
import heat_map
import numpy as np
import throttles
from process import chosen, evict, synthetic_images, warm
from table import report_with_rows, table

WRITERS = pathlib.Path(__file__).resolve().parents[1] / "formats" / "writers.py"
COPIES = 20
SECONDS, BATCHES_MIN, TUNED_SECONDS = 4, 12, 20
APPETITE = {"v100": 64 / 0.195, "h100": 400 / 0.224}  # of ResNet-50, images a second
RESNET50 = 4.1           # billions of multiplications for an image, forward
INFERENCE = 1 / 3        # of a training step
MEMORY = (0.25, 0.5)     # of the data
SMALL_BATCH = 32         # where storage is slow
ORDERS = {"training": "global", "inference": "none"}
WORDS, VOCABULARY, SEQUENCE = 1 << 24, 10_000, 32
CROP_OF = 8 / 7          # the shorter side that an inference's crop is taken from


@dataclasses.dataclass
class Network:
    multiplications: float  # billions for a sample, forward
    batch: int
    size: int | None = 224  # of an image; None: sequences of words

    def step_s(self, mode="training", gpu="v100"):
        training = self.batch / APPETITE[gpu] * self.multiplications / RESNET50
        return training if mode == "training" else training * INFERENCE


NETWORKS = {"AlexNet": Network(0.71, 256), "GoogLeNet": Network(1.5, 128), "ResNet-50": Network(RESNET50, 64),
            "VGG-16": Network(15.5, 32), "Inception-v3": Network(5.7, 64, 299), "LSTM": Network(0.115, 128, None)}
DISKS = {"hard disk, 150 reads/s": {"reads_per_s": 150}, "network disk, 100 MB/s": {"bytes_per_s": 100_000_000},
         "network SSD, 250 MB/s": {"bytes_per_s": 250_000_000}, "no limit": None}
SLOW_DISK = {"bytes_per_s": 20_000_000}
INDICES, INDEX_BATCHES = range(4), (64, 256, 512)


class Platform(doctor.Bench):
    def __init__(self, build, folder, images, seconds):
        self.seconds = seconds
        super().__init__(build, folder, images)

    def make_data(self, images):
        loose = self.path("loose")
        for copy in range(COPIES):
            shutil.copytree(images, loose / f"{copy:03}")
        self.say(f"packing in {self.folder}")
        self.command("pack", loose, self.path("recordio"), "--format", "recordio", "--shard-size", "64MiB")
        self.command("pack", loose, self.path("raw"), "--raw", "--resize-short", 256, "--shard-size", "64MiB")
        try:
            python = environments.make("lmdb", self.build.parent / "peers")
            subprocess.run([python, WRITERS, "lmdb", loose, self.path("lmdb"), "jpg"], check=True)
            self.command("index", self.path("lmdb"))
        except (environments.Unavailable, subprocess.CalledProcessError) as reason:
            self.absent["lmdb"] = str(reason)
        sys.path.insert(0, str(self.build / "python"))
        from stoker import tokens

        self.path("words").mkdir()
        tokens.write(self.path("words") / "words", [np.random.default_rng(1).integers(0, VOCABULARY, WORDS, np.uint16)], vocab=VOCABULARY)

    def shards_of(self, network):
        return [data for data in (("recordio", "lmdb") if network.size else ("words",)) if data not in self.absent]

    def source(self, data):
        """Arguments that say where the samples are."""
        if data == "words":
            return [self.path("words") / "words.bin", "--tokens", SEQUENCE]
        return [self.path(data), *(("--labels", "folders") if data == "lmdb" else ())]

    def recipe_of(self, network, mode):
        """A recipe file of the network's size."""
        file = self.folder / f"{mode}-{network.size}.toml"
        if network.size is None:
            file.write_text("".join(
                f'[[view]]\nname = "{part}"\nfield = "tokens.u16"\n'
                f'operators = [{{ op = "decode_tokens", length = {SEQUENCE}, part = "{part}" }}]\n' for part in ("inputs", "targets")))
            return file
        crop = (f'{{ op = "random_resized_crop", size = {network.size} }}, {{ op = "random_flip" }}' if mode == "training" else
                f'{{ op = "resize", size = {round(network.size * CROP_OF)} }}, {{ op = "center_crop", size = {network.size} }}')
        file.write_text(f'[[view]]\nname = "image"\noperators = [{{ op = "decode" }}, {crop}, {{ op = "normalize", preset = "imagenet" }}]\n'
                        '[[view]]\nname = "label"\n')
        return file

    def answer(self, throttle, *arguments):
        status, answer, said = throttles.run(throttle, [self.stoker, *arguments, "--json"], doctor.PATIENCE_S)
        if answer is None:
            raise doctor.Failed(doctor.last_words(status, said))
        return answer

    def fed(self, throttle, data, network, mode, *options, order=None, epochs=None):
        """Samples a second, and how busy the GPU is: of the last of so many epochs, or of some seconds."""
        step = network.step_s(mode)
        span = (("--epochs", epochs) if epochs else
                ("--epochs", 1_000_000, "--batches", max(BATCHES_MIN, min(round(self.seconds / step), 4000))))
        answer = self.answer(throttle, "run", *self.source(data), "--recipe", self.recipe_of(network, mode), "--batch", network.batch,
                             "--accelerator", step, "--tune", "off", "--order", order or ORDERS[mode], *span, *options)
        if not epochs:
            return doctor.steady(answer, network.batch), answer["utilisation"]
        busy = 1 - answer["epoch_reports"][-1]["gpu_idle"]
        return busy * network.batch / step, busy

    def enough(self, data, network):
        """What the doctor says, of data that are more than memory."""
        return self.answer(throttles.Throttle(), "doctor", *self.source(data), "--recipe", self.recipe_of(network, "training"), "--batch",
                           network.batch, "--step", network.step_s(), "--direct", "--quick")


def cells_of(found):
    """Of what Platform.fed() gave, if it did."""
    return [f"{found[0]:,.0f}", f"{100 * found[1]:.0f}%"] if found else ["", ""]


def head_of(names):
    return [cell for name in names for cell in (f"{name}, samples/s", "GPU busy")]


def numbers_of_cores():
    return range(1, len(throttles.os.sched_getaffinity(0)) + 1)


def by_cores(bench):
    """All data are in the page cache."""
    rows = []
    # Once unseen: memory that was long unused comes slowly from a virtual machine's host.
    doctor.attempt(bench, "the first run", lambda: bench.fed(throttles.Throttle(), "recordio", NETWORKS["AlexNet"], "training"))
    for name, network in NETWORKS.items():
        for data in bench.shards_of(network):
            warm(bench.path(data))
            for mode in ("training", "inference"):
                cells = []
                for cores in numbers_of_cores():
                    cells += cells_of(doctor.attempt(bench, f"{name}, {data}, {mode}, {cores} cores",
                                                     lambda: bench.fed(throttles.Cores(cores), data, network, mode)))
                rows.append((name, data, mode, f"{network.batch / network.step_s(mode):,.0f}", *cells))
                bench.say(f"{name}, {data}, {mode}: {cells}")
    table("By cores, data in memory", ["network", "data", "mode", "the GPU takes", *head_of(f"{cores} core(s)" for cores in numbers_of_cores())],
          rows)
    bench.rows["cores"] = rows


def by_disk(bench):
    """Read past the page cache, so that every sample comes from the disk."""
    rows = []
    for name in ("AlexNet", "ResNet-50", "VGG-16"):
        network = dataclasses.replace(NETWORKS[name], batch=SMALL_BATCH)
        for data in bench.shards_of(network):
            # Of what is read ahead in the order of the shards, a run of seconds would lose too much when it ends.
            for mode, order, epochs in (("training", "global", None), ("training", "windowed", 2), ("inference", "none", 1)):
                if epochs and name != "AlexNet":
                    continue
                cells = []
                for disk, limits in DISKS.items():
                    def measure(limits=limits):
                        with throttles.disk(bench.path(data), **limits) if limits else throttles.Throttle() as throttle:
                            return bench.fed(throttle, data, network, mode, "--direct", order=order, epochs=epochs)
                    cells += cells_of(doctor.attempt(bench, f"{name}, {data}, {mode}, {order}, {disk}", measure))
                rows.append((name, data, mode, order, *cells))
                bench.say(f"{name}, {data}, {mode}, {order}: {cells}")
    table("By disk", ["network", "data", "mode", "order", *head_of(DISKS)], rows)
    bench.rows["disk"] = rows


def by_memory(bench):
    """A second epoch from a slow disk, where the system or the loader keeps what it has memory for."""
    rows, data = [], "recordio"
    size = sum(file.stat().st_size for file in bench.path(data).rglob("*") if file.is_file())
    for name in ("AlexNet", "ResNet-50"):
        network = dataclasses.replace(NETWORKS[name], batch=SMALL_BATCH)
        for share in MEMORY:
            limit, cells = int(share * size), []
            for options in ((), ("--cache", "ram", "--cache-memory", limit // 2)):
                def measure(options=options):
                    evict(bench.path(data))
                    with throttles.memory(limit, bench.path(data), **SLOW_DISK) as throttle:
                        return bench.fed(throttle, data, network, "training", "--memory", limit * 3 // 4, *options, epochs=2)
                cells += cells_of(doctor.attempt(bench, f"{name}, memory for {share:.0%}, {' '.join(map(str, options))}", measure))
            rows.append((name, f"{share:.0%} of the data", *cells))
            bench.say(f"{name}, {share:.0%}: {cells}")
    table("By memory, second epoch from a disk of 20 MB/s",
          ["network", "memory", *head_of(["left to the page cache", "half of it the loader's cache"])], rows)
    bench.rows["memory"] = rows


def by_preprocessing(bench):
    """Shards are made of loose photographs, whose shorter side becomes 256."""
    loose, out, rows = bench.path("loose"), bench.folder / "made", []
    samples = sum(1 for file in loose.rglob("*") if file.is_file())
    conditions = [(f"{cores} core(s), files in memory", warm, throttles.Cores(cores)) for cores in numbers_of_cores()]
    conditions += [(disk, evict, throttles.disk(loose, **limits) if limits else throttles.Throttle())
                   for disk, limits in (*DISKS.items(), ("20 MB/s", SLOW_DISK))]
    for name, prepare, throttle in conditions:
        def measure(prepare=prepare, throttle=throttle):
            prepare(loose)
            with throttle:
                began = time.monotonic()
                status, _, said = throttles.run(throttle, [bench.stoker, "pack", loose, out, "--resize-short", 256], doctor.PATIENCE_S)
                seconds = time.monotonic() - began
            shutil.rmtree(out, ignore_errors=True)
            if status:
                raise doctor.Failed(doctor.last_words(status, said))
            return samples / seconds
        rate = doctor.attempt(bench, f"preprocessing, {name}", measure)
        rows.append((name, f"{rate:,.0f}" if rate else ""))
        bench.say(f"preprocessing, {name}: {rate and round(rate)}")
    table("Preprocessing: `pack --resize-short 256`", ["condition", "samples/s"], rows)
    bench.rows["preprocessing"] = rows


def by_index(bench):
    """AlexNet before GPUs of two generations, from pixels of 256 as they were kept in LMDB then, and from JPEGs."""
    rows, drawn = [], []
    for gpu in APPETITE:
        for data in ("raw", "recordio"):
            warm(bench.path(data))
            for batch in INDEX_BATCHES:
                network = Network(NETWORKS["AlexNet"].multiplications, batch)
                step = network.step_s(gpu=gpu)

                def run(seconds, *options):
                    return bench.answer(throttles.Throttle(), "run", bench.path(data), "--recipe", "alexnet-caffe", "--batch", batch,
                                        "--accelerator", step, "--device", f"emulated:{gpu}", "--memory", "6GiB", "--epochs", 1_000_000,
                                        "--batches", max(BATCHES_MIN, round(seconds / step)), *options)

                rates = {}
                for index in INDICES:
                    for threads in numbers_of_cores():
                        found = doctor.attempt(bench, f"AlexNet, {gpu}, {data}, batches of {batch}, index {index}, {threads} threads",
                                               lambda: run(bench.seconds, "--tune", "off", "--transfer-index", index, "--threads", threads))
                        if found:
                            rates[threads, index] = doctor.steady(found, batch)
                tuned = doctor.attempt(bench, f"AlexNet, {gpu}, {data}, batches of {batch}, tuned",
                                       lambda: run(bench.seconds * TUNED_SECONDS / SECONDS))
                if not rates or not tuned:
                    continue
                # The fewest threads, and of these the highest index, that give all but 2% of the most.
                most = max(rates.values())
                best = min((cell for cell in rates if rates[cell] >= 0.98 * most), key=lambda cell: (cell[0], -cell[1]))
                rows.append((gpu, data, batch, f"{batch / step:,.0f}", f"{best[0]}/{best[1]}", f"{rates[best]:,.0f}",
                             f"{tuned['threads']}/{tuned['transfer_index']}", f"{doctor.steady(tuned, batch):,.0f}"))
                bench.say(f"AlexNet, {gpu}, {data}, batches of {batch}: {rows[-1]}")
                drawn.append({"network": f"{gpu}, {data}", "batch": batch, "ceiling": batch / step,
                              "rates": [{"threads": cell[0], "index": cell[1], "images_per_s": rate} for cell, rate in rates.items()]})
    table("AlexNet by threads/transfer index", ["GPU", "data", "batch", "the GPU takes", "fewest threads that give the most", "samples/s",
                                                "the tuner's", "samples/s, its search included"], rows)
    bench.rows["index"] = rows
    bench.drawn = drawn


def conclusions(bench):
    """What the doctor says is enough, of every network from its first kind of shards, in memory."""
    rows = []
    for name, network in NETWORKS.items():
        data = bench.shards_of(network)[0]
        warm(bench.path(data))
        said = doctor.attempt(bench, f"{name}, what is enough", lambda: bench.enough(data, network))
        if said:
            size = said["right_size"]
            training = size["training"]
            rows.append((name, f"{training['vcpus_per_gpu']:.2g}", f"{training['memory_bytes'] / 2**30:.1f} GiB", training["disk"],
                         f"{size['inference']['vcpus_per_gpu']:.2g}", f"{size['preprocessing']['vcpus_enough']:.2g}", said["verdict"]))
            bench.say(f"{name}: {rows[-1]}")
    table("What the doctor says is enough for one GPU", ["network", "training: vCPUs", "memory", "disk", "inference: vCPUs",
                                                         "preprocessing: vCPUs", "verdict on this machine"], rows)
    bench.rows["conclusions"] = rows


PARTS = {"cores": by_cores, "disk": by_disk, "memory": by_memory, "preprocessing": by_preprocessing, "index": by_index,
         "conclusions": conclusions}


def run(build, options):
    names = chosen(options, PARTS)
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="platform-", dir=parent) as folder:
        bench = Platform(build, pathlib.Path(folder), options.data or synthetic_images(build), options.seconds or SECONDS)
        for name in names:
            PARTS[name](bench)
    if options.svg and "index" in names:
        heat_map.draw(bench.drawn, "AlexNet: share of what the emulated GPU takes", options.svg)
    report_with_rows(bench, options.json)
