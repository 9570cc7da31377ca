"""Files that a command writes: wherever their names lead, nothing is lost, and what cannot be written is told early."""

import copy
import json
import os
import shutil
import signal
import subprocess

import pytest
from PIL import Image

HANG_S = 60  # a guard against hanging, not a limit on speed
ENDLESS = 1_000_000_000
PROFILE = ("--accelerator", "mlperf:resnet50/h100")  # without which there is no summary


def run(data, *args):
    return ("run", data.folder, "--recipe", data.recipe, "--batch", 5, *args)


def started_with(stoker, redirections):
    """The command as a shell starts it with these redirections."""
    other = copy.copy(stoker)
    other.before = ["sh", "-c", f'exec "$@" {redirections}', "sh"]
    return other


@pytest.fixture
def one_is_bad(tmp_path):
    """A folder of eight images, one of which is none."""
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(8):
        Image.effect_noise((40, 30), 60).convert("RGB").save(folder / f"{number}.jpg")
    (folder / "5.jpg").write_text("no image")
    return folder


@pytest.mark.parametrize("mode", ["a", "w"])
def test_an_audit_to_standard_output_is_added_to_it(stoker, tiny, tmp_path, mode):
    audit = stoker.audit(tmp_path, *run(tiny))
    log = tmp_path / "log"
    log.write_text("old\n")
    with open(log, mode) as out:
        done = stoker(*run(tiny, "--audit", "/dev/stdout"), stdout=out)
    assert (done.returncode, done.stderr) == (0, "")
    kept = ["old", *audit] if mode == "a" else audit
    lines = log.read_text().splitlines()
    assert lines[:len(kept)] == kept and lines[len(kept)].startswith("30 samples")


def test_bad_samples_to_standard_output_are_added_to_it(stoker, one_is_bad, tmp_path):
    log = tmp_path / "log"
    log.write_text("old\n")
    with open(log, "a") as out:
        done = stoker("run", one_is_bad, "--recipe", "imagenet-train", "--batch", 4, "--quarantine", "/dev/stdout",
                      stdout=out)
    assert done.returncode == 0
    old, bad, report, *_ = log.read_text().splitlines()
    assert (old, json.loads(bad)["key"]) == ("old", "5") and report.startswith("8 samples")


def test_a_state_to_standard_output_stands_before_the_report(stoker, tiny, tmp_path):
    link, log = tmp_path / "link", tmp_path / "log"
    link.symlink_to("/proc/self/fd/1")
    with open(log, "w") as out:
        done = stoker(*run(tiny, "--batches", 2, "--save-state", link), stdout=out)
    assert (done.returncode, done.stderr) == (0, "") and link.is_symlink()
    state, end = json.JSONDecoder().raw_decode(log.read_text())
    assert state["batch"] == 2 and log.read_text()[end:].lstrip().startswith("10 samples")


@pytest.mark.parametrize("option", ["--save-state", "--trace", "--tune-report", "--quarantine", "--audit"])
def test_a_link_is_followed(stoker, tiny, tmp_path, option):
    link, target = tmp_path / "link", tmp_path / "there" / "file"
    target.parent.mkdir()
    link.symlink_to("there/file")  # which need not exist
    for _ in range(2):
        stoker.text(*run(tiny, option, link))
        assert link.is_symlink() and target.is_file()
        assert option == "--quarantine" or target.stat().st_size > 0
    assert not list(tmp_path.rglob("*.partial"))


def test_a_sheet_is_drawn_where_a_link_leads(stoker, tiny, tmp_path):
    link, target = tmp_path / "link.png", tmp_path / "sheet.png"
    target.write_text("old")
    link.symlink_to(target)
    stoker.text("view", tiny.folder, "--recipe", tiny.recipe, "--count", 1, "--draws", 1, "--out", link)
    assert link.is_symlink() and target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", ["--save-state", "--tune-report", "--trace", "--summary"])
