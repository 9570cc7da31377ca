"""Data sets made from others: subsets, other labels, mixtures."""

import argparse
import asyncio
import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy
import pytest
import torch

import stoker

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/cli"))
from web_server import Server


def keys(data):
    return [sample["key"] for sample in data]


def labels(data):
    return [sample["label"] for sample in data]


def test_labels_and_keys_are_those_of_the_samples(folder):
    data = stoker.open(folder)
    assert data.labels.dtype == numpy.int64 and data.labels.tolist() == labels(data)
    assert data.keys == keys(data)
    some = data.subset(data.labels == 2)
    assert some.labels.tolist() == [2] * labels(data).count(2) and some.keys == keys(some)
    assert data.with_labels([7] * len(data)).labels.tolist() == [7] * len(data)
    assert data.subset([]).labels.tolist() == data.subset([]).keys == []
    kept = data.labels
    del data
    assert kept.sum() == sum(kept.tolist()), "it holds its own memory"


@pytest.mark.parametrize("spelling", ["-1", "-7"])
def test_a_number_below_zero_in_a_file_of_labels_means_unknown(folder, tmp_path, spelling):
    data = stoker.open(folder).subset(range(4))
    file = tmp_path / "labels.csv"
    file.write_text("key,label\n" + "".join(f"{key},{label}\n" for key, label in zip(data.keys, ["5", "7", spelling, "0"])))
    assert data.with_labels(file).labels.tolist() == [5, 7, -1, 0] and data.with_labels(file).classes == []


def test_keys_that_are_not_utf8_choose_their_samples(tmp_path):
    name = b"caf\xe9.png"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
        file.write(b"no image, and not read")
    data = stoker.open(tmp_path)
    assert os.fsencode(data.keys[0]) == b"caf\xe9" and data.subset(data.keys).keys == data.keys


def test_parts_by_class_show_all_classes_equally_often(folder, recipe):
    data = stoker.open(folder)
    uneven = data.subset([*numpy.flatnonzero(data.labels == 0)[:3], *numpy.flatnonzero(data.labels != 0)])
    parts = [uneven.subset(uneven.labels == label) for label in numpy.unique(uneven.labels)]
    loader = stoker.Loader(stoker.mix(parts, [1] * len(parts)), recipe, batch=5, tail="keep")
    seen = Counter(label for epoch in range(64) for batch in loader.epoch(epoch) for label in batch.label.numpy().tolist())
    assert len(seen) == 3 and max(seen.values()) - min(seen.values()) <= 10, "exact to where a block of draws is cut"


def test_a_subset_is_chosen_by_numbers_keys_list_file_or_predicate(folder, tmp_path):
    data = stoker.open(folder)
    all_keys = keys(data)
    assert keys(data.subset([7, 3, 49])) == [all_keys[3], all_keys[7], all_keys[49]]
    assert keys(data.subset(numpy.array([1, 2]))) == all_keys[1:3]
    assert keys(data.subset([all_keys[9], all_keys[0]])) == [all_keys[0], all_keys[9]]
    chosen = tmp_path / "chosen.txt"
    chosen.write_text(f"# these\n{all_keys[5]}.jpg\n{all_keys[4]}\n")
    assert keys(data.subset(chosen)) == keys(data.subset(str(chosen))) == all_keys[4:6]
    second = data.subset(lambda sample: sample.label == 1)
    assert labels(second) == [1] * len(second) and len(second) == labels(data).count(1)
    assert len(data.subset([])) == 0
    assert second.classes == data.classes and second.fields == data.fields


@pytest.mark.parametrize("form", [numpy.array, torch.tensor, list, lambda mask: list(numpy.array(mask))],
                         ids=["numpy", "torch", "list", "numpy scalars"])
def test_a_mask_chooses_the_samples_for_which_it_is_true(folder, form):
    data = stoker.open(folder)
    mask = [number % 3 == 1 for number in range(len(data))]
    assert keys(data.subset(form(mask))) == keys(data)[1::3]
    assert len(data.subset(form([False] * len(data)))) == 0
    with pytest.raises(stoker.Error, match="the mask has 49 values, and the data set 50 samples"):
        data.subset(form(mask[:-1]))


