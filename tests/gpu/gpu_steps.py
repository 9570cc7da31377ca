"""The steps of tests/gpu/run. Each gets the places and the moment by which it has to end, and returns its outcome, a note
for the table, and figures; what it calls raises Ended where that is its end."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import typing
import xml.etree.ElementTree

PASSED, FAILED, NOT_THERE = "passed", "failed", "not there"
INDICES = range(4)
RECIPE = """[[view]]
name = "image"
operators = [
  {{ op = "decode", mode = "{mode}" }},
  {{ op = "random_resized_crop", size = 224 }},
  {{ op = "random_flip" }},
  {{ op = "normalize", preset = "imagenet" }},
  {{ op = "cast", dtype = "f16" }},
]

[[view]]
name = "label"
"""
MODES = ("planar", "faithful")


class Ended(Exception):
    """A step's end before its end."""

    def __init__(self, outcome, note, figures=None):
        super().__init__(note)
        self.outcome, self.figures = outcome, figures or {}


@dataclasses.dataclass
class Places:
    """Where things are, and on what the steps run."""

    root: pathlib.Path
    build: pathlib.Path        # the command and the tests, with assertions
    bench_build: pathlib.Path  # what is measured, and the Python module
    scratch: pathlib.Path
    device: str
    data: typing.Optional[pathlib.Path] = None

    @property
    def on_gpu(self):
        return self.device.startswith("cuda")

    def recipe(self, mode):
        path = self.scratch / f"{mode}.toml"
        path.write_text(RECIPE.format(mode=mode))
        return path

    def with_module(self):
        """The environment in which Python finds the module."""
        return os.environ | {"PYTHONPATH": str(self.bench_build / "python"), "STOKER_TEST_DEVICE": self.device,
                             "STOKER_TEST_DATA": str(self.data)}


@dataclasses.dataclass
class Step:
    name: str
    about: str
    seconds_max: float
    run: typing.Callable


def last_words(text, lines=12):
    return "\n".join(text.strip().splitlines()[-lines:])


