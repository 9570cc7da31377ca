"""`stoker run` and its tuner: what it says of what it does, and that the user has the last word."""

import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import pytest

USAGE, FAILURE = 2, 1

# Long enough for a few windows, of half a second to two seconds each: 900 steps of 5 ms.
TRAINS = ("--recipe", "cifar-train", "--batch", "8", "--epochs", "900", "--batches", "900", "--accelerator", "0.005")


@pytest.fixture(scope="module")
def data(stoker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning") / "data"
    assert stoker("synth", folder, "--kind", "tiny", "--count", "200", "--classes", "4").returncode == 0
    return folder


def test_each_move_is_told_with_its_time_and_its_reason_and_drawn(stoker, data, tmp_path):
    page = tmp_path / "tuning.html"
    done = stoker("run", data, *TRAINS, "--explain", "--json", "--tune-report", page)
    assert done.returncode == 0, done.stderr
    moves = [line.removeprefix("stoker: ").strip() for line in done.stderr.splitlines()]
    assert all(" s: " in move for move in moves), done.stderr
    moves = [move for move in moves if "other loader" not in move]  # there may be some on this machine
    assert "begins with" in moves[0] and "samples/s" in moves[0]
    tuning = json.loads(done.stdout)["tuning"]
    assert tuning["windows"] >= 1
    assert tuning["why"] in moves[-1]
    text = page.read_text()  # a browser can read it
    parsed = ElementTree.fromstring(text[text.index("<html"):])
    assert parsed.tag.endswith("html")
    charts = json.loads(parsed.find(".//*[@id='charts']").text)
    assert [chart["kind"] for chart in charts] == ["lines", "heat_map"]
    assert len(charts[0]["panels"][0]["points"]) >= 1
    assert "samples/s" in text and "batches of 8" in text


def test_without_being_asked_it_says_nothing_but_in_the_end(stoker, data):
    text = stoker.text("run", data, *TRAINS)
    assert "Tuning, after " in text


def test_of_a_run_that_was_too_short_to_tune_there_is_a_report_too(stoker, data, tmp_path):
    page = tmp_path / "tuning.html"
    found = stoker.json("run", data, "--recipe", "cifar-train", "--batch", "8", "--tune-report", page)
    assert found["tuning"] == {"windows": 0, "settled": False, "why": ""}
    assert "</html>" in page.read_text()


def test_a_report_that_cannot_be_written_is_known_before_the_work(stoker, data, tmp_path):
    sentence = stoker.refusal(FAILURE, "run", data, *TRAINS, "--tune-report", tmp_path / "nowhere" / "tuning.html")
    assert "tuning.html" in sentence


def test_knobs_that_are_given_stay_as_they_are(stoker, data):
    found = stoker.json("run", data, *TRAINS, "--threads", "1", "--prefetch", "3")
    assert (found["threads"], found["prefetch"]) == (1, 3)
    assert found["tuning"]["windows"] >= 1


def test_nothing_is_tuned_where_all_is_given_or_tuning_is_off(stoker, data):
    few = ("--recipe", "cifar-train", "--batch", "8")
    given = ("--threads", "1", "--prefetch", "3", "--io-depth", "8")
    assert stoker.json("run", data, *few)["tuning"] is not None
    assert stoker.json("run", data, *few, *given)["tuning"] is None
    off = stoker("run", data, *few, "--tune", "off", "--explain", "--json")
    assert off.stderr == "" and json.loads(off.stdout)["tuning"] is None
    assert json.loads(off.stdout)["prefetch"] == 2


def test_there_are_three_ways_to_tune(stoker, data):
    sentence = stoker.refusal(USAGE, "run", data, *TRAINS, "--tune", "often")
    assert "often" in sentence and "once" in sentence


def test_the_samples_are_the_same(stoker, data, tmp_path):
    audits = [tmp_path / "on", tmp_path / "off"]
    assert stoker.json("run", data, *TRAINS, "--audit", audits[0])["tuning"]["windows"] >= 1
    stoker.json("run", data, *TRAINS[:-2], "--audit", audits[1], "--tune", "off")
    assert audits[0].read_bytes() == audits[1].read_bytes() != b""


def test_what_was_found_is_kept_for_the_next_run(stoker, data, tmp_path, monkeypatch):
    monkeypatch.setitem(stoker.env, "STOKER_CACHE_DIR", str(tmp_path / "cache"))
    once = ("run", data, "--recipe", "cifar-train", "--batch", 8, "--accelerator", 0.002, "--tune", "once", "--explain")
    few_knobs = ("--io-depth", 8, "--prefetch", 2)
    two_minutes = ("--batches", 60_000)

    def told_until(words, done=lambda: True):
        """What a run says until the line that has these words; then, when it is done, it is stopped."""
        process = stoker.start(*once, *few_knobs, *two_minutes, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        told = ""
        for line in process.stderr:
            told += line
            if words in line:
                break
        until = time.monotonic() + 30  # on a busy machine windows are long
        while not done() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait()
        return told

    # With few knobs to choose from it settles after some seconds, and keeps them.
    assert "stays with" in told_until("stays with", done=lambda: any(tmp_path.glob("cache/tuning/*")))
    kept = list((tmp_path / "cache" / "tuning").iterdir())
    assert len(kept) == 1 and kept[0].suffix == ".txt"
    assert "the best when this was last run on this machine" in told_until("begins with")

    # What the user gives counts all the same.
    kept[0].write_text(re.sub(r"prefetch \d+", "prefetch 1", kept[0].read_text()))
    told = stoker(*once, "--io-depth", 8, "--prefetch", 3, "--batches", 50, "--json")
    assert json.loads(told.stdout)["prefetch"] == 3

    kept[0].write_text(kept[0].read_text()[:40])
    again = told_until("begins with")
    assert "begins with" in again and "last run on this machine" not in again


def test_a_run_says_that_another_loader_of_this_host_has_cores(stoker, data):
    """Another process with a loader that may use them all."""
    other = stoker.start("run", data, "--recipe", "cifar-train", "--batch", 8, "--epochs", 10**9, "--explain",
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert other.stderr.readline()  # it is at work
    told = stoker("run", data, "--recipe", "cifar-train", "--batch", 8, "--batches", 400, "--explain").stderr
    assert re.search(r"^stoker: .* s: \d+ other loaders? of this host uses? the same \d+ cores?: this one may use \d+ threads?$", told,
                     re.M), told
