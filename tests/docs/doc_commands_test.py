"""Every block of commands in README.md and the documentation: bash runs it with stand-ins for programs, and what it calls them
with is given to the parsers that it is for, or looked up in what they read."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doc_blocks import ROOT, blocks, pages

SHIM = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["CALLS"], "a") as log:
    print(json.dumps([os.getcwd(), os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=log)
print(3)
"""
# Those of these programs' options that the documentation uses.
OF_SBATCH = {"--array", "--dependency", "--nodes", "--parsable", "--wrap"}
OF_TORCHRUN = {"--nproc-per-node"}
OF_MPIRUN = {"-n"}
PACKAGES = {"torch"}  # of PyPI, beside ours


@pytest.fixture
def work(tmp_path):
    """The root of a checkout, as far as commands look at it."""
    at = tmp_path / "work"
    shutil.copytree(ROOT / "examples", at / "examples")
    (at / "env/bin").mkdir(parents=True)
    (at / "env/bin/activate").touch()
    (at / "build/feed").mkdir(parents=True)
    return at


def calls_of(text, work):
    """What bash calls, as lists of folder and words, when it runs the text with nothing but stand-ins."""
    shims, log = work.with_name("bin"), work.with_name("calls.jsonl")
    shims.mkdir()
    places = [*(shims / name for name in CHECKS), work / "dev", work / "env/bin/pip", work / "build/feed/feed"]
    for place in places:
        place.write_text(SHIM)
        place.chmod(0o755)
    done = subprocess.run(["bash", "-uc", text], cwd=work, capture_output=True, text=True, timeout=60,
                          env={"PATH": f"{shims}:/usr/bin:/bin", "HOME": str(work), "CALLS": str(log)})
    assert not re.search("syntax error|command not found|unbound variable|cd: ", done.stderr), done.stderr
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def check_stoker(words, _):
    """Its parser takes all of it: of a word too many it complains last."""
    command = os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")
    words = [word.replace("cuda:0", "emulated:execute") for word in words]  # which is in every build
    done = subprocess.run([command, *words, "--no-such-option"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("stoker: unexpected argument '--no-such-option'"), (words, done.stderr)


def check_dev(words, _):
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    verb = " ".join(words[:2]) if words[0] == "bench" else words[0]
    entry = re.search(rf"^  {re.escape(verb)}\b.*(?:\n   .*)*", usage, re.MULTILINE)
    assert entry, f"./dev has no verb {verb}"
    of_verb = " ".join(re.findall(rf"^  {re.escape(words[0])}\b.*(?:\n   .*)*", usage, re.MULTILINE))
    for word in words[1:]:
        assert not word.startswith("--") or word in of_verb, f"./dev {verb} has no {word}"


def file_of(word, folders):
    """In the folder where the command ran, or in the page's."""
    found = [folder / word for folder in folders if (folder / word).is_file()]
    assert found, f"there is no {word}"
    return found[0]


def check_script(words, folders):
    """It is there, and has these options."""
    script = next((word for word in words if word.endswith(".py")), None)
    if not script:
        assert words[0] == "-c" or words[0] == "-m", words
        return
    text = file_of(script, folders).read_text()
    for word in words[words.index(script) + 1:]:
        assert not word.startswith("--") or f'"{word}"' in text, f"{script} has no {word}"


def after_options(words, known):
    """The words from the first that is neither an option, one of those that are known, nor its value."""
    words = list(words)
    while words and words[0].startswith("-"):
        option, _, value = words.pop(0).partition("=")
        assert option in known, f"unknown option {option}"
        if not value and known[option]:
            words.pop(0)
    return words


def check_torchrun(words, folders):
    check_script(after_options(words, dict.fromkeys(OF_TORCHRUN, True)), folders)


def check_sbatch(words, folders):
    """Options with values in the word itself; then a script that asks Slurm for something, unless the job is what --wrap says."""
    rest = after_options(words, {option: option == "--wrap" for option in OF_SBATCH})
    if "--wrap" in words:
        assert rest == []
        subprocess.run(["bash", "-nc", words[words.index("--wrap") + 1]], check=True)
    else:
        assert "\n#SBATCH " in file_of(rest[0], folders).read_text()


def check_mpirun(words, folders):
    script = file_of(after_options(words, dict.fromkeys(OF_MPIRUN, True))[0], folders)
    assert os.access(script, os.X_OK), f"{script.name} is no program"


def check_pip(words, _):
    assert words.pop(0) == "install"
    while words:
        word = words.pop(0)
        if word == "-C":
            (option,) = re.findall(r"^cmake\.define\.(\w+)=(?:ON|OFF)$", words.pop(0))
            assert f"option({option} " in (ROOT / "CMakeLists.txt").read_text(), f"CMakeLists.txt has no option {option}"
        else:
            assert word == "." or word in PACKAGES or re.fullmatch(r"(build/wheels/)?stoker-\*\.whl", word), word


def check_cmake(words, folders):
    source = re.search(r"-S (\S+)", " ".join(words))
    text = file_of(f"{source[1]}/CMakeLists.txt", folders).read_text() if source else ""
    for word in words:
        name = re.match(r"-D(\w+)=", word)
        known = name and (name[1] in ("CMAKE_BUILD_TYPE", "CMAKE_PREFIX_PATH") or name[1] in text)
        assert not word.startswith("-") or known or word in ("-S", "-B", "--build", "--install", "--prefix"), word


def check_cc(words, folders):
    file_of(words[0], folders)


def check_pkg_config(words, _):
    assert words[-1] == "stoker" and all(word.startswith("--") for word in words[:-1]), words


def check_nothing(words, folders):
    """What it works on is a reader's."""


CHECKS = {"stoker": check_stoker, "dev": check_dev, "python": check_script, "python3": check_script, "torchrun": check_torchrun,
          "sbatch": check_sbatch, "mpirun": check_mpirun, "pip": check_pip, "cmake": check_cmake, "scp": check_nothing,
          "ssh": check_nothing, "tar": check_nothing, "feed": check_nothing, "cc": check_cc, "pkg-config": check_pkg_config}


@pytest.mark.parametrize("block", blocks("sh", "bash"), ids=str)
def test_commands_are_known(block, work):
    for folder, name, *words in calls_of(block.text, work):
        CHECKS[name](words, [Path(folder), (ROOT / block.page).parent])


def without_environment(text):
    """Lines that call what is installed in `env` where it is neither named nor active."""
    is_made = is_active = False
    for line in text.splitlines():
        is_active |= "env/bin/activate" in line
        if is_made and not is_active and re.match("(pip|python|stoker|torchrun) ", line):
            yield line
        is_made |= bool(re.search("-m venv env|env/bin/pip install", line))


@pytest.mark.parametrize("page", pages())
def test_what_is_installed_in_an_environment_is_called_there(page):
    assert list(without_environment("".join(block.text for block in blocks("sh", "bash") if block.page == page))) == []


def test_a_call_outside_the_environment_is_noticed():
    made, call = "python3 -m venv env && env/bin/pip install torch\n", "stoker info photos\n"
    assert list(without_environment(made + call)) == [call.strip()]
    assert list(without_environment(made + ". env/bin/activate\n" + call)) == list(without_environment(call + made)) == []


@pytest.mark.parametrize("text", [
    "python none.py data", "python train.py data --no-such-option", "torchrun --nproc-per-node 2 none.py",
    "torchrun --no-such-option 2 train.py", "sbatch --no-such-option=2 train.slurm", "sbatch --nodes=2 none.slurm",
    "mpirun -n 2 ./none.sh", "pip install stokr-*.whl", "pip install . -C cmake.define.STOKER_NONE=ON",
    "cmake -S . -DSTOKER_NONE=3", "./dev none", "stoker none"])
def test_a_mistaken_command_is_noticed(text, work):
    ((folder, name, *words),) = calls_of(text, work)
    folders = [Path(folder), ROOT / "examples/imagenet", ROOT / "examples/slurm", ROOT / "examples/vignette"]
    with pytest.raises(AssertionError):
        CHECKS[name](words, folders)


def test_the_list_of_volumes_names_both_arrays(work, monkeypatch):
    import stoker

    monkeypatch.chdir(work)
    for number in range(2):
        for name in "xy":
            Path(f"case_0000{number}_{name}.npy").write_text(name)
    (block,) = (block for block in blocks("sh") if block.page == "docs/arrays.md" and "cases.csv" in block.text)
    subprocess.run(["bash", "-euc", block.text], check=True)
    samples = list(stoker.open("cases.csv"))
    assert [sample["key"] for sample in samples] == ["case_00000_x", "case_00001_x"]
    assert [(sample["npy"], sample["y.npy"]) for sample in samples] == [(b"x", b"y")] * 2