def call(command, until, env=None, cwd=None):
    """What the command printed, both ways. Raises Ended if it failed or was not done by then."""
    try:
        done = subprocess.run([str(part) for part in command], env=env, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired as expired:
        said = (expired.stdout or b"").decode(errors="replace")
        raise Ended(FAILED, f"it was not done in time: {command[0]}\n{last_words(said)}") from None
    except OSError as error:
        raise Ended(FAILED, f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        words = " ".join(str(part) for part in command)
        raise Ended(FAILED, f"it ended with {done.returncode}: {words}\n{last_words(done.stdout)}")
    return done.stdout


def sample_data(places):
    images, packed, until = places.scratch / "images", places.scratch / "packed", time.monotonic() + 120
    call([places.build / "stoker", "synth", images, "--kind", "imagenet", "--format", "folder", "--count", 180,
          "--classes", 10, "--seed", 1], until)
    call([places.build / "stoker", "pack", images, packed], until)
    return packed


def only_gpu(places, what):
    if not places.on_gpu:
        raise Ended(NOT_THERE, f"{what} takes a GPU, and {places.device} is none")


# ---------------------------------------------------------------------------------------------------------------------

def machine(places, until):
    only_gpu(places, "measuring one")
    ordinal = places.device.split(":")[1]
    figures = json.loads(call([places.bench_build / "gpu_bandwidth", ordinal], until))
    if shutil.which("nvidia-smi"):
        figures["driver"] = call(["nvidia-smi", f"--id={ordinal}", "--query-gpu=driver_version", "--format=csv,noheader"],
                                 until).strip()
    figures["cores"] = len(os.sched_getaffinity(0))
    giga = 1e9
    return PASSED, (f"{figures['gpu']}, driver {figures.get('driver', 'unknown')}, {figures['cores']} cores; "
                    f"{figures['copy_to_gpu_bytes_per_s'] / giga:.1f} GB/s from pinned memory, "
                    f"{figures['memory_bytes_per_s'] / giga:.0f} GB/s of its own"), figures


def agreement(places, until):
    """The tests that compare devices with the CPU, operator by operator and loader by loader."""
    env = os.environ | {"STOKER_TEST_DEVICE": places.device}
    figures = {}
    for program in ("device", "plan", "runtime"):
        chosen = [] if program == "device" else ["--gtest_filter=*Device*"]
        said = call([places.build / "lib" / f"{program}_test", *chosen], until, env)
        passed = re.search(r"\[  PASSED  \] (\d+) test", said)
        figures[program] = int(passed[1]) if passed else 0
        if figures[program] == 0:
            raise Ended(FAILED, f"{program}_test has no tests of devices", figures)
    return PASSED, ", ".join(f"{count} tests of {program}" for program, count in figures.items()), figures


def audit(places, mode, until, *device):
    path = places.scratch / "audit"
    call([places.build / "stoker", "run", places.data, "--recipe", places.recipe(mode), "--batch", 16, "--epochs", 2,
          "--seed", 3, "--audit", path, *device], until)
    return path.read_bytes()


def audits(places, until):
    """That each transfer index makes the CPU's bytes of whole epochs."""
    figures = {}
    for mode in MODES:
        want = audit(places, mode, until)
        figures[f"{mode} samples"] = want.count(b"\n")
        if figures[f"{mode} samples"] == 0:
            raise Ended(FAILED, f"the data have no samples: {places.data}", figures)
        for index in INDICES:
            got = audit(places, mode, until, "--device", places.device, "--transfer-index", index)
            if got != want:
                raise Ended(FAILED, f"{mode} at transfer index {index} is not what the CPU makes: {difference(want, got)}",
                            figures)
    return PASSED, f"{sum(figures.values())} samples the same at indices 0 to 3 and on the CPU", figures


def difference(want, got):
    want, got = want.splitlines(), got.splitlines()
    wrong = [a for a, b in zip(want, got) if a != b]
    first = f", the first of them {wrong[0].decode()}" if wrong else ""
    return f"{len(wrong)} of {len(want)} samples differ{first}; {len(got)} came"


def nvjpeg(places, until):
    """Images without entry points, left to nvJPEG, whose pixels are its own: the same ones each time."""
    found = []
    for threads in (1, 4):
        try:
            found.append(audit(places, "planar", until, "--no-index", "--threads", threads, "--device", places.device,
                               "--nvjpeg"))
        except Ended as ended:
            if "libnvjpeg" not in str(ended):
                raise
            raise Ended(NOT_THERE, last_words(str(ended), 1)) from None
    if found[0] != found[1]:
        raise Ended(FAILED, f"two runs differ: {difference(*found)}")
    same = "the CPU's" if found[0] == audit(places, "planar", until) else "not the CPU's"
    return PASSED, f"two runs made the same pixels, which are {same}", {"samples": found[0].count(b"\n")}


# ---------------------------------------------------------------------------------------------------------------------

def sanitizer_program():
    found = shutil.which("compute-sanitizer")
    for toolkit in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if not found and toolkit:
            found = shutil.which("compute-sanitizer", path=f"{toolkit}/bin:{toolkit}/compute-sanitizer")
    if not found:
        raise Ended(NOT_THERE, "there is no compute-sanitizer in PATH, $CUDA_HOME or CUDA's usual place")
    return found


def sanitizer(places, until):
    """memcheck and racecheck over a few batches at each index."""
    only_gpu(places, "compute-sanitizer")
    program = sanitizer_program()

    def check(tool, mode, index):
        # Hazards of shared memory are what racecheck finds; index 3 runs no kernels.
        call([program, "--tool", tool, "--error-exitcode", 9, places.build / "stoker", "run", places.data, "--recipe",
              places.scratch / f"{mode}.toml", "--batch", 8, "--batches", 3, "--threads", 2, "--device", places.device,
              "--transfer-index", index], until)

    for mode in MODES:
        places.recipe(mode)
    runs = [(tool, mode, index) for tool in ("memcheck", "racecheck") for mode in MODES for index in INDICES
            if tool == "memcheck" or index < INDICES[-1]]
    with concurrent.futures.ThreadPoolExecutor(min(4, len(os.sched_getaffinity(0)))) as pool:
        for future in [pool.submit(check, *run) for run in runs]:
            future.result()
    return PASSED, f"{len(runs)} runs without an error", {"runs": len(runs)}


# ---------------------------------------------------------------------------------------------------------------------

def module_imports(places, until):
    call([sys.executable, "-c", "import stoker"], until, places.with_module())


def module(places, until):
    """Compiles the Python module if it is not there for this Python: the bundle brings what it is made of."""
    try:
        module_imports(places, until)
        return PASSED, "it was there", {}
    except Ended:
        if not (places.root / "module" / "CMakeLists.txt").exists():
            raise
    for tool in ("cmake", "g++"):
        if not shutil.which(tool):
            raise Ended(NOT_THERE, f"compiling the module takes {tool}")
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        raise Ended(NOT_THERE, "compiling the module takes Python's headers")
    build = places.scratch / "module"
    call(["cmake", "-S", places.root / "module", "-B", build, f"-DPython_EXECUTABLE={sys.executable}",
          f"-DSTOKER_MODULE_FOLDER={places.bench_build / 'python' / 'stoker'}"], until)
    call(["cmake", "--build", build, "--parallel", len(os.sched_getaffinity(0))], until)
    module_imports(places, until)
    return PASSED, f"compiled for Python {sys.version_info.major}.{sys.version_info.minor}", {}


def need_module(places, until):
    try:
        module_imports(places, until)
    except Ended as ended:
        raise Ended(NOT_THERE, f"the Python module cannot be imported\n{last_words(str(ended), 3)}") from None


def changing(places, until):
    """That an index which changes every few batches leaves the audit as it is."""
    need_module(places, until)
    changes = {}
    for mode in MODES:
        want = audit(places, mode, until)
        path = places.scratch / "changing"
        said = call([sys.executable, pathlib.Path(__file__).with_name("changing_index.py"), places.data,
                     places.recipe(mode), places.device, path], until, places.with_module())
        changes[mode] = int(said)
        got = path.read_bytes()
        if got != want:
            raise Ended(FAILED, f"{mode}, with a changing index, is not what the CPU makes: {difference(want, got)}")
    return PASSED, f"the CPU's samples under {sum(changes.values())} changes of the index", changes


def python(places, until):
    """pytest over tests/gpu/python."""
    need_module(places, until)
    if subprocess.run([sys.executable, "-c", "import pytest, numpy"], capture_output=True).returncode != 0:
        raise Ended(NOT_THERE, "this Python has no pytest and numpy")
    report = places.scratch / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
               places.root / "tests/gpu/python"]
    try:
        call(command, until, places.with_module())
    except Ended as ended:
        raise Ended(FAILED, str(ended), counts(report) if report.exists() else {}) from None
    figures = counts(report)
    skipped = figures.pop("why skipped")
    if figures["passed"] == 0:
        raise Ended(NOT_THERE, "\n".join(["no test could run", *skipped]), figures)
    return PASSED, "\n".join([f"{figures['passed']} passed, {figures['skipped']} could not run", *skipped]), figures


def counts(report):
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    number = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    why = sorted({skipped.get("message") for skipped in suite.iter("skipped")})
    return {"passed": number["tests"] - number["failures"] - number["errors"] - number["skipped"],
            "failed": number["failures"] + number["errors"], "skipped": number["skipped"], "why skipped": why}


def bench(places, until):
    """What `./dev bench device` measures, in the time that is left for it."""
    need_module(places, until)
    path = places.scratch / "bench.json"
    seconds = max(until - time.monotonic() - 20, 1)
    said = call([sys.executable, places.root / "bench/run", "device", "--build", places.bench_build, "--device",
                 places.device, "--data", places.data, "--seconds", f"{seconds:.0f}", "--json", path], until,
                places.with_module())
    told = [line for line in said.rstrip().splitlines() if not line.startswith("round ")]
    return PASSED, "\n".join(told), {"table": json.loads(path.read_text())}


STEPS = [
    Step("machine", "what GPU this is and how fast its memory and link are", 60, machine),
    Step("agreement", "each operator, and loaders, beside the CPU", 100, agreement),
    Step("audits", "whole epochs at each transfer index beside the CPU", 80, audits),
    Step("nvjpeg", "two runs that leave images to nvJPEG", 40, nvjpeg),
    Step("sanitizer", "compute-sanitizer over a few batches at each index", 120, sanitizer),
    Step("module", "the Python module for this Python", 150, module),
    Step("changing index", "an index that changes every few batches", 60, changing),
    Step("python", "tensors of other libraries, streams, lifetime and leaks", 120, python),
    Step("bench", "how fast it is", 150, bench),
]
