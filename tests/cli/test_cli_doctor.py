"""`stoker doctor`: what it says of a healthy run and of a starved one, in text, JSON and as a page, and of bad input."""

import io
import json
import os
import re
import shutil
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "page"))
from browser import CHROMIUM, look_at

ROOT = Path(__file__).resolve().parents[2]
FED, STARVED, NOT_MEASURABLE = 0, 1, 2
DOCTOR_S = 300  # a guard against hanging
RESOURCES = {"cpu decode", "cpu transform", "storage bandwidth", "storage requests", "network", "copy", "memory", "step"}
KEYS = ["verdict", "fed", "samples_per_s", "samples_per_s_needed", "gpu_idle", "bottleneck", "limits", "changes",
        "useless", "machine"]


@pytest.fixture(scope="module")
def data(stoker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("doctor") / "data"
    stoker.text("synth", folder, "--kind", "imagenet", "--count", "60", "--classes", "4")
    return folder


def doctor(stoker, data, *args, **options):
    return stoker("doctor", data, "--recipe", "imagenet-train", "--batch", 8, "--quick", *args, timeout=DOCTOR_S, **options)


def expected_status(found):
    """A machine may be too busy with other things to tell; then it has to say so."""
    if found["not_measured"]:
        assert found["fed"] is None and found["verdict"].startswith("Not measurable: ")
        return NOT_MEASURABLE
    assert found["would_stop"] is None
    assert found["fed"] == (found["gpu_idle"] < 0.05)
    return FED if found["fed"] else STARVED


@pytest.fixture(scope="module")
def healthy(stoker, data, tmp_path_factory):
    """A step so long that any machine feeds it."""
    page = tmp_path_factory.mktemp("page") / "doctor.html"
    run = tmp_path_factory.mktemp("run") / "run.json"
    run.write_text(stoker.text("run", data, "--recipe", "imagenet-train", "--batch", 8, "--threads", 1, "--json"))
    done = doctor(stoker, data, "--step", 20, "--device", "emulated:a100", "--html", page, "--measured", run,
                  "--what-if", "gpus=4", "--what-if", "step=0.0001", "--json")
    return done, json.loads(done.stdout), page


@pytest.fixture(scope="module")
def starved(stoker, data, tmp_path_factory):
    run, of_two = (tmp_path_factory.mktemp("run") / name for name in ("run.json", "of_two.json"))
    for path, accelerators in ((run, 1), (of_two, 2)):
        path.write_text(stoker.text("run", data, "--recipe", "imagenet-train", "--batch", 8, "--threads", 1, "--accelerator", 0.0001,
                                    "--accelerators", accelerators, "--json"))
    done = doctor(stoker, data, "--step", 0.0001, "--measured", run, "--measured", of_two, "--json")
    return done, json.loads(done.stdout)


def test_a_healthy_run_is_fed(healthy):
    done, found, _ = healthy
    assert done.returncode == expected_status(found), done
    assert done.stderr == ""
    assert found["bound"] == "fed" and found["bottleneck"] == "step" and found["gpu_idle"] < 0.05
    assert found["samples_per_s_needed"] == pytest.approx(8 / 20)
    assert found["samples_per_s"] == pytest.approx(8 / 20, rel=0.05)
    if not found["not_measured"]:
        assert found["verdict"].startswith("Fed: ") and found["verdict"].endswith("nothing to buy")


def test_a_starved_run_says_what_limits_it(starved):
    done, found = starved
    assert done.returncode == expected_status(found), done
    assert found["bound"] == "highly input-bound" and found["gpu_idle"] > 0.5
    assert found["bottleneck"] in RESOURCES - {"step"}
    if not found["not_measured"]:
        assert re.match(r"GPU idle \d+%: .* (is|are) the limit; next limit .* at \d+\.\dx$", found["verdict"])
    assert sum(part["share"] for part in found["gpu_time"]) == pytest.approx(1)
    # With what is too little for a part of its own.
    assert found["gpu_time"][0] == {"what": "busy", "share": pytest.approx(1 - found["gpu_idle"], abs=0.0006)}


def test_limits_ascend_and_have_names_that_scripts_know(healthy, starved):
    for found in (healthy[1], starved[1]):
        assert list(found)[:len(KEYS)] == KEYS
        limits = [limit["samples_per_s"] for limit in found["limits"]]
        assert limits == sorted(limits) and len(limits) >= 3
        assert {limit["resource"] for limit in found["limits"]} <= RESOURCES
        assert {"step"} <= {limit["resource"] for limit in found["limits"]}
        for change in found["changes"]:
            assert change["gain"] >= 0.03 or change["first_epoch_gain"] >= 0.1
            assert change["error"] >= 0 and change["change"] and change["what_if"]
        for change in found["useless"]:
            assert change["gain"] < 0.03
        assert found["machine"]["cores"] > 0 and found["machine"]["memory_bytes"] > 0
        assert found["facts"]["data"]["samples"] == 60


def test_what_if_is_predicted(healthy):
    gpus, step = healthy[1]["what_if"]
    assert gpus["what_if"] == "gpus=4" and gpus["samples_per_s_needed"] == pytest.approx(4 * 8 / 20)
    assert step["gpu_idle"] > 0.5 and step["bottleneck"] != "step" and step["gain"] > 1


def test_a_measured_run_is_compared(starved):
    run, _ = starved[1]["runs"]
    assert run["run"] == "run.json" and run["samples_per_s"] > 0 and run["predicted"] > 0 and run["differs"] is None
    assert run["error"] == pytest.approx(run["predicted"] / run["samples_per_s"] - 1)


def test_another_run_is_not_compared(healthy, starved):
    """Nothing took its batches in steps of 20 s, or more accelerators took them than GPUs were asked about."""
    run, = healthy[1]["runs"]
    assert run["error"] is None and "--accelerator" in run["differs"]
    _, of_two = starved[1]["runs"]
    assert of_two["error"] is None and of_two["differs"] == "it fed 2 accelerators, not 1"


def test_the_page_needs_nothing_else_and_repeats_the_command(healthy):
    _, found, page = healthy
    text = page.read_text()
    parsed = ElementTree.fromstring(text[text.index("<html"):])
    kinds = [chart["kind"] for chart in json.loads(parsed.find(".//*[@id='charts']").text)]
    assert {"split", "bars", "lines", "heat_map", "histogram"} <= set(kinds)
    assert "stoker doctor" in text and "--recipe imagenet-train --batch 8 --quick --step 20" in text
    assert not re.search(r'(src|href)=|url\(|@import', text)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_can_be_read_everywhere(healthy, tmp_path, width, dark):
    assert look_at(healthy[2], tmp_path, width, dark)["faults"] == []


def test_a_terminal_is_told_the_verdict_first(stoker, data):
    done = doctor(stoker, data, "--step", 0.0001)
    assert done.returncode in (STARVED, NOT_MEASURABLE) and done.stderr == ""
    first = done.stdout.splitlines()[0]
    assert first.startswith("GPU idle " if done.returncode == STARVED else "Not measurable: ")
    for heading in ("limit", "time of the GPU", "For training: ", "For preprocessing: "):
        assert heading in done.stdout


def test_an_answer_that_cannot_be_written_is_not_a_verdict(stoker, data):
    """The pipe's reader is gone: that is no starved GPU."""
    reader, writer = os.pipe()
    os.close(reader)
    done = doctor(stoker, data, "--step", 0.0001, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (NOT_MEASURABLE, "")


@pytest.mark.parametrize("args, words", [
    (("--step", "fast"), "fast"), (("--step", "mlperf:resnet50/h1000"), "mlperf:resnet50/h100"), (("--step", "-1"), "-1"),
    (("--step", "0.1", "--batch", "61"), "61"), (("--step", "0.1", "--catalogue", "nowhere.toml"), "nowhere.toml"),
    (("--step", "0.1", "--measured", "nowhere.json"), "nowhere.json"), (("--step", "0.1", "--gpus", "0"), "--gpus"),
    (("--step", "0.1", "--html", "nowhere/doctor.html"), "doctor.html"), (("--step", "replay"), "replay"),
    (("--step", "0.1", "--device", "cuda:77"), "cuda:77"), (("--step", "0.1", "--device", "tpu"), "tpu"), ((), "--step"),
    (("--step", "0.1", "--what-if", "batch=61"), "fewer than one global batch of 61"),
    (("--step", "0.1", "--what-if", "gpus=8"), "fewer than one global batch of 64"),
    (("--step", "0.1", "--what-if", "memory=1"), "a quarter of the machine's memory"),
    (("--step", "0.1", "--what-if", "prefetch=1000000"), "the least for this batch and prefetch"),
    (("--step", "0.1", "--what-if", "io-depth=2000"), "1024"), (("--step", "0.1", "--what-if", "threads=100000"), "4096"),
    (("--step", "0.1", "--batch", "8", "--global-batch", "8"), "--global-batch"),
    (("--step", "0.1", "--what-if", "coers=3"), "cores"), (("--step", "0.1", "--what-if", "cores=lots"), "cores")])
def test_bad_questions_are_refused_with_a_sentence(stoker, data, args, words):
    batch = () if "--batch" in args else ("--batch", 8)
    sentence = stoker.refusal(NOT_MEASURABLE, "doctor", data, "--recipe", "imagenet-train", "--quick", *batch, *args)
    assert words in sentence


def test_an_image_beside_a_cropped_array_is_measured_as_a_run_reads_them(stoker, data, tmp_path):
    """Only the rows under the crop are read of the array, also where an index is tried."""
    depth = 32
    with tarfile.open(tmp_path / "data.tar", "w") as tar:
        for number, image in enumerate(sorted(data.rglob("*.jpg"))):
            file = io.BytesIO()
            np.save(file, np.full((depth, 64, 64), number, np.float32))
            for name, content in ((f"{number:03}.jpg", image.read_bytes()), (f"{number:03}.volume.npy", file.getvalue())):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    toml = tmp_path / "both.toml"
    toml.write_text("""
[[view]]
name = "image"
operators = [{ op = "decode" }, { op = "random_resized_crop", size = 64 }, { op = "normalize", preset = "imagenet" }]

[[view]]
name = "volume"
field = "volume.npy"
operators = [{ op = "decode_array", shape = [-1, -1, -1] }, { op = "array_crop", size = [4, 64, 64] }]
""")
    done = stoker("doctor", tmp_path / "data.tar", "--recipe", toml, "--batch", 8, "--quick", "--step", 0.0001, "--json", timeout=DOCTOR_S)
    found = json.loads(done.stdout)
    assert done.returncode == expected_status(found), done.stderr
    facts = found["facts"]["data"]
    whole = depth * 64 * 64 * 4
    images = sum(image.stat().st_size for image in data.rglob("*.jpg")) / 60
    assert facts["read_bytes"] < images + whole / 2
    assert facts["read_bytes"] > whole * 4 / depth


def test_what_another_order_reads_is_worked_out(stoker, data, tmp_path):
    stoker.text("pack", data, tmp_path / "packed")
    facts = json.loads(doctor(stoker, tmp_path / "packed", "--step", 20, "--json").stdout)["facts"]
    windowed, = facts["data"]["other_orders"]
    assert facts["run"]["order"] == "global" and windowed["order"] == "windowed"
    assert windowed["requests"] < facts["data"]["requests"] / 2


def test_bad_data_are_refused_with_a_sentence(stoker, tmp_path):
    question = ("--recipe", "imagenet-train", "--step", "0.1", "--batch", 8)
    (tmp_path / "empty").mkdir()
    assert "empty" in stoker.refusal(NOT_MEASURABLE, "doctor", tmp_path / "empty", *question)
    assert "nowhere" in stoker.refusal(NOT_MEASURABLE, "doctor", tmp_path / "nowhere", *question)
    (tmp_path / "bad").mkdir()
    for i in range(20):
        (tmp_path / "bad" / f"{i}.jpg").write_bytes(b"no picture")
    stoker.refusal(NOT_MEASURABLE, "doctor", tmp_path / "bad", *question)


@pytest.mark.parametrize("closed, words", [("a.tar", "cannot open '{}/a.tar': Permission denied"),
                                           ("folder", "cannot open the folder '{}/folder': Permission denied"),
                                           ("folder/c0001", "contains 1 unreadable folder, which is skipped: 'c0001'")])
def test_data_without_permission_are_refused_with_a_sentence(ordinary_stoker, data, tmp_path, closed, words):
    shutil.copytree(data, tmp_path / "folder")
    (tmp_path / "a.tar").write_bytes(b"")
    (tmp_path / closed).chmod(0)
    sentence = ordinary_stoker.refusal(NOT_MEASURABLE, "doctor", tmp_path / closed.split("/")[0], "--recipe",
                                       "imagenet-train", "--step", 1)
    (tmp_path / closed).chmod(0o700)
    assert words.format(tmp_path) in sentence


@pytest.mark.parametrize("option, name", [("--catalogue", "closed/ours.toml"), ("--measured", "closed/facts.json"),
                                          ("--html", "closed/page.html")])
def test_files_without_permission_are_refused_with_a_sentence(ordinary_stoker, data, tmp_path, option, name):
    (tmp_path / "closed").mkdir(0)
    sentence = ordinary_stoker.refusal(NOT_MEASURABLE, "doctor", data, "--recipe", "imagenet-train", "--step", 1, "--batch", 8,
                                       "--quick", option, tmp_path / name)
    (tmp_path / "closed").chmod(0o700)
    assert f"{tmp_path}/closed" in sentence and "Permission denied" in sentence


def json_of(done):
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def torn(data, tmp_path_factory):
    """A quarter of the files lack their ends."""
    folder = shutil.copytree(data, tmp_path_factory.mktemp("torn") / "data")
    for number, file in enumerate(sorted(folder.rglob("*.jpg"))):
        if number % 4 == 0:
            file.write_bytes(file.read_bytes()[:3000])
    return folder


def test_data_that_no_run_would_take_are_not_called_fed(stoker, torn, tmp_path):
    done = doctor(stoker, torn, "--step", 20, "--json")
    found = json_of(done)
    bad = found["bad_samples"]
    assert done.returncode == NOT_MEASURABLE and found["fed"] is None
    assert found["verdict"].startswith("Would not run: ") and found["would_stop"] in found["verdict"]
    assert (bad["looked"], bad["bad"], bad["listed"], bad["policy"], bad["most"]) == (60, 15, 0, "substitute", 10)
    assert "stoker verify DATA --quarantine FILE" in bad["text"]
    run = stoker("run", torn, "--recipe", "imagenet-train", "--batch", 8)
    assert run.returncode == 1 and "11 bad samples, more than the 10" in run.stderr
    # As the doctor says.
    listed = tmp_path / "bad.jsonl"
    assert stoker("verify", torn, "--quarantine", listed).returncode == 1
    before = listed.read_bytes()
    assert len(before.splitlines()) == 15
    done = doctor(stoker, torn, "--step", 20, "--quarantine", listed, "--json")
    found = json_of(done)
    assert done.returncode == expected_status(found)
    assert (found["bad_samples"]["bad"], found["bad_samples"]["listed"]) == (0, 15)
    assert listed.read_bytes() == before
    assert stoker("run", torn, "--recipe", "imagenet-train", "--batch", 8, "--quarantine", listed).returncode == 0


def test_a_policy_that_stops_at_the_first_bad_sample_is_told(stoker, torn):
    done = doctor(stoker, torn, "--step", 20, "--bad-sample", "fail")
    assert done.returncode == NOT_MEASURABLE and done.stderr == ""
    assert done.stdout.startswith("Would not run: 15 of the 60 samples that were looked at are bad, and a run with --bad-sample fail")
    assert "\nBad samples: 15 of the 60 samples" in done.stdout


def test_launchers_variables_are_of_the_run_alone(stoker, data):
    env = {"RANK": "0", "WORLD_SIZE": "2"}
    assert "samples/s on one core" in stoker.text("plan", data, "--recipe", "imagenet-train", env=env)
    done = stoker("doctor", data, "--recipe", "imagenet-train", "--batch", 8, "--quick", "--step", 20, "--json", env=env,
                  timeout=DOCTOR_S)
    assert done.stderr == "" and done.returncode == expected_status(json_of(done))


def test_loader_options_are_those_of_a_run(stoker, data, tmp_path):
    """But for what a run writes and serves."""
    def options(command):
        return set(re.findall(r"^ +(--[a-z-]+)", stoker.text(command, "--help"), re.MULTILINE))

    table = {row.split("`")[3].split()[0] for row in (ROOT / "docs/options.md").read_text().splitlines()
             if row.startswith("| `") and "`--" in row}
    assert table - options("doctor") == {"--audit", "--trace", "--metrics", "--dashboard"}
    assert {"--subset", "--labels", "--decode"} <= options("doctor") & options("run")
    keys = tmp_path / "keys.txt"
    keys.write_text("".join(f"{file.relative_to(data).with_suffix('')}\n" for file in sorted(data.rglob("*.jpg"))[:20]))
    question = ("doctor", data, "--recipe", "imagenet-train", "--quick", "--step", 20, "--subset", keys, "--decode", "planar")
    assert "use a smaller batch, or tail wrap, pad or keep" in stoker.refusal(NOT_MEASURABLE, *question, "--global-batch", 32)
    done = stoker(*question, "--global-batch", 32, "--tail", "pad", "--batch-repeats", 1, "--direct", "--no-index", "--gpus", 2,
                  "--json", timeout=DOCTOR_S)
    found = json_of(done)
    assert done.returncode == expected_status(found), done
    assert found["facts"]["run"]["batch"] == 32 and found["facts"]["data"]["samples"] == 20
    assert f"--subset {keys} --decode planar --tail pad" in found["commands"][1]
    assert "--direct --no-index --accelerator 20 --accelerators 2 " in found["commands"][1]
    stoker.text(*found["commands"][1].split()[1:-1], "--batches", 1)


def test_the_catalogue_of_the_docs_is_one(stoker, data, tmp_path):
    page = (ROOT / "docs/doctor.md").read_text()
    catalogue = tmp_path / "ours.toml"
    catalogue.write_text(re.search(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[1])
    done = doctor(stoker, data, "--step", "mlperf:resnet50/h100", "--catalogue", catalogue, "--what-if",
                  "disk=our-filer network=our-ib gpu=our-gpu", "--json")
    found = json_of(done)
    assert [what_if["what_if"] for what_if in found["what_if"]] == ["disk=our-filer network=our-ib gpu=our-gpu"]
    prices = {machine["machine"]: machine["price_per_hour"] for machine in found["right_size"]["machines"]}
    assert prices["our node"] == 6.5 and prices["aws p5.48xlarge"] == 55
    catalogue.write_text('[disk."our filer"]\ngb_per_s = 1\nreads_per_s = 1\nlatency_ms = 1\n')
    sentence = stoker.refusal(NOT_MEASURABLE, "doctor", data, "--recipe", "imagenet-train", "--step", 1, "--catalogue", catalogue)
    assert "line 1" in sentence and "call it 'our-filer'" in sentence


def test_help_begins_each_sentence_with_a_capital(stoker):
    for command in ("doctor", "run", "plan"):
        docs = re.findall(r"^  --[a-z-]+(?: [^ ]+)*  +([^ ].*)$", stoker.text(command, "--help"), re.MULTILINE)
        assert docs and not [doc for doc in docs if doc[0].islower()], command
