"""The wheel that `./dev wheel` made ($STOKER_WHEEL), as a machine meets it that has a Python ($STOKER_WHEEL_PYTHON) and
nothing of ours: what is in it, and what it does in a virtual environment with numpy alone."""

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 300  # a guard against hanging: pip fetches numpy
# What the policies of manylinux let a wheel take from the machine.
THE_MACHINES = re.compile(r"(linux-vdso|ld-linux-[\w-]+|libc|libm|libdl|librt|libpthread|libresolv|libutil|libz|libgcc_s|libstdc\+\+)\.so")
NEWEST_GLIBC = (2, 34)  # what docs/wheel.md promises
BYTES_MAX = 25_000_000  # without CUDA
WITHOUT_A_NETWORK = ("unshare", "--map-root-user", "--net")

# pytest runs this folder with every other one.
pytestmark = pytest.mark.skipif("STOKER_WHEEL" not in os.environ, reason="./dev wheel makes the wheel that is tested here")


@pytest.fixture(scope="session")
def wheel():
    return Path(os.environ["STOKER_WHEEL"]).resolve()


@pytest.fixture(scope="session")
def content(wheel):
    """The files in it, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="session")
def programs(wheel, tmp_path_factory):
    """The compiled files in it, unpacked, by name."""
    at = tmp_path_factory.mktemp("programs")
    with zipfile.ZipFile(wheel) as archive:
        return {name: Path(archive.extract(name, at)) for name in archive.namelist() if archive.open(name).read(4) == b"\x7fELF"}


class Environment:
    """A virtual environment in which the wheel is installed, and no variable that could lead elsewhere."""

    def __init__(self, at, wheel):
        self.bin = at / "bin"
        self.at = at
        subprocess.run([os.environ.get("STOKER_WHEEL_PYTHON", sys.executable), "-m", "venv", at], check=True)
        self.run("pip", "install", "--disable-pip-version-check", wheel)

    def run(self, program, *arguments, at=None, by=()):
        """Standard output of a program of the environment, started by another one where nothing of ours lies."""
        done = subprocess.run([*by, self.bin / program, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=at or self.at, timeout=SECONDS_MAX,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.at), "STOKER_CACHE_DIR": str(self.at / "cache")})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, *lines):
        return self.run("python", "-c", "\n".join(lines))

    @property
    def package(self):
        return Path(self.python("import stoker", "print(stoker.__file__)").strip()).parent


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("bare") / "environment", wheel)


@pytest.fixture(scope="session")
def images(installed, tmp_path_factory):
    at = tmp_path_factory.mktemp("data") / "images"
    installed.run("stoker", "synth", at, "--kind", "tiny", "--count", 64, "--classes", 2)
    return at


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout


def test_every_file_is_the_one_that_the_record_lists(content):
    (record,) = (name for name in content if name.endswith(".dist-info/RECORD"))
    listed = {name: digest for name, digest, _ in csv.reader(io.StringIO(content[record].decode()))}
    assert set(listed) == set(content)
    for name in set(content) - {record}:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content[name]).digest()).rstrip(b"=").decode()
        assert listed[name] == f"sha256={digest}", name


def test_nothing_leads_back_to_the_machine_that_built_it(content, programs):
    has_assertions = os.environ.get("STOKER_ASSERTIONS") == "ON"  # which name their files
    for name, data in ({} if has_assertions else content).items():
        if "/licenses/" in name:
            continue  # which name folders of their own
        found = [place for place in (f"{ROOT}/", f"{Path.home()}/") if place.encode() in data]
        assert not found, name
    for name, path in programs.items():
        places = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", path))
        for place in ":".join(places).split(":") if places else []:
            assert place.startswith("$ORIGIN"), name
            assert (path.parent / place.replace("$ORIGIN", ".")).resolve().is_dir(), name


def test_its_name_promises_the_glibc_that_the_documentation_does(wheel):
    versions = [tuple(map(int, found)) for found in re.findall(r"manylinux_(\d+)_(\d+)_", wheel.name)]
    assert versions and max(versions) <= NEWEST_GLIBC


def test_without_cuda_it_is_small(wheel):
    if "+cu" in wheel.name:
        pytest.skip("this one has CUDA")
    assert wheel.stat().st_size <= BYTES_MAX


def test_the_module_shows_nothing_but_its_entry_point(programs):
    (module,) = (path for name, path in programs.items() if re.match(r"stoker/_stoker\..*so$", name))
    shown = output("nm", "--dynamic", "--defined-only", "--format=just-symbols", module).split()
    assert [name for name in shown if not name.startswith("_Z")] == ["PyInit__stoker"]  # of C and of ours
    assert [name for name in shown if re.search("6stoker|8nanobind|10prometheus", name)] == []  # C++'s own are one for all


def test_every_library_inside_comes_with_its_licence(content):
    libraries = {re.sub(r"-[0-9a-f]{8}(?=\.)", "", name.removeprefix("stoker.libs/")).split(".so")[0]
                 for name in content if name.startswith("stoker.libs/")}
    compiled_in = {"libarchive-dev", "libcli11-dev", "libhwy-dev", "nanobind", "nlohmann-json3-dev", "robin_map"}
    licences = {Path(name).stem for name in content if ".dist-info/licenses/third_party/" in name}
    assert libraries and libraries | compiled_in <= licences
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in content)


def test_package_and_command_have_one_version(installed, wheel):
    told = installed.python("import importlib.metadata, stoker", "print(stoker.__version__, importlib.metadata.version('stoker'))")
    command = installed.run("stoker", "--version").split()[1]
    named = wheel.name.split("-")[1]
    assert set(told.split()) | {named} <= {command, f"{command}+cu13"}
    assert ("without CUDA" in installed.run("stoker", "--version")) == ("+cu" not in named)


def test_devices_are_there_or_say_what_they_lack(installed, images, wheel):
    run = ("stoker", "run", images, "--recipe", "cifar-train", "--batch", 8, "--audit")
    installed.run(*run, "host.jsonl")
    installed.run(*run, "device.jsonl", "--device", "emulated:execute", "--transfer-index", 0)
    assert (installed.at / "host.jsonl").read_text() == (installed.at / "device.jsonl").read_text() != ""
    if shutil.which("nvidia-smi"):
        pytest.skip("this machine has a GPU: ./dev gpu-test tries it")
    said = installed.python("import stoker", "try:", f"    stoker.Loader({str(images)!r}, 'cifar-train', batch=8, device='cuda:0')",
                            "except stoker.Error as error:", "    print(error)")
    assert re.search("driver|no GPU" if "+cu" in wheel.name else "built without it", said), said


def test_the_command_and_the_module_deliver_the_same_bytes(installed, images):
    installed.run("stoker", "run", images, "--recipe", "cifar-train", "--batch", 8, "--seed", 3, "--audit", "command.jsonl")
    installed.python("import stoker",
                     f"with stoker.Loader({str(images)!r}, 'cifar-train', batch=8, seed=3, audit='module.jsonl') as loader:",
                     "    assert sum(len(batch.key) for batch in loader.epoch(0)) == 64")
    assert (installed.at / "command.jsonl").read_text() == (installed.at / "module.jsonl").read_text() != ""


@pytest.fixture(scope="session")
def offline():
    """What starts a program without a network; nothing where the machine does not let its users do that."""
    if shutil.which("unshare") and subprocess.run([*WITHOUT_A_NETWORK, "true"], capture_output=True).returncode == 0:
        (interface,) = output(*WITHOUT_A_NETWORK, "cat", "/proc/net/dev").splitlines()[2:]
        assert interface.split()[0] == "lo:"
        return WITHOUT_A_NETWORK
    warnings.warn("this machine does not allow namespaces: README's example runs with its network")
    return ()


def test_the_example_of_the_readme_runs_as_it_is_printed_and_without_a_network(installed, offline, tmp_path):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    installed.run("stoker", "synth", "imagenet/train", "--count", 300, at=tmp_path, by=offline)
    printed = installed.run("python", "-c", example, at=tmp_path, by=offline).splitlines()
    batches = [re.fullmatch(r"(\d+) \(256, 3, 224, 224\) float32 \S+", line) for line in printed]
    assert all(batches), printed
    assert [int(batch[1]) for batch in batches] == list(range(90))  # 300 images are one batch of 256 in each epoch


# In the wheel, libavif's other codecs are libraries that end the program when they are called.
@pytest.mark.parametrize("name", ["lossless", "alpha", "grey"])
def test_avif_is_decoded_by_what_is_inside(installed, name):
    picture = ROOT / f"fuzz/corpus/avif/{name}.input"
    shape = installed.python("import stoker, pathlib", "recipe = stoker.recipe().decode('faithful').layout('nhwc')",
                             f"print(recipe.apply(pathlib.Path({str(picture)!r}).read_bytes())['image'].shape)")
    assert shape == "(5, 6, 3)\n"


def test_the_module_takes_no_library_from_the_machine_but_the_c_library_and_its_kin(installed, images):
    mapped = installed.python(
        "import numpy",
        "libraries = lambda: {line.split()[-1] for line in open('/proc/self/maps') if '.so' in line}",
        "pythons = libraries()",
        "import stoker",
        f"loader = stoker.Loader({str(images)!r}, 'cifar-train', batch=8, metrics_address='127.0.0.1:0')",
        "images = next(iter(loader)).image.numpy()",
        "print(*libraries() - pythons, sep='\\n')").split()
    inside = installed.package.parent
    others = [path for path in map(Path, mapped) if not path.is_relative_to(inside) and not THE_MACHINES.match(path.name)]
    assert [path for path in others if "lib-dynload" not in path.parts] == []  # Python's own modules
    assert sum(path.startswith(f"{inside}/stoker.libs/") for path in mapped) > 5


def test_the_command_takes_no_library_from_the_machine_but_the_c_library_and_its_kin(installed):
    inside = installed.package.parent / "stoker.libs"
    found = re.findall(r"^\s+(\S+) => (\S+)", output("ldd", installed.package / "bin/stoker"), re.MULTILINE)
    others = [(name, path) for name, path in found if not THE_MACHINES.match(name)]
    assert len(others) > 5 and all(Path(path).resolve().is_relative_to(inside) for _, path in others), others


def test_the_commands_exit_status_and_words_come_through(installed):
    done = subprocess.run([installed.bin / "stoker", "run", "no such folder", "--recipe", "cifar-train"], text=True,
                          capture_output=True, timeout=SECONDS_MAX)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("stoker: ") and "no such folder" in done.stderr


@pytest.mark.parametrize("tool", ["uv", "pipx"])
def test_a_tool_starts_the_command_as_the_documentation_says(wheel, images, tmp_path, tool):
    (command,) = re.findall(rf"`({tool} [^`]*)`", (ROOT / "docs/wheel.md").read_text())
    interpreter = os.environ.get("STOKER_WHEEL_PYTHON", sys.executable)
    subprocess.run([interpreter, "-m", "venv", tmp_path / "tools"], check=True)
    subprocess.run([tmp_path / "tools/bin/pip", "install", "--quiet", "--disable-pip-version-check", tool], check=True)
    (tmp_path / wheel.name).symlink_to(wheel)
    shutil.copytree(images, tmp_path / "photos")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STOKER_"))}
    env |= {"PATH": f"{tmp_path}/tools/bin:/usr/bin:/bin", "HOME": str(tmp_path), "UV_PYTHON": interpreter, "PIPX_DEFAULT_PYTHON": interpreter}
    done = subprocess.run(command, shell=True, text=True, capture_output=True, cwd=tmp_path, timeout=SECONDS_MAX, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("64 samples of 2 classes")


def test_an_interpreter_without_a_lock_stays_without(installed):
    told = installed.python("import sys, stoker", "print('free-threading' in sys.version, getattr(sys, '_is_gil_enabled', lambda: True)())")
    free, locked = told.split()
    assert (free == "True") == (locked == "False")
