"""The workloads of MLPerf Storage, by `stoker run` and by DLIO, on the same files: how busy each keeps the emulated
accelerators, by MLPerf's formula (AU), and how many samples it delivers per second.

The data are a small part of the official ones, and in the page cache: this compares what the two need of the processor,
and no storage. Both have the same cores, the same batch, and the step's nominal time. DLIO reads with as many threads as
its workload file says; Stoker finds out how many by itself.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import environments
from process import chosen, warm
from table import Figure, report

ROUNDS = 3
PATIENCE_S = 900


@dataclasses.dataclass
class Workload:
    """A profile, with as many samples and as large a batch as are tried."""
    profile: str
    samples: int
    batch: int
    step_s: float              # of the batch
    config: str | None = None  # of DLIO; None: it has no reader for the format
    more: dict = dataclasses.field(default_factory=dict)  # what its config says otherwise


# Batches are the official ones, except UNet3D's, whose samples are large.
WORKLOADS = {
    "resnet50": Workload("mlperf:resnet50/h100", 6400, 400, 0.224, "resnet50_h100"),
    "unet3d": Workload("mlperf:unet3d/h100", 20, 2, 0.323 * 2 / 7, "unet3d_h100"),
    "cosmoflow": Workload("mlperf:cosmoflow/h100", 400, 1, 0.0035, "cosmoflow_h100"),
    "retinanet": Workload("mlperf:retinanet/b200", 960, 24, 0.04755, "unet3d_h100",
                          {"dataset.format": "jpeg", "dataset.record_length": 322957, "dataset.record_length_stdev": 0}),
    "flux": Workload("mlperf:flux/b200", 384, 48, 1.35),
    "dlrm": Workload("mlperf:dlrm/b200", 16384 * 40, 16384, 0.000375),
}


class Failed(Exception):
    """A contestant does not run, and why."""


@dataclasses.dataclass
class Data:
    folder: pathlib.Path
    files: int
    samples: int
    bytes: int

    def argument(self, form):
        return self.folder / "train" / "*.npz" if form == "npz" else self.folder / "train"


class Bench:
    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        self.cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))

    def run(self, *command):
        """Throws Failed with the last that it said."""
        env = os.environ | {"STOKER_CACHE_DIR": str(self.folder / "cache"), "TF_CPP_MIN_LOG_LEVEL": "2",
                            "CUDA_VISIBLE_DEVICES": "", "DFTRACER_ENABLE": "0"}
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(["taskset", "-c", self.cores, *map(str, command)], stdout=subprocess.PIPE, stderr=said,
                                  text=True, env=env, timeout=PATIENCE_S, cwd=self.folder)
            said.seek(0)
            if done.returncode:
                lines = [line for line in said.read().splitlines() if line.strip()] or ["nothing"]
                raise Failed(f"{lines[-1].strip()} (status {done.returncode})")
        return done.stdout

    def make(self, name):
        workload, out = WORKLOADS[name], self.folder / name
        made = json.loads(self.run(self.build / "stoker", "synth", out, "--like", name, "--count", workload.samples, "--seed", 1,
                                   "--json"))
        (out / "valid").mkdir()  # DLIO looks for it
        print(f"{name}: {made['samples']} of {made['official_samples']} samples ({100 * made['share']:.3g}%), "
              f"{made['bytes'] / 1e6:.0f} MB in {made['files']} files", file=sys.stderr)
        return made["format"], Data(out, made["files"], made["samples"], made["bytes"])

    def stoker(self, name, form, data):
        workload, summary = WORKLOADS[name], self.folder / "summary.json"
        ran = json.loads(self.run(self.build / "stoker", "run", data.argument(form), "--accelerator", workload.profile, "--batch",
                                  workload.batch, "--summary", summary, "--json"))
        if ran["samples"] != data.samples or ran["bad_samples"] or ran["bytes_read"] < 0.99 * data.bytes:
            raise Failed(f"it read {ran['samples']} samples and {ran['bytes_read']} bytes, {ran['bad_samples']} of them bad")
        return json.loads(summary.read_text())["metric"]

    def dlio(self, name, _form, data):
        workload, out = WORKLOADS[name], self.folder / "dlio"
        if workload.config is None:
            raise Failed("DLIO 2.0.0 reads no Parquet")
        try:
            python = environments.make("dlio", self.build.parent / "peers")
        except environments.Unavailable as reason:
            raise Failed(str(reason)) from None
        settings = {"workflow.generate_data": False, "workflow.checkpoint": False, "dataset.data_folder": data.folder,
                    "dataset.num_files_train": data.files, "dataset.num_files_eval": 0,
                    "dataset.num_samples_per_file": data.samples // data.files, "train.epochs": 1,
                    "train.computation_time": workload.step_s, "reader.batch_size": workload.batch} | workload.more
        shutil.rmtree(out, ignore_errors=True)
        self.run(python.with_name("dlio_benchmark"), f"workload={workload.config}", f"hydra.run.dir={out}",
                 *(f"++workload.{key}={value}" for key, value in settings.items()))
        steps = len(json.loads((out / "0_output.json").read_text())["1"]["load"]["block1"])
        if steps != data.samples // workload.batch:
            raise Failed(f"it made {steps} steps, not {data.samples // workload.batch}")
        return json.loads((out / "summary.json").read_text())["metric"]


AU, RATE = "train_au_mean_percentage", "train_throughput_mean_samples_per_second"


def measure(bench, name):
    """Figures of one workload; in rounds, so that a noisy machine disturbs both alike."""
    form, data = bench.make(name)
    answers = {"stoker": [], "dlio": []}
    for _ in range(ROUNDS):
        for contestant in list(answers):
            warm(data.folder)
            try:
                answers[contestant].append(getattr(bench, contestant)(name, form, data))
            except (Failed, subprocess.TimeoutExpired) as reason:
                print(f"{name}, {contestant} does not run: {reason}", file=sys.stderr)
                del answers[contestant]
    shutil.rmtree(data.folder)
    figures = []
    for contestant, found in answers.items():
        for key, what, unit in ((AU, "AU", "%"), (RATE, "rate", "img/s")):
            compared = contestant == "stoker" and "dlio" in answers
            ratio = statistics.median(ours[key] / theirs[key] for ours, theirs in zip(found, answers["dlio"])) if compared else None
            figures.append(Figure(f"{name} {what} {contestant}", statistics.median(answer[key] for answer in found), unit,
                                  against="dlio" if compared else None, ratio=ratio))
    return figures


def run(build, options):
    names = chosen(options, WORKLOADS)
    with tempfile.TemporaryDirectory(dir=options.data or build) as folder:
        bench = Bench(build, folder)
        figures = [figure for name in names for figure in measure(bench, name)]
    report(figures, options.json)
