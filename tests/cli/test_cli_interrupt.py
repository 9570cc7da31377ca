"""Ctrl-C ends the command soon, wherever it is, with status 130. Pipes tell the tests how far it got."""

import array
import fcntl
import json
import os
import re
import signal
import subprocess
import termios
import urllib.request
from pathlib import Path

import pytest

ENDLESS = 1_000_000_000
HANG_S = 20  # a guard against hanging, not a limit on speed


def interrupt(process):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert out == ""
    return err


def start_run(stoker, data, tmp_path, *args):
    """A run that has delivered its first batch, and the open audit that it goes on writing."""
    fifo = tmp_path / "audit"
    os.mkfifo(fifo)
    process = stoker.start("run", data.folder, "--recipe", data.recipe, "--batch", 4, "--epochs", ENDLESS, "--audit", fifo,
                           "--json", *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    audit = open(fifo)
    assert audit.readline()
    return process, audit


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("args", [("--threads", 1, "--prefetch", 1), ("--accelerator", "0.001"), ("--accelerator", "80000")],
                         ids=["waiting for batches", "running", "inside a long step"])
def test_a_run_stops(stoker, photographs, tmp_path, args, number):
    process, audit = start_run(stoker, photographs, tmp_path, *args)
    with audit:
        process.send_signal(number)
        delivered = 1 + len(audit.read().splitlines())  # to the end, so that the run is not held up by us
    out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    report = json.loads(out)
    assert report["samples"] == delivered and report["samples_per_s"] > 0 and report["stages"]
    assert err == f"stoker: stopped after {delivered // 4} batch{'es' * (delivered > 4)}\n"


def test_a_run_that_is_stopped_leaves_all_that_it_was_asked_for(stoker, photographs, tmp_path):
    state, page = tmp_path / "at.json", tmp_path / "tuning.html"
    process, audit = start_run(stoker, photographs, tmp_path, "--save-state", state, "--tune-report", page)
    with audit:
        process.send_signal(signal.SIGINT)
        lines = [json.loads(line) for line in audit.read().splitlines()]
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, json.loads(out)["samples"]) == (130, 1 + len(lines))
    assert err.startswith("stoker: stopped after ") and err.endswith(f"; resume with --state {state}\n")
    assert page.read_text().rstrip().endswith("</html>")
    at = json.loads(state.read_text())
    assert at["epoch"] * 12 + at["batch"] * 4 == 1 + len(lines)
    followed = tmp_path / "followed.jsonl"
    stoker.text("run", photographs.folder, "--recipe", photographs.recipe, "--batch", 4, "--batches", 1, "--state", state,
                "--audit", followed)
    first = json.loads(followed.read_text().splitlines()[0])
    assert first["epoch"] * 12 + first["position"] == 1 + len(lines)


def test_a_stopped_run_says_its_rate_to_people_too(stoker, photographs, tmp_path):
    fifo = tmp_path / "audit"
    os.mkfifo(fifo)
    process = stoker.start("run", photographs.folder, "--recipe", photographs.recipe, "--batch", 4, "--epochs", ENDLESS, "--audit",
                           fifo, "--accelerator", "80000", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(fifo) as audit:
        assert audit.readline()
        process.send_signal(signal.SIGINT)
        audit.read()
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, err) == (130, "stoker: stopped after 1 batch\n")
    assert re.search(r"^4 samples in .* samples/s, ", out)
    assert re.search(r"^The accelerator was busy \d", out, re.M)


def test_a_run_stops_while_it_waits_for_its_first_batch(stoker, photographs, tmp_path):
    """One that takes minutes: of the same twelve images, again and again."""
    recipe = tmp_path / "small.toml"
    recipe.write_text('[[view]]\nname = "image"\noperators = [{ op = "decode" }, { op = "resize", size = [1, 1] }]\n')
    state = tmp_path / "at.json"
    process = stoker.start("run", photographs.folder, "--recipe", recipe, "--batch", 1_000_000, "--tail", "wrap", "--threads", 1,
                           "--memory", "4GiB", "--metrics", 0, "--json", "--save-state", state, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    address = re.search(r"http://\S+", process.stderr.readline())[0]
    decoding = waiting = 0.0
    while decoding == 0 or waiting == 0:
        assert process.poll() is None
        with urllib.request.urlopen(address) as page:
            metrics = page.read().decode()
        decoding, waiting = (float(re.search(rf"^stoker_{name}_seconds_total\{{.*\}} (\S+)$", metrics, re.M)[1])
                             for name in ("worker_busy", "consumer_wait"))
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, err) == (130, f"stoker: stopped after 0 batches; resume with --state {state}\n")
    report = json.loads(out)
    assert (report["samples"], report["first_batch_s"]) == (0, 0) and report["wait_s"] > 0
    assert json.loads(state.read_text())["batch"] == 0


def test_a_second_signal_ends_a_run_that_cannot_stop(stoker, tiny, tmp_path):
    fifo = tmp_path / "audit"
    os.mkfifo(fifo)
    process = stoker.start("run", tiny.folder, "--recipe", tiny.recipe, "--batch", 4 * tiny.count, "--tail", "wrap", "--epochs",
                           ENDLESS, "--audit", fifo, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    audit = os.open(fifo, os.O_RDONLY)
    fcntl.fcntl(audit, fcntl.F_SETPIPE_SZ, 4096)
    waiting = array.array("i", [0])
    while waiting[0] < 4096:  # it writes a batch, for which there is no room, and we do not make any
        assert process.poll() is None
        fcntl.ioctl(audit, termios.FIONREAD, waiting)
    process.send_signal(signal.SIGTERM)
    interrupt(process)
    os.close(audit)


def test_opening_stops(stoker, photographs, tmp_path):
    recipe = tmp_path / "recipe.toml"
    os.mkfifo(recipe)
    process = stoker.start("run", photographs.folder, "--recipe", recipe, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(recipe, "w"):  # returns once the command reads it; there is never anything to read
        assert interrupt(process) == ""


@pytest.mark.parametrize("command", ["pack", "index", "verify", "info"])
def test_a_job_stops_while_it_opens_its_data(stoker, tiny, tmp_path, command):
    """As many shards as take minutes to open: the same one, again and again."""
    names = tmp_path / "list"
    names.write_text(f"{tiny.tar}\n" * 500_000)
    process = stoker.start(command, names, *([tmp_path / "out"] if command == "pack" else []),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    read = 0
    while read < names.stat().st_size:  # the list was read
        assert process.poll() is None
        io = Path(f"/proc/{process.pid}/io").read_text()
        read = int(io.split("rchar: ")[1].split()[0])
    assert interrupt(process).startswith("stoker: stopped")
    assert not (tmp_path / "out").exists()


def test_synth_stops_and_leaves_nothing_behind(stoker, tmp_path):
    out = tmp_path / "out"
    process = stoker.start("synth", out, "--kind", "tiny", "--count", ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not out.exists():
        assert process.poll() is None
    assert f"nothing is left of '{out}'" in interrupt(process)
    assert not out.exists() or not any(out.iterdir())
