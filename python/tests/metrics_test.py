"""What a loader measures of itself, and that the page about it says so."""

import re
from pathlib import Path

import stoker
from stoker import _testing

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"


def test_the_page_lists_every_metric_as_the_table_has_it():
    rows = re.findall(r"^\| `(\w+)` \| (counter|gauge|knob) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    assert rows == _testing.metrics()


def test_a_loader_has_every_metric_in_the_tables_order(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        assert list(loader.metrics()) == [name for name, _, _ in _testing.metrics()]


def test_counters_never_go_down_and_knobs_are_what_was_set(folder, recipe):
    counters = [name for name, kind, _ in _testing.metrics() if kind == "counter"]
    with stoker.Loader(folder, recipe, batch=4, threads=2, prefetch=3) as loader:
        before = loader.metrics()
        for number, _ in enumerate(loader.epoch(0)):
            loader.set(threads=1 + number % 3, io_depth=1 + number)
            now = loader.metrics()
            assert all(now[name] >= before[name] for name in counters)
            assert (now["threads"], now["prefetch"], now["io_depth"]) == (1 + number % 3, 3, 1 + number)
            before = now
    after = loader.metrics()
    assert after["consumer_steps"] == after["batches"] == 12
    assert after["reads_in_flight"] == 0


def test_workers_have_times_of_their_own(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, threads=3) as loader:
        list(loader.epoch(0))
    metrics, workers = loader.metrics(), loader.worker_times()
    assert len(workers) == 3 and all(list(times) == ["busy_ns", "idle_ns"] for times in workers)
    assert sum(times["busy_ns"] for times in workers) == metrics["worker_busy_ns"]
    assert sum(times["idle_ns"] for times in workers) == metrics["worker_idle_ns"]
    assert metrics["decode_ns"] + metrics["geometry_color_ns"] <= metrics["worker_busy_ns"]