def test_what_is_no_mask_and_no_list_of_numbers_is_refused(folder):
    data = stoker.open(folder)
    for chosen, complaint in (([True] * 49 + [1], "for sample 49 it has 1"), ([0, True], "number is True"), (5, "chosen is 5"),
                              (numpy.ones((50, 2), bool), "must be a whole number"), (None, "chosen is None")):
        with pytest.raises(stoker.Error, match=complaint):
            data.subset(chosen)
    with pytest.raises(stoker.Error, match="must be a whole number"):
        data.with_labels(numpy.ones(50, bool))


def test_numbers_may_be_tensors_or_drawn_and_repeated_ones_count_once(folder):
    data = stoker.open(folder)
    assert keys(data.subset(torch.arange(2))) == keys(data.subset(iter([1, 0, 1]))) == keys(data)[:2]
    assert keys(data.subset(key for key in keys(data)[:2])) == keys(data)[:2]


def test_a_loader_of_an_empty_subset_says_so(folder, recipe):
    empty = stoker.open(folder).subset([])
    for data in (empty, empty.with_labels([])):
        with pytest.raises(stoker.Error, match="the subset of .* is empty: none of the samples was chosen"):
            stoker.Loader(data, recipe, batch=4)


def test_a_predicate_sees_what_is_known_of_a_sample(folder):
    seen = []
    stoker.open(folder).subset(lambda sample: seen.append(sample) or False)
    first = seen[0]
    assert (first.key, first.label, list(first.fields)) == (keys(stoker.open(folder))[0], 0, ["jpg"])
    assert first.bytes == sum(first.fields.values()) > 100
    assert first.width is first.height is first.components is first.clean is None, "it was not decoded"
    with pytest.raises(ZeroDivisionError):
        stoker.open(folder).subset(lambda sample: 1 / 0)


