"""What a loader says about a training: reports, headspace, traces, the dashboard, TensorBoard's scalars."""

import json
import logging
import pickle
import urllib.request
from pathlib import Path

import pytest

import stoker
import stoker.tensorboard
import stoker.torch

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports.md"
RESOURCES = {"cpu decode", "cpu transform", "storage bandwidth", "storage requests", "network", "copy", "memory", "step"}
CAUSES = ["storage", "network", "cpu decode", "cpu transform", "copy", "device"]


def test_a_report_has_what_the_page_says(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        before = loader.report()
        assert (before.bottleneck, before.limits, before.steps) == (None, [], 0)
        for _ in loader.epoch(0):
            pass
        report = loader.report(epoch=0)
    assert (report.epoch, report.samples, report.headspace) == (0, 48, None)
    assert report.bottleneck in RESOURCES and report.limits[0]["resource"] == report.bottleneck
    assert list(report.wait) == CAUSES and sum(report.wait.values()) == pytest.approx(1)
    assert report.verdict in str(report) and repr(report) == f"Report({report.verdict!r})"
    assert report.as_dict() == {name: getattr(report, name) for name in report.as_dict()}
    table = PAGE.read_text().split("## What a loader reports")[1].split("\n## ")[0]
    for name in report.as_dict():
        assert f"`{name}`" in table, name


def test_only_epochs_that_ran_have_a_report(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        with pytest.raises(stoker.Error, match="epoch 0: none has begun") as caught:
            loader.report(epoch=0)
        assert caught.value.kind == "usage"
        list(loader.epoch(3))
        assert loader.report(3).epoch == 3
        with pytest.raises(stoker.Error, match="the last is 3"):
            loader.report(epoch=0)
        with pytest.raises(stoker.Error):
            loader.report(epoch=-1)


def test_each_epoch_has_a_line_in_the_log(folder, recipe, caplog):
    caplog.set_level(logging.INFO, "stoker")
    with stoker.Loader(folder, recipe, batch=8, tune="off") as loader:
        for epoch in range(2):
            list(loader.epoch(epoch))
    lines = [record.message for record in caplog.records if record.message.startswith("epoch ")]
    assert [line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1"]
    assert all("48 samples" in line and "the limit" in line for line in lines)


def kept_step():
    import os

    folder = Path(os.environ["STOKER_CACHE_DIR"]) / "steps"
    return [json.loads(path.read_text()) for path in folder.glob("*.json")] if folder.exists() else []


def test_headspace_gives_a_batch_again_and_nothing_else_changes(folder, recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_CACHE_DIR", str(tmp_path / "cache"))
    options = {"batch": 8, "seed": 3}
    with stoker.Loader(folder, recipe, audit=tmp_path / "plain", **options) as loader:
        list(loader.epoch(0))
    with stoker.Loader(folder, recipe, audit=tmp_path / "replayed", **options) as loader:
        batches, again, lengths, held = loader.epoch(0), 0, [], None
        for number, batch in enumerate(batches):
            if loader.replays:
                again += 1
                assert (batch.position[0], loader.state_dict()) == held
                continue
            held = batch.position[0], loader.state_dict()
            lengths.append(len(batches))
            if number == 1:
                loader.headspace(steps=8)
        report = loader.report()
        assert loader.metrics()["batches"] == 6
    assert again == 8 and lengths == [5, 4, 3, 2, 1, 0]
    assert (tmp_path / "replayed").read_text() == (tmp_path / "plain").read_text()
    assert report.headspace["steps"] == 6 and 0 < report.headspace["step_s_low"] <= report.headspace["step_s_high"]
    assert report.headspace["loading_s"] >= 0 and "With its batch ready" in str(report)
    (kept,) = kept_step()
    assert (kept["how"], kept["count"], kept["batch"]) == ("replay", 6, 8)


@pytest.mark.parametrize("steps", [3, 0, -1, 2.5, "many"])
def test_headspace_takes_a_few_steps_at_least(folder, recipe, steps):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        with pytest.raises((stoker.Error, TypeError)):
            loader.headspace(steps=steps)


def test_the_loader_for_torch_has_the_same(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8) as loader:
        loader.headspace(steps=4)
        seen = [(loader.replays, image.data_ptr()) for image, _ in loader.epoch(0)]
        assert [again for again, _ in seen] == [False] + 4 * [True] + 5 * [False]
        assert len({place for _, place in seen[:5]}) == 1
        assert loader.report(0).samples == 48 and loader.report().headspace["steps"] == 3


def test_a_trace_is_there_when_the_loader_has_closed(folder, recipe, tmp_path):
    path = tmp_path / "trace.json"
    with stoker.Loader(folder, recipe, batch=8, trace=path, name="train", rank=1, world=2) as loader:
        list(loader.epoch(0))
        assert not path.exists()
        copy = pickle.loads(pickle.dumps(loader))  # which traces nothing: both would write to the same file
        copy.close()
    trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    assert events[0]["args"]["name"] == "stoker train, rank 1" and {event["pid"] for event in events} == {1}
    assert sum(event["name"] == "batch" for event in events) == 3
    with pytest.raises(stoker.Error, match="nowhere"):
        stoker.Loader(folder, recipe, batch=8, trace=tmp_path / "nowhere" / "trace.json")


def test_a_dashboard_is_served_while_the_loader_lives(folder, recipe):
    def fetched(path):
        with urllib.request.urlopen(f"http://{loader.dashboard_address}/{path}") as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    with stoker.Loader(folder, recipe, batch=8, dashboard_address=0, name="train") as loader:
        assert loader.metrics_address is None
        list(loader.epoch(0))
        kind, page = fetched("")
        assert kind.startswith("text/html") and "dashboard.json" in page
        kind, figures = fetched("dashboard.json")
        (served,) = json.loads(figures)["loaders"]
        assert kind == "application/json" and (served["name"], served["samples"]) == ("train", 48)
        assert 'stoker_samples_total{loader="train",rank="0"} 48\n' in fetched("metrics")[1]
    with stoker.Loader(folder, recipe, batch=8, dashboard_address=0, metrics_address=0) as loader:
        assert loader.dashboard_address == loader.metrics_address
    with pytest.raises(stoker.Error, match="'here' is not an address"):
        stoker.Loader(folder, recipe, batch=8, dashboard_address="here")


class Scalars:
    """What a SummaryWriter would have got."""

    def __init__(self):
        self.written = {}

    def add_scalar(self, tag, value, step):
        self.written[tag, step] = value


@pytest.mark.parametrize("kind", [stoker.Loader, stoker.torch.Loader])
def test_scalars_are_written_beside_the_trainings_own(folder, recipe, kind):
    writer = Scalars()
    with kind(folder, recipe, batch=8, threads=2) as loader:
        stoker.tensorboard.write_scalars(writer, loader, 0)
        for step, _ in enumerate(loader):
            stoker.tensorboard.write_scalars(writer, loader, 10 + step, prefix="data")
    assert writer.written["stoker/samples_per_s", 0] == 0
    tags = {tag for tag, step in writer.written if step == 15}
    assert tags == {"data/samples_per_s", "data/gpu_idle", "data/step_s", "data/knobs/threads", "data/knobs/prefetch",
                    "data/knobs/io_depth", "data/knobs/transfer_index"} | {
                        f"data/wait/{cause.replace(' ', '_')}" for cause in CAUSES}
    assert writer.written["data/knobs/threads", 15] == 2 and writer.written["data/samples_per_s", 15] > 0
    assert all(isinstance(value, (int, float)) for value in writer.written.values())


def test_tensorboards_own_writer_takes_them(folder, recipe, tmp_path):
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(tmp_path) as writer, stoker.Loader(folder, recipe, batch=8) as loader:
        for step, _ in enumerate(loader.epoch(0)):
            stoker.tensorboard.write_scalars(writer, loader, step)
    assert any(path.stat().st_size > 0 for path in tmp_path.iterdir())
