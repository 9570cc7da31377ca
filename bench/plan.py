"""What `plan` says that one core makes, beside what `run` then makes on that core.

Both are the command itself, pinned to one core; rounds interleave them, and every figure is a median of ratios within
rounds: whichever of the two is less against the other, so that promising too much does not make a plan better.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from process import synthetic_images, warm
from table import Figure, report

ROUNDS = 5
SECONDS = 5      # of CPU time that a run takes, so that its start is a small part of it
BATCH = 64
FAITHFUL = """
[[view]]
name = "image"
operators = [{ op = "decode", mode = "faithful" }, { op = "random_resized_crop", size = 224 }, { op = "random_flip" },
             { op = "normalize", preset = "imagenet" }]
[[view]]
name = "label"
"""


def run(build, options):
    command = (options.build or build) / "stoker"
    core = str(min(os.sched_getaffinity(0)))

    def stoker(*arguments):
        done = subprocess.run(["taskset", "-c", core, command, *map(str, arguments), "--json"], check=True,
                              stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        loose = pathlib.Path(options.data or synthetic_images(build))
        stoker("pack", loose, at / "packed")
        stoker("pack", loose, at / "raw", "--raw")
        (at / "faithful.toml").write_text(FAITHFUL)
        cases = {  # data, recipe, and how much of it an index's entry points decode
            "packed": (at / "packed", "imagenet-train", 1),
            "loose files": (loose, "imagenet-train", 0),
            "packed raw": (at / "raw", "imagenet-train", 0),
            "packed, faithful": (at / "packed", at / "faithful.toml", 1),
            "packed, imagenet-val": (at / "packed", "imagenet-val", 1),
        }
        report([figure(stoker, name, *case) for name, case in cases.items()], options.json)


def figure(stoker, name, data, recipe, indexed):
    usual = (data, "--recipe", recipe, "--batch", BATCH)
    rates, ratios, by_cpu, cpu_ms = [], [], [], []
    for seed in range(ROUNDS):
        warm(data)
        plan = stoker("plan", *usual)
        if (plan["indexed_share"] > 0.9) != (indexed == 1):
            sys.exit(f"bench: of {name} the plan says that {plan['indexed_share']:.2f} is decoded by entry points")
        samples = stoker("info", data)["samples"]
        epochs = max(1, round(SECONDS * plan["samples_per_s"] / samples))
        made = stoker("run", *usual, "--epochs", epochs, "--seed", seed)
        rates.append(plan["samples_per_s"])
        ratio = plan["samples_per_s"] / made["samples_per_s"]
        ratios.append(min(ratio, 1 / ratio))
        by_cpu.append(plan["samples_per_s"] * made["cpu_ms_per_sample"] / 1e3)
        cpu_ms.append(1e3 / plan["samples_per_s"])
    print(f"{name}: the plan is {statistics.median(by_cpu):.3f} times what the run made of its CPU time "
          f"({min(by_cpu):.3f} to {max(by_cpu):.3f})", file=sys.stderr)
    return Figure(name, statistics.median(rates), "img/s", "run", statistics.median(ratios), 0.9, 1,
                  cpu_ms=statistics.median(cpu_ms))
