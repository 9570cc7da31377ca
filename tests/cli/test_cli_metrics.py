"""`stoker run --metrics`: what Prometheus gets to read, while it runs and beside what the run reports at its end."""

import http.client
import json
import re
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

# docs/reports.md's keys, and where the same stands among the metrics.
SAME = {
    "samples": "stoker_samples_total", "bytes_read": "stoker_read_bytes_total", "bad_samples": "stoker_bad_samples_total",
    "fallback_samples": "stoker_jpeg_fallbacks_total", "bytes_to_device": "stoker_to_device_bytes_total",
    "wait_s": "stoker_consumer_wait_seconds_total", "first_batch_s": "stoker_first_batch_seconds",
}
ROUNDED = 1 + 1e-9  # more than whole nanoseconds lose on their way through decimals
KNOBS = ("threads", "prefetch", "io_depth", "transfer_index")

SERIES = re.compile(r'(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?P<labels>[^}]*)\})? (?P<value>\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


def parse(text):
    """By name and labels its value; fails for what Prometheus would not take."""
    types, helps, series, family = {}, {}, {}, None
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            seen = {"HELP": helps, "TYPE": types}[what]
            assert name not in seen, f"{name} has two lines of {what}"
            seen[name] = rest
            family = name
            continue
        match = SERIES.fullmatch(line)
        assert match, line
        labels = match["labels"] or ""
        pairs = LABEL.findall(labels)
        assert ",".join(f'{name}="{value}"' for name, value in pairs) == labels, line
        assert len({name for name, _ in pairs}) == len(pairs), line
        name = match["name"]
        suffixed = types[family] in ("summary", "histogram") and name.startswith(family)
        assert suffixed or name == family, f"{name} stands among those of {family}"
        key = (name, frozenset(pairs))
        assert key not in series, f"{line} comes twice"
        series[key] = float(match["value"])
    assert types.keys() == helps.keys()
    for name, kind in types.items():
        if name.startswith("stoker_"):
            assert kind in ("counter", "gauge") and (kind == "counter") == name.endswith("_total"), name
            assert helps[name], name
    return types, series


def value_of(series, metric, /, **labels):
    (value,) = [value for (name, has), value in series.items() if name == metric and set(labels.items()) <= has]
    return value


class Run:
    """One that goes on until it was looked at."""

    def __init__(self, stoker, *args):
        self.process = stoker.start(*args, "--metrics", "127.0.0.1:0", "--json", stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        line = self.process.stderr.readline()
        match = re.fullmatch(r"stoker: metrics are served at (http://127\.0\.0\.1:(\d+)/metrics)\n", line)
        assert match, line
        self.url, self.port = match[1], int(match[2])

    def scrapes(self):
        """What is served of the loader, until it has closed: the server goes on as long as the process."""
        while (text := self.scrape()) is not None:
            types, series = parse(text)
            if any(name == "stoker_samples_total" for name, _ in series):
                yield types, series

    def scrape(self):
        """Its text; None once it is over."""
        try:
            with urllib.request.urlopen(self.url, timeout=60) as answer:
                assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
                return answer.read().decode()
        except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
            return None

    def report(self):
        stdout, stderr = self.process.communicate(timeout=60)
        assert (self.process.returncode, stderr) == (0, "")
        return json.loads(stdout)


def run_args(data, *args, recipe="cifar-train"):
    return ("run", data, "--recipe", recipe, "--batch", 5, *args)


def test_a_run_is_scraped_while_it_runs_and_ends_where_it_was_going(stoker, tiny):
    run = Run(stoker, *run_args(tiny.folder, "--epochs", 20, "--accelerator", "0.01", "--threads", 2, "--prefetch", 3))
    scrapes = list(run.scrapes())
    report = run.report()
    assert len(scrapes) >= 2
    types, last = scrapes[-1]
    assert 0 < value_of(last, "stoker_samples_total") <= report["samples"] == 600
    for key, name in SAME.items():
        assert value_of(last, name) <= report[key] * ROUNDED, key
    for knob in KNOBS:
        assert value_of(last, "stoker_knob", name=knob) == report[knob]
    for stage in report["stages"]:
        served = value_of(last, "stoker_stage_busy_seconds_total", stage=stage["name"], side=stage["side"])
        assert 0 < served <= stage["seconds"] * ROUNDED
    workers = {value for (name, labels), _ in last.items() if name == "stoker_worker_busy_seconds_total"
               for label, value in labels if label == "worker"}
    assert workers == {"0", "1"}
    for (_, before), (_, after) in zip(scrapes, scrapes[1:]):
        assert all(after[key] >= value for key, value in before.items() if types.get(key[0]) == "counter")


def test_a_scrape_just_before_the_end_has_the_reports_figures(stoker, tiny):
    """The last batch is delivered, and the accelerator is at work on it for long enough to be looked at."""
    run = Run(stoker, *run_args(tiny.folder, "--epochs", 1, "--accelerator", "0.5"))
    *_, (_, last) = run.scrapes()
    figures = {key: value_of(last, name) for key, name in SAME.items()}
    report = run.report()
    assert figures == {key: pytest.approx(report[key], rel=1e-6) for key in SAME}


def test_stages_on_a_device_are_served_as_such(stoker, photographs):
    run = Run(stoker, *run_args(photographs.folder, "--epochs", 30, "--device", "emulated:h100", "--transfer-index", 2,
                                recipe="imagenet-train"))
    *_, (_, last) = run.scrapes()
    report = run.report()
    assert [(stage["name"], stage["side"]) for stage in report["stages"]] == [
        ("decode", "cpu"), ("geometry", "cpu"), ("color", "device")]
    assert value_of(last, "stoker_knob", name="transfer_index") == 2
    if value_of(last, "stoker_samples_total"):
        assert value_of(last, "stoker_stage_busy_seconds_total", stage="color", side="device") > 0


def test_the_rank_is_a_label(stoker, tiny):
    run = Run(stoker, *run_args(tiny.folder, "--rank", 1, "--world", 2, "--accelerator", "0.2"))
    series = parse(run.scrape())[1]
    run.process.kill()
    assert all(("rank", "1") in labels for name, labels in series if name.startswith("stoker_"))


def test_the_audit_is_the_same(stoker, tiny, tmp_path):
    args = run_args(tiny.folder, "--epochs", 2)
    run = Run(stoker, *args, "--audit", tmp_path / "served")
    run.report()
    assert (tmp_path / "served").read_text().splitlines() == stoker.audit(tmp_path, *args)


def test_an_address_in_use_is_a_failure_with_a_sentence(stoker, tiny):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        sentence = stoker.refusal(1, *run_args(tiny.folder, "--metrics", f"127.0.0.1:{port}"))
        assert f"127.0.0.1:{port}" in sentence and "in use" in sentence
        assert stoker.refusal(1, *run_args(tiny.folder, "--metrics", port)) == sentence


@pytest.mark.parametrize("address", ["", "here", "127.0.0.1:65536", "example.org:80", ":9100", "9100,9101"])
def test_what_is_no_address_is_bad_usage(stoker, tiny, address):
    assert "--metrics" in stoker.refusal(2, *run_args(tiny.folder, "--metrics", address))
