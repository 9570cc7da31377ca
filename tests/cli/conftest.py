"""The command under test: $STOKER_BIN, else build/release/stoker."""

import copy
import json
import os
import signal
import subprocess
from pathlib import Path

import numpy
import pytest
from PIL import Image

from ordinary_rights import ordinary_rights

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 60  # a guard against hanging, not a limit on speed


class Stoker:
    """Runs the command and looks at what it leaves."""

    def __init__(self, path, cache):
        self.path = str(path)
        self.before = []  # words that the command is started by
        self.started = []
        kept = {name: value for name, value in os.environ.items() if not name.startswith("STOKER_")}
        self.env = {**kept, "STOKER_CACHE_DIR": str(cache)}

    def __call__(self, *args, env=None, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "timeout": HANG_S,
                   **options}
        return subprocess.run([*self.before, self.path, *map(str, args)], env={**self.env, **(env or {})}, text=True, **options)

    def text(self, *args, **options):
        """Standard output of a call that has to succeed and say nothing else."""
        done = self(*args, **options)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def json(self, *args, **options):
        """The one object that --json prints."""
        found = json.loads(self.text(*args, "--json", **options))
        assert isinstance(found, dict)
        return found

    def refusal(self, status, *args, **options):
        """The one sentence of a call that has to fail with this status."""
        done = self(*args, **options)
        assert done.returncode == status, done
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("stoker: "), done.stderr
        return lines[0]

    def start(self, *args, env=None, **options):
        """A process that goes on; what is left of it at the end of the test is killed."""
        # A shell that starts the tests in the background has SIGINT ignored, and children inherit that.
        process = subprocess.Popen([self.path, *map(str, args)], env={**self.env, **(env or {})}, text=True,
                                   stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options)
        self.started.append(process)
        return process

    def audit(self, tmp_path, *args, **options):
        """What a run delivered, as the lines of its audit."""
        path = tmp_path / "audit.jsonl"
        self.text(*args, "--audit", path, **options)
        return path.read_text().splitlines()


@pytest.fixture
def ordinary_stoker(stoker):
    """To which files without permission are closed, also where tests run as root."""
    ordinary = copy.copy(stoker)
    ordinary.before = ordinary_rights()
    return ordinary


@pytest.fixture(autouse=True)
def nothing_left_running(stoker):
    yield
    for process in stoker.started:
        process.kill()
        process.wait()
    stoker.started.clear()


@pytest.fixture(scope="session")
def stoker(tmp_path_factory):
    path = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
    if not path.is_file():
        pytest.fail(f"there is no command {path}: build it (./dev build), or name one in STOKER_BIN")
    return Stoker(path, tmp_path_factory.mktemp("cache"))


class Synth:
    """The same images as a folder and as a tar, and a recipe that suits them."""

    def __init__(self, stoker, at, kind, count, recipe):
        self.recipe = recipe
        self.count = count
        self.folder, self.tar = at / "folder", at / "data.tar"
        for out, form in ((self.folder, "folder"), (self.tar, "tar")):
            stoker.text("synth", out, "--kind", kind, "--count", count, "--classes", 3, "--seed", 5, "--format", form)


@pytest.fixture(scope="session")
def tiny(stoker, tmp_path_factory):
    return Synth(stoker, tmp_path_factory.mktemp("tiny"), "tiny", 30, "cifar-train")


@pytest.fixture(scope="session")
def photographs(stoker, tmp_path_factory):
    return Synth(stoker, tmp_path_factory.mktemp("photographs"), "imagenet", 12, "imagenet-train")


@pytest.fixture
def two_views(tmp_path):
    """A recipe with two outputs made of the image."""
    path = tmp_path / "two.toml"
    path.write_text("""
[[view]]
name = "large"
field = "image"
operators = [{ op = "decode" }, { op = "resize", size = [48, 64] }, { op = "layout", layout = "nhwc" }]
[[view]]
name = "small"
field = "image"
operators = [{ op = "decode" }, { op = "resize", size = [6, 8] }, { op = "cast", dtype = "f16" }]
""")
    return path


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """A folder of three classes, and what is in it, in its order."""
    folder = tmp_path_factory.mktemp("loose")
    random = numpy.random.default_rng(1)
    found = []
    for number in range(12):
        label = number // 4
        name = f"class{label}/{number:03}.{'png' if number % 4 == 0 else 'jpg'}"
        pixels = random.integers(0, 256, (40 + number, 60, 3), dtype=numpy.uint8)
        (folder / name).parent.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(folder / name)
        found.append({"name": name, "label": label, "image": (folder / name).read_bytes()})
    return folder, found
