"""One to eight emulated GPUs on one machine, which share its cores, its disk or its link: what each count gets, by one process for
all and by a process for each, beside what the doctor foretells from one GPU; and from which count on each gives less than 95%."""

import json
import os
import pathlib
import subprocess
import tempfile

import doctor
import throttles
from process import synthetic_images, warm
from table import Figure, report_with_rows, table

GPUS = (1, 2, 3, 4, 6, 8)
BATCH, SECONDS, BATCHES_MIN = 16, 8, 16
FED = 4.5       # GPUs that the resource feeds
MARK = 0.95     # of what one GPU gets, for each
DISK, LINK = 25_000_000, 25_000_000


def resources(bench):
    """What is shared: how, the data, and options."""
    return (("cores", lambda: throttles.Throttle(), "photos", ()),
            ("disk", lambda: throttles.disk(bench.path("photos"), bytes_per_s=DISK), "photos", ("--direct",)),
            ("link", lambda: bench.store(0.03, LINK), "s3:photos", ()))


def arguments(bench, data, step, batches, options):
    return [bench.stoker, "run", bench.location(data), "--recipe", "imagenet-train", "--batch", BATCH, "--accelerator", step, "--epochs",
            100_000, "--batches", batches, "--memory", "512MiB", "--tune", "off", "--json", *options]


def rate_of(answers, step, gpus):
    """Of all of them from the first step on, and how busy they were."""
    busy = sum(answer["utilisation"] for answer in answers) / len(answers)
    return busy * gpus * BATCH / step, busy


def in_one(bench, throttle, data, step, gpus, batches, options):
    status, answer, said = throttles.run(throttle, arguments(bench, data, step, batches * gpus, (*options, "--accelerators", gpus)),
                                         doctor.PATIENCE_S)
    if status or answer is None:
        raise doctor.Failed(doctor.last_words(status, said))
    return rate_of([answer], step, gpus)


def in_each(bench, throttle, data, step, gpus, batches, options):
    """A rank for each GPU; they begin each step together."""
    processes = [subprocess.Popen(throttle.wrap(arguments(bench, data, step, batches, (*options, "--barrier", "--rank", rank, "--world", gpus))),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | throttle.env)
                 for rank in range(gpus)]
    answers = []
    for process in processes:
        out, said = process.communicate(timeout=doctor.PATIENCE_S)
        if process.returncode:
            raise doctor.Failed(doctor.last_words(process.returncode, said))
        answers.append(json.loads(out))
    return rate_of(answers, step, gpus)


def scale(bench, name, throttle_of, data, options):
    rows, first = [], {"foretold": None, "one": None, "each": None}
    with throttle_of() as throttle:
        warm(bench.path(data))
        most = bench.doctor(throttle, data, "imagenet-train", BATCH, doctor.STEP, *options)["samples_per_s"]
        step = BATCH * FED / most
        what_ifs = [word for gpus in GPUS for word in ("--what-if", f"gpus={gpus}")]
        foretold = [found["samples_per_s"] for found in
                    bench.doctor(throttle, data, "imagenet-train", BATCH, step, *options, *what_ifs)["what_if"]]
        alone = {}
        for gpus, said in zip(GPUS, foretold):
            batches = max(BATCHES_MIN, round(SECONDS * said / BATCH / gpus))
            measured = {"foretold": (said, None)}
            for how, run in (("one", in_one), ("each", in_each)):
                measured[how] = run(bench, throttle, data, step, gpus, batches, options)
            for how, (rate, _) in measured.items():
                alone.setdefault(how, rate)
                if rate < MARK * gpus * alone[how] and first[how] is None:
                    first[how] = gpus
            rows.append((name, gpus, f"{said:,.0f}",
                         *(cell for how in ("one", "each") for cell in (
                             f"{measured[how][0]:,.0f}", f"{measured[how][0] / gpus / alone[how]:.2f}", f"{100 * measured[how][1]:.0f}%")),
                         doctor.percent(said / measured["one"][0] - 1)))
            bench.say(f"{name}, {gpus} GPUs: foretold {said:,.0f}/s, in one process {measured['one'][0]:,.0f}/s, in each {measured['each'][0]:,.0f}/s")
    return rows, first


def run(build, options):
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="scaling-", dir=parent) as folder:
        bench = doctor.Bench(build, pathlib.Path(folder), options.data or synthetic_images(build))
        rows = []
        for name, throttle, data, more in resources(bench):
            found = doctor.attempt(bench, name, lambda name=name, throttle=throttle, data=data, more=more: scale(bench, name, throttle, data, more))
            if not found:
                continue
            rows += found[0]
            first = found[1]
            bench.say(f"{name}: below {MARK:.0%} for each from {first['one']} GPUs on in one process, {first['each']} in a process for each; "
                      f"foretold {first['foretold']}")
            bench.figures.append(Figure(f"{name}: first GPUs below 95%", first["one"] or 0, "", "foretold",
                                        (first["one"] or 0) / first["foretold"] if first["foretold"] else None))
        bench.rows["scaling"] = rows
        table("GPUs that share a machine", ["shared", "GPUs", "foretold /s", "in one process /s", "of one's each", "busy",
                                            "a process for each /s", "of one's each", "busy", "foretold, off"], rows)
        report_with_rows(bench, options.json)