def test_a_folder_is_refused_before_the_first_batch(stoker, tiny, tmp_path, option):
    audit, folder = tmp_path / "audit.jsonl", tmp_path / "folder"
    folder.mkdir()
    said = stoker.refusal(1, *run(tiny, "--audit", audit, option, folder, *(PROFILE if option == "--summary" else ())))
    assert f"cannot create '{folder}': Is a directory" in said
    assert not audit.exists()


def test_a_run_that_loses_its_trace_fails(stoker, tiny):
    done = stoker(*run(tiny, "--trace", "/dev/full"))
    assert done.returncode == 1 and done.stdout.startswith("30 samples")
    assert "the trace was not written: cannot write '/dev/full'" in done.stderr


def test_bad_samples_go_into_a_pipe(stoker, one_is_bad, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    try:
        done = stoker("run", one_is_bad, "--recipe", "imagenet-train", "--batch", 4, "--quarantine", pipe)
        lines = reader.communicate(timeout=HANG_S)[0].splitlines()
    finally:
        reader.kill()
        reader.wait()
    assert done.returncode == 0 and [json.loads(line)["key"] for line in lines] == ["5"]


def test_no_file_takes_the_place_of_a_standard_descriptor_that_is_closed(stoker, tiny, tmp_path):
    bad = tmp_path / "bad.jsonl"
    done = started_with(stoker, "<&- >&- 2>&-")("run", tiny.tar, "--recipe", tiny.recipe, "--batch", 5, "--io", "pread",
                                                "--no-index", "--quarantine", bad, env={"STOKER_LOG": "debug"})
    assert done.returncode == 1  # the report cannot be written
    assert bad.read_text() == ""


def test_a_simulation_without_standard_input_says_so(stoker):
    assert "standard input is empty" in started_with(stoker, "<&-").refusal(2, "tune-sim")


def test_a_run_whose_reader_is_gone_leaves_its_state(stoker, tiny, tmp_path):
    state = tmp_path / "at.json"
    process = stoker.start(*run(tiny, "--epochs", ENDLESS, "--save-state", state), stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=HANG_S) == 1
    assert json.loads(state.read_text())["epoch"] > 0
    stoker.text(*run(tiny, "--state", state, "--batches", 1))


@pytest.mark.parametrize("through", ["its name", "a link", "another name"])
@pytest.mark.parametrize("option", ["--audit", "--save-state", "--trace", "--tune-report"])
def test_the_data_are_not_written_over(stoker, tiny, tmp_path, option, through):
    tar, out = tmp_path / "own.tar", tmp_path / "out"
    shutil.copy(tiny.tar, tar)
    before = tar.read_bytes()
    if through == "its name":
        out = tar
    elif through == "a link":
        out.symlink_to("own.tar")
    else:
        os.link(tar, out)
    said = stoker.refusal(2, "run", tar, "--recipe", tiny.recipe, "--batch", 5, option, out)
    assert f"{option} would write over '{out}', which holds the data" in said
    assert tar.read_bytes() == before and not list(tmp_path.glob("*.partial"))


def test_a_shard_of_a_pack_is_not_written_over(stoker, tiny, tmp_path):
    stoker.text("pack", tiny.folder, tmp_path / "pack")
    shard = next((tmp_path / "pack").glob("*.tar"))
    before = shard.read_bytes()
    for more in ((), ("--labels", "folders")):
        said = stoker.refusal(2, "run", tmp_path / "pack", "--recipe", tiny.recipe, "--batch", 5, "--audit", shard, *more)
        assert "--audit would write over" in said and shard.read_bytes() == before


def test_a_run_that_is_stopped_while_it_opens_leaves_no_unfinished_state(stoker, tiny, tmp_path):
    audit, state, trace = tmp_path / "audit", tmp_path / "at.json", tmp_path / "trace.json"
    os.mkfifo(audit)  # which no process reads: opening it takes forever
    process = stoker.start(*run(tiny, "--audit", audit, "--save-state", state, "--trace", trace), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    while not os.path.exists(f"{trace}.partial"):  # which is begun after the state, and before the audit
        assert process.poll() is None
    assert os.path.exists(f"{state}.partial")
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=HANG_S) == ("", "") and process.returncode == 130
    assert not os.path.exists(f"{state}.partial") and not state.exists()
