"""The loader benchmark: Stoker beside OpenCV and torchvision on one core, its own overhead, and two cores against one.

Each contestant is a process pinned to its cores; rounds interleave them, and every figure is a median of ratios within
rounds, so that a noisy machine disturbs both sides alike.
"""

import os
import pathlib
import statistics
import sys

from process import Ended, Process, synthetic_images, warm
from table import Figure, report

ROUNDS = 9


def run(build, options):
    try:
        side_by_side(build, options)
    except Ended as ended:
        sys.exit(f"bench: {ended}")


def side_by_side(build, options):
    data = options.data or synthetic_images(build)
    program, torchvision_loop = build / "bench_loader", pathlib.Path(__file__).with_name("torchvision_loop.py")
    cores = sorted(os.sched_getaffinity(0))
    first = str(cores[0])
    one = Process(first, program, data, 1, 4)
    torchvision = Process(first, "/usr/bin/python3", torchvision_loop, data, 1)

    checked = one.run("check")
    if checked["different"]:
        sys.exit(f"bench: {checked['different']} of {checked['checked']} samples differ from the reference executor")
    print(f"{checked['checked']} samples equal the reference executor; OpenCV's pixels are at {checked['opencv_psnr']:.1f} dB"
          " from them (it does not antialias)", file=sys.stderr)

    rates, cpu = {}, {}

    def note(name, rate, cpu_per_sample=None):
        rates.setdefault(name, []).append(rate)
        if cpu_per_sample is not None:
            cpu.setdefault(name, []).append(cpu_per_sample)

    contestants = [("opencv", one, "opencv"), ("bare", one, "bare"), ("loader", one, "loader"), ("torchvision", torchvision, "run")]
    for number in range(ROUNDS):
        warm(data)
        for name, process, command in contestants[number % 4:] + contestants[:number % 4]:
            note(name, *process.rate(command))
    torchvision.close()

    if len(cores) > 1:
        second = str(cores[1])
        other, both = Process(second, program, data, 1, 4), Process(f"{first},{second}", program, data, 2, 4)
        one.close()
        one = Process(first, program, data, 1, 4)
        for _ in range(ROUNDS):
            warm(data)
            one.start("loader"), other.start("loader")
            note("two apart", sum(a["samples"] / a["seconds"] for a in (one.answer(), other.answer())))
            note("two cores", both.rate("loader")[0])
        other.close(), both.close()
    one.close()

    def ratio(name, against):
        return statistics.median(a / b for a, b in zip(rates[name], rates[against]))

    def figure(name, against=None, floor=None, goal=None):
        return Figure(name, statistics.median(rates[name]), "img/s", against, ratio(name, against) if against else None,
                      floor, goal, cpu_ms=1e3 * statistics.median(cpu[name]) if name in cpu else None)

    figures = [figure("opencv"), figure("torchvision"), figure("bare"), figure("loader", "opencv", 1.4),
               figure("loader", "torchvision", 2.3), figure("loader", "bare", 0.95)]
    if len(cores) > 1:
        figures += [figure("two apart"), figure("two cores", "two apart", 0.95)]
    report(figures, options.json)
