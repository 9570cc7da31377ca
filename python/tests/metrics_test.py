"""What a loader measures of itself, and that the page about it says so."""

import pickle
import re
import urllib.request
from pathlib import Path

import pytest

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
    assert metrics["fields_ns"] == 0  # labels are not timed


def scraped(loader):
    with urllib.request.urlopen(f"http://{loader.metrics_address}/metrics") as answer:
        return answer.read().decode()


def test_metrics_are_served_while_the_loader_lives(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, metrics_address=0, name="train", rank=1, world=2) as loader:
        assert len(list(loader)) == 3
        assert 'stoker_samples_total{loader="train",rank="1"} 24\n' in scraped(loader)
        with stoker.Loader(folder, recipe, batch=8, metrics_address=loader.metrics_address) as other:
            assert other.metrics_address == loader.metrics_address
            assert 'stoker_samples_total{loader="0",rank="0"} 0\n' in scraped(loader)
            with pytest.raises(stoker.Error, match="another loader .*'train'") as caught:
                stoker.Loader(folder, recipe, batch=8, metrics_address=loader.metrics_address, name="train")
            assert caught.value.kind == "usage"
        copy = pickle.loads(pickle.dumps(loader))
        assert copy.metrics_address is None
        copy.close()
    assert stoker.Loader(folder, recipe, batch=8).metrics_address is None


@pytest.mark.parametrize("address, kind, message", [
    ("here", "usage", "'here' is not an address"),
    (-1, "usage", "metrics_address is -1"),
    (65536, "usage", "metrics_address is 65536"),
    (True, "usage", "metrics_address is True"),
    ("192.0.2.1:9100", "io", "cannot serve metrics at 192.0.2.1:9100"),
])
def test_what_cannot_be_served_at_is_refused_with_a_sentence(folder, recipe, address, kind, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        stoker.Loader(folder, recipe, batch=8, metrics_address=address)
    assert caught.value.kind == kind
