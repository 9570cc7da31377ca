"""What `stoker run` says while it runs, and of what it did when: lines of epochs, --dashboard, --trace."""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "page"))
from browser import CHROMIUM, look_at


def run_args(data, *args, recipe="cifar-train"):
    return ("run", data, "--recipe", recipe, "--batch", 5, *args)


def test_each_epoch_ends_with_a_line(stoker, tiny):
    lines = stoker.text(*run_args(tiny.folder, "--epochs", 3, "--accelerator", "0.001")).splitlines()
    for epoch, line in enumerate(lines[:3]):
        assert re.match(rf"epoch {epoch}: 30 samples, [\d,.]+ samples/s, [\d.]+ ms per step\. .+ (is|are) the limit", line), line


def test_json_has_the_report_of_all_and_of_each_epoch(stoker, tiny):
    found = stoker.json(*run_args(tiny.folder, "--epochs", 2, "--accelerator", "0.002"))
    assert [report["epoch"] for report in found["epoch_reports"]] == [0, 1]
    report = found["report"]
    assert report["samples"] == found["samples"] == 60
    assert 0 < report["step_s"] and report["bottleneck"] in {limit["resource"] for limit in report["limits"]}
    assert report["samples_per_s_needed"] == pytest.approx(5 / report["step_s"], rel=0.01)


def test_a_run_without_a_step_has_nothing_to_feed(stoker, photographs):
    text = stoker.text("run", photographs.folder, "--recipe", "imagenet-train", "--batch", 4, "--threads", 1)
    assert re.search(r"There is no step to feed: (CPU decode|CPU transform|storage requests) (is|are) the limit\.", text), text


def test_an_emulated_accelerators_step_is_not_kept_as_a_trainings(stoker, tiny, tmp_path):
    stoker.text(*run_args(tiny.folder, "--epochs", 10, "--accelerator", "0.001"), env={"STOKER_CACHE_DIR": str(tmp_path)})
    assert not (tmp_path / "steps").exists()


class Traced:
    """A trace as a viewer reads it: rows by name, of events in the order of time that overlap only where one contains the
    other."""

    def __init__(self, path):
        trace = json.loads(path.read_text())
        self.dropped = trace["otherData"]["dropped_events"]
        names, self.rows, last = {}, {}, -1.0
        for event in trace["traceEvents"]:
            assert event["pid"] == 0
            if event["ph"] == "M":
                if event["name"] == "thread_name":
                    names[event["tid"]] = event["args"]["name"]
                continue
            assert event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= last, event
            last = event["ts"]
            self.rows.setdefault(names[event["tid"]], []).append(event)
        for row, events in self.rows.items():
            under_way = []
            for event in events:
                end = event["ts"] + event["dur"]
                while under_way and under_way[-1] <= event["ts"] + 0.002:
                    under_way.pop()
                assert not under_way or end <= under_way[-1] + 0.002, (row, event)
                under_way.append(end)

    def count(self, name, row=""):
        return sum(event["name"] == name for known, events in self.rows.items() if known.startswith(row) for event in events)


def test_a_trace_has_rows_for_workers_reads_and_batches(stoker, tiny, tmp_path):
    path = tmp_path / "trace.json"
    audit = stoker.audit(tmp_path, *run_args(tiny.folder, "--epochs", 2))
    args = run_args(tiny.folder, "--epochs", 2, "--threads", 2, "--trace", path, "--accelerator", "0.001")
    assert stoker.audit(tmp_path, *args) == audit
    traced = Traced(path)
    assert traced.dropped == 0
    assert traced.count("sample", "worker ") == 60 and traced.count("batch", "batch ") == 12
    assert traced.count("wait", "consumer") == traced.count("step", "consumer") == 12
    assert traced.count("read", "read ") >= 1
    assert {event["name"] for row, events in traced.rows.items() if row.startswith("batch ") for event in events} >= {
        "batch", "reading", "working", "in use"}


def test_a_trace_has_the_devices_work(stoker, photographs, tmp_path):
    path = tmp_path / "trace.json"
    stoker.text("run", photographs.folder, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, "--trace", path,
                "--device", "emulated:h100", "--transfer-index", 2)
    traced = Traced(path)
    assert traced.count("kernels", "device") == 6 and traced.count("hand over", "worker ") == 6


def test_a_trace_that_cannot_be_written_is_told_before_the_work(stoker, tiny, tmp_path):
    sentence = stoker.refusal(1, *run_args(tiny.folder, "--trace", tmp_path / "nowhere" / "trace.json"))
    assert "nowhere" in sentence
    assert "--trace" in stoker.refusal(2, *run_args(tiny.folder, "--trace", ""))


class Dashboard:
    """A run that goes on until its page was looked at."""

    def __init__(self, stoker, *args):
        self.process = stoker.start(*args, "--dashboard", "127.0.0.1:0", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        match = re.fullmatch(r"stoker: the dashboard is at (http://127\.0\.0\.1:\d+/)\n", line)
        assert match, line
        self.url = match[1]

    def get(self, path=""):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            assert answer.status == 200 and answer.headers["Cache-Control"] == "no-store"
            return answer.headers["Content-Type"], answer.read().decode()


def test_a_dashboard_shows_a_run_while_it_goes_on(stoker, tiny):
    run = Dashboard(stoker, *run_args(tiny.folder, "--epochs", 10_000, "--accelerator", "0.005"))
    kind, page = run.get()
    assert kind.startswith("text/html") and "fetch('dashboard.json'" in page
    assert "http://www.w3.org/" in page and not re.search(r"(src|href)=\"", page)
    before, loader = None, {"samples": 0}
    while before is None or loader["samples"] <= before:  # it is fed from what goes on
        kind, text = run.get("dashboard.json")
        (loader,) = json.loads(text)["loaders"]
        before = loader["samples"] if before is None else before
    assert kind == "application/json" and loader["rank"] == 0
    assert loader["report"]["bottleneck"] is None or loader["report"]["wait"].keys() >= {"storage", "cpu decode"}
    assert "stoker_samples_total" in run.get("metrics")[1]
    run.process.kill()


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, which ./dev test --full installs")
@pytest.mark.parametrize("width, dark", [(400, True), (1200, False)])
def test_a_dashboard_can_be_read_everywhere_and_is_never_loaded_anew(stoker, tiny, tmp_path, width, dark):
    run = Dashboard(stoker, *run_args(tiny.folder, "--epochs", 10_000, "--accelerator", "0.005"))
    page = tmp_path / "dashboard.html"
    page.write_text(run.get()[1].replace("fetch('dashboard.json'", f"fetch('{run.url}dashboard.json'"))
    four_figures = "(window.seen ??= new Set()).add(document.querySelector('dl').textContent).size > 3"
    seen = look_at(page, tmp_path, width, dark, ready=four_figures)
    run.process.kill()
    assert seen["faults"] == [] and (seen["charts"], seen["dark"]) == (2, dark)


@pytest.mark.parametrize("address", ["", "here", "127.0.0.1:65536"])
def test_what_is_no_address_is_bad_usage(stoker, tiny, address):
    assert "--dashboard" in stoker.refusal(2, *run_args(tiny.folder, "--dashboard", address))