def test_what_a_predicate_kept_outlives_the_data_set(tmp_path):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "image.jpg").write_bytes(b"it is not read")
    script = """
import gc, sys, stoker
seen = []
stoker.open(sys.argv[1]).subset(lambda sample: seen.append(sample) or False)
gc.collect()
print(*seen[0].fields)
"""
    # Memory that is given back is overwritten there.
    done = subprocess.run([sys.executable, "-c", script, tmp_path], env={**os.environ, "MALLOC_PERTURB_": "85"},
                          capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "jpg\n"


def test_what_cannot_be_chosen_is_said(folder):
    data = stoker.open(folder)
    for chosen, complaint in (([50], "no sample 50"), ([-1], "-1"), (["nobody"], "'nobody'"), ([1.5], "1.5"),
                              ([None], "None")):
        with pytest.raises(stoker.Error, match=complaint):
            data.subset(chosen)


def test_labels_come_from_a_file_from_folders_or_as_given(folder, tmp_path):
    data = stoker.open(folder)
    table = tmp_path / "labels.csv"
    table.write_text("key,label\n" + "".join(f"{key},{number}\n" for number, key in enumerate(keys(data))))
    assert labels(data.with_labels(table)) == list(range(50))
    assert labels(data.with_labels(range(50, 100))) == list(range(50, 100))
    by_folder = data.with_labels("folders", classes=data.classes[::-1])
    assert labels(by_folder) == [2 - label for label in labels(data)]
    assert by_folder.classes == data.classes[::-1]
    with pytest.raises(stoker.Error, match="49 labels for 50 samples"):
        data.with_labels([0] * 49)


def test_a_mixture_gives_each_its_share(folder, recipe):
    data = stoker.open(folder)
    rare, common = data.subset(range(5)), data.subset(range(5, 50))
    mixed = stoker.mix([rare, common], [1, 3])
    assert len(mixed) == 50
    drawn = Counter()
    with stoker.Loader(mixed, recipe, batch=16, seed=1) as loader:
        for epoch in range(16):  # 768 draws: three blocks of 256
            for batch in loader.epoch(epoch):
                drawn.update(batch.key)
    few = set(keys(rare))
    assert sum(count for key, count in drawn.items() if key in few) == 192
    assert {key: count for key, count in drawn.items() if key in few} == pytest.approx(dict.fromkeys(few, 192 / 5), abs=1)
    for weights in ([1], [1, -1], [1, "x"]):
        with pytest.raises(stoker.Error):
            stoker.mix([rare, common], weights)
    for given, complaint in (({}, "mix needs weights"), ({"weights": None}, "weights is None"),
                             ({"weight": [1, 1]}, "did you mean 'weights'")):
        with pytest.raises(stoker.Error, match=complaint):
            stoker.mix([rare, common], **given)


def views(folder):
    data = stoker.open(folder)
    part = data.subset(range(10, 40))
    return [data, part, part.with_labels(range(30)), stoker.mix([part, data], [0.5, 0.5])]


def audit_of(data):
    recipe = stoker.recipe().decode().random_resized_crop(16)
    with stoker.Loader(data, recipe, batch=10, seed=3) as loader:
        return [(batch.key, numpy.asarray(batch.image).tobytes(), numpy.asarray(batch.label).tolist())
                for batch in loader]


def test_views_come_back_from_pickle(folder):
    for data in views(folder):
        for again in (pickle.loads(pickle.dumps(data)), copy.copy(data)):
            assert keys(again) == keys(data) and labels(again) == labels(data) and again.classes == data.classes
            assert audit_of(again) == audit_of(data)


def test_views_of_data_that_have_changed_are_refused(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    data = stoker.open(tmp_path / "copy")
    pickled = [pickle.dumps(view) for view in (data.subset([5, 30]), data.with_labels(list(range(len(data)))))]
    for view in pickled:
        pickle.loads(view)
    first = next(path for path in sorted((tmp_path / "copy").rglob("*")) if path.is_file())
    first.rename(first.with_name("z" + first.name))
    for view in pickled:
        with pytest.raises(stoker.Error, match="has other samples than when its subset or labels were pickled"):
            pickle.loads(view)


def audit_in_child(data, results):
    results.put(audit_of(data))


def test_views_reach_a_spawned_process(folder):
    context = multiprocessing.get_context("spawn")
    data = views(folder)[3]
    results = context.Queue()
    child = context.Process(target=audit_in_child, args=(data, results))
    child.start()
    assert results.get(timeout=60) == audit_of(data)
    child.join()
    assert child.exitcode == 0


def test_a_data_set_where_a_list_is_meant_is_refused_unread(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    data = stoker.open(tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy")  # its samples cannot be read any more
    for use in (lambda: stoker.mix(data, [1]), lambda: stoker.mix([data], data), lambda: data.subset(data),
                lambda: data.with_labels(data), lambda: data.with_labels([0] * 50, data)):
        with pytest.raises(stoker.Error, match=r" is Dataset\(50 samples, 3 classes\), but must be ") as caught:
            use()
        assert caught.value.kind == "usage"


class Gate(Server):
    """Counts the requests that are open at once. While it is shut, it answers none before there were as many as are wanted."""

    HANG_S = 20

    def __init__(self, folder, wanted):
        super().__init__(argparse.Namespace(folder=folder, latency=0, share=0, faults=[], after=0, seed=1, secret="",
                                            redirect_to=""))
        self.wanted, self.open, self.most, self.is_shut = wanted, 0, 0, False

    def shut(self):
        self.most, self.is_shut = 0, True

    async def send_file(self, *request):
        self.open += 1
        self.most = max(self.most, self.open)
        end = time.monotonic() + self.HANG_S
        while self.is_shut and self.most < self.wanted:
            await asyncio.sleep(0.01)
            self.is_shut = time.monotonic() < end
        self.open -= 1
        await super().send_file(*request)


@pytest.fixture
def gate(folder, tmp_path):
    """Of the folder's samples in a dozen shards; and their URL."""
    pack = [os.environ["STOKER_BIN"], "pack", folder, tmp_path / "packed", "--shard-size", "16KiB"]
    subprocess.run(pack, check=True, capture_output=True)
    gate, started = Gate(tmp_path / "packed", wanted=8), concurrent.futures.Future()

    async def serve():
        listening = await asyncio.start_server(gate.serve, "127.0.0.1", 0)
        ended = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), ended, listening.sockets[0].getsockname()))
        await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    loop, ended, (host, port) = started.result(Gate.HANG_S)
    yield gate, f"http://{host}:{port}"
    loop.call_soon_threadsafe(ended.set)
    thread.join()


@pytest.mark.parametrize("listed", ["labels", "keys"])
def test_shards_in_a_store_are_asked_for_together_when_all_samples_are_listed(gate, listed):
    server, url = gate
    data = stoker.open(url)
    server.shut()
    assert len(getattr(data, listed)) == 50
    assert server.most >= server.wanted
