"""The loader from Python: which batches it yields, what may be changed, and how it ends."""

import gc
import json
import os
import pickle
import re
import threading

import numpy as np
import pytest
import torch

import sample_images
import stoker


def contents(batches):
    return [(batch.epoch, batch.index, batch.key, batch.valid.tolist(), np.array(batch.image).tobytes()) for batch in batches]


def test_plain_iteration_counts_epochs_up_and_epoch_names_one(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        assert len(loader) == 6
        assert {batch.epoch for batch in loader} == {0}
        assert {batch.epoch for batch in loader} == {1}
        assert {batch.epoch for batch in loader.epoch(7)} == {7}
        assert [(batch.epoch, batch.index) for batch in loader] == [(8, index) for index in range(6)]


def test_an_epoch_is_the_same_whenever_it_is_run(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, seed=5) as loader:
        first, second = contents(loader), contents(loader)
        assert [batch[2] for batch in first] != [batch[2] for batch in second]
        assert contents(loader.epoch(1)) == second
        assert contents(loader.epoch(0)) == first
    with stoker.Loader(folder, recipe, batch=8, seed=6) as loader:
        assert contents(loader.epoch(0)) != first


def test_audits_are_equal_for_every_number_of_threads_and_prefetch(folder, recipe, tmp_path):
    audits = []
    for threads, prefetch in [(1, 1), (2, 2), (3, 5), (8, 1)]:
        audit = tmp_path / f"audit_{threads}_{prefetch}"
        with stoker.Loader(folder, recipe, batch=7, seed=1, threads=threads, prefetch=prefetch, audit=audit) as loader:
            for epoch in range(2):
                for _ in loader.epoch(epoch):
                    pass
        audits.append(audit.read_bytes())
    assert len(set(audits)) == 1
    lines = [json.loads(line) for line in audits[0].splitlines()]
    assert len(lines) == 2 * 49
    assert set(lines[0]) == {"epoch", "position", "key", "hash"}


def test_knobs_change_while_an_epoch_runs_and_the_batches_do_not(folder, recipe, tmp_path):
    with stoker.Loader(folder, recipe, batch=5, seed=1, threads=1, audit=tmp_path / "steady") as loader:
        for epoch in range(3):
            assert len(list(loader.epoch(epoch))) == 10
    with stoker.Loader(folder, recipe, batch=5, seed=1, threads=1, audit=tmp_path / "changing") as loader:
        for epoch in range(3):
            for number, _ in enumerate(loader.epoch(epoch)):
                loader.set(threads=1 + (number + epoch) % 4, prefetch=1 + number % 3, io_depth=1 + number % 5)
                assert loader.threads == 1 + (number + epoch) % 4 and loader.prefetch == 1 + number % 3
                assert loader.io_depth == 1 + number % 5
    assert (tmp_path / "changing").read_bytes() == (tmp_path / "steady").read_bytes()


def test_tail_drop_leaves_the_rest_out(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, tail="drop") as loader:
        keys = [key for batch in loader for key in batch.key]
    assert len(keys) == len(set(keys)) == 48


def test_tail_wrap_fills_up_from_the_beginning(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, tail="wrap") as loader:
        keys = [key for batch in loader for key in batch.key]
    assert len(loader) == 7 and len(keys) == 56
    assert len(set(keys)) == 50 and keys[50:] == keys[:6]


def test_tail_pad_marks_what_is_no_sample(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, tail="pad") as loader:
        batches = list(loader)
    assert [batch.valid.all() for batch in batches] == [True] * 6 + [False]
    last = batches[-1]
    assert last.valid.tolist() == [True, True] + [False] * 6
    assert not np.asarray(last.image)[2:].any() and np.asarray(last.image)[:2].any()
    keys = [key for batch in batches for key, valid in zip(batch.key, batch.valid) if valid]
    assert len(keys) == len(set(keys)) == 50


def test_padding_is_of_no_class(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, tail="pad") as loader:
        for batch in loader:
            labels = np.asarray(batch.label)
            assert (labels[~batch.valid] == -100).all() and (labels[batch.valid] >= 0).all()
    assert labels.tolist()[2:] == [-100] * 6


def test_tail_keep_makes_the_last_batch_shorter(folder, recipe, tmp_path):
    for tail in ("pad", "keep"):
        with stoker.Loader(folder, recipe, batch=8, tail=tail, seed=4, audit=tmp_path / tail) as loader:
            assert len(loader) == 7
            batches = [(len(batch), batch.image.shape, len(batch.key), batch.valid, np.asarray(batch.position).tolist(),
                        np.from_dlpack(batch.label).shape) for batch in loader]
    assert [batch[0] for batch in batches] == [8] * 6 + [2]
    assert batches[-1][1:3] == ((2, 3, 32, 32), 2) and batches[-1][4:] == ([48, 49], (2,))
    assert all(valid.all() for _, _, _, valid, _, _ in batches)
    assert (tmp_path / "keep").read_bytes() == (tmp_path / "pad").read_bytes()


def test_ranks_share_a_tail_that_is_kept(folder, recipe):
    loaders = [stoker.Loader(folder, recipe, batch=8, tail="keep", rank=rank, world=3) for rank in range(3)]
    assert [len(loader) for loader in loaders] == [3, 2, 2]  # 50 samples are two global batches of 24, and 2
    assert [[len(batch) for batch in loader] for loader in loaders] == [[8, 8, 2], [8, 8], [8, 8]]
    states = [loader.state_dict() for loader in loaders]
    assert states[0] == states[1] == states[2]
    loaders[2].load_state_dict(states[0])
    rest = loaders[2].epoch(0)
    assert len(rest) == 0 and list(rest) == []
    for loader in loaders:
        loader.close()


def test_samples_stand_several_times_in_a_batch_augmented_anew(folder, recipe):
    with stoker.Loader(folder, recipe, batch=12, seed=1, batch_repeats=3) as loader:
        assert len(loader) == 4  # as without
        batches = [(batch.key, np.array(batch.image)) for batch in loader]
    for keys, images in batches:
        assert keys == keys[:4] * 3 and len(set(keys)) == 4
        assert len({image.tobytes() for image in images}) == 12
    assert len({key for keys, _ in batches for key in keys}) == 16


def test_batch_repeats_are_the_recipes_where_nobody_says(folder, recipe):
    def keys(recipe, **options):
        with stoker.Loader(folder, recipe, batch=12, seed=1, **options) as loader, pickle.loads(pickle.dumps(loader)) as copied:
            found = [batch.key for batch in loader]
            assert [batch.key for batch in copied] == found
        return found

    repeated = keys(recipe, batch_repeats=3)
    assert keys(recipe.set_batch_repeats(3)) == keys(recipe.set_batch_repeats(2), batch_repeats=3) == repeated
    assert keys(recipe.set_batch_repeats(3), batch_repeats=1) == keys(recipe) != repeated


def test_a_state_of_other_batch_repeats_is_refused(folder, recipe):
    with stoker.Loader(folder, recipe, batch=12, batch_repeats=3) as loader, stoker.Loader(folder, recipe, batch=12) as other:
        with pytest.raises(stoker.Error, match="batch_repeats was 3 and is now 1"):
            other.load_state_dict(loader.state_dict())


def test_tail_is_the_recipes_where_nobody_says(folder):
    with stoker.Loader(folder, "imagenet-val", batch=8) as padded, stoker.Loader(folder, "imagenet-train", batch=8) as dropped:
        assert (len(padded), len(dropped)) == (7, 6)
    with stoker.Loader(folder, "imagenet-val", batch=8, tail="drop") as told:
        assert len(told) == 6


def test_ranks_share_every_global_batch(folder, recipe):
    def images(**options):
        with stoker.Loader(folder, recipe, seed=2, **options) as loader:
            return [np.array(batch.image) for batch in loader]

    whole = images(batch=10)
    left, right = images(batch=5, rank=0, world=2), images(global_batch=10, rank=1, world=2)
    assert len(whole) == len(left) == len(right) == 5
    for both, one, other in zip(whole, left, right):
        np.testing.assert_array_equal(both, np.concatenate([one, other]))


def test_order_none_leaves_the_samples_as_they_stand(folder, recipe):
    data = stoker.open(folder)
    with stoker.Loader(data, recipe, batch=10, order="none") as loader:
        keys = [key for batch in loader for key in batch.key]
    assert keys == [data[i]["key"] for i in range(50)]


def test_order_windowed_reads_lanes_through_a_window(folder, recipe):
    data = stoker.open(folder)
    number_of = {data[i]["key"]: i for i in range(50)}
    with stoker.Loader(data, recipe, batch=10, order="windowed", window=5, lanes=2) as loader:
        keys = [key for batch in loader for key in batch.key]
    assert len(set(keys)) == 50
    lanes = [number_of[key] for at in range(0, 50, 10) for key in keys[at:at + 5]]  # the first lane's part of each batch
    assert max(min((a - b) % 50, (b - a) % 50) for a, b in zip(lanes, lanes[1:])) < 10
    assert lanes != sorted(lanes)


def test_ranks_share_the_windowed_order(folder, recipe):
    def keys(**options):
        with stoker.Loader(folder, recipe, global_batch=10, order="windowed", window=7, lanes=2, **options) as loader:
            return [list(batch.key) for batch in loader.epoch(1)]

    left, right = keys(rank=0, world=2), keys(rank=1, world=2)
    assert [one + other for one, other in zip(left, right)] == keys()


def test_images_are_what_the_recipe_makes_of_the_bytes(folder, recipe):
    data = stoker.open(folder)
    number_of = {data[i]["key"]: i for i in range(len(data))}
    with stoker.Loader(data, recipe, batch=10, seed=9) as loader:
        for batch in loader.epoch(3):
            for slot, key in enumerate(batch.key):
                sample = data[number_of[key]]
                where = {"seed": 9, "epoch": 3, "position": int(batch.position[slot])}
                expected = recipe.apply(sample["jpg"], label=sample["label"], **where, reference=True)
                np.testing.assert_array_equal(batch.image.numpy()[slot], expected["image"])
                assert batch.label.numpy()[slot] == expected["label"]


def test_metrics_count_what_was_delivered(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        for _ in loader:
            pass
        metrics = loader.metrics()
    assert metrics["samples"] == 48 and metrics["batches"] == 6
    assert metrics["bytes_read"] > 0 and metrics["decode_ns"] > 0
    assert all(isinstance(value, int) for value in metrics.values())
    assert all(f"\n{name}: " in stoker.Loader.metrics.__doc__ for name in metrics)
    assert "batch_bytes: memory now held by batches (a gauge" in stoker.Loader.metrics.__doc__


def test_keeping_every_batch_is_an_error_that_names_the_cause_when_memory_is_used_up(folder, recipe):
    images = 32 * 32 * 3 * 4 * 5
    with stoker.Loader(folder, recipe, batch=5, prefetch=1, threads=1, memory=22 * 2**20 + 4 * images) as loader:
        with pytest.raises(stoker.Error, match="batch") as caught:
            kept = []
            for epoch in range(1000):
                kept.extend(loader.epoch(epoch))
        assert caught.value.kind == "memory"
        assert len(kept) >= 3
        del kept
        gc.collect()
        assert len(contents(loader.epoch(0))) == 10


@pytest.mark.parametrize("memory", ["100KB", 0, "0", "0.4"])
def test_a_budget_that_cannot_work_is_refused(folder, recipe, memory):
    with pytest.raises(stoker.Error, match="memory budget of") as caught:
        stoker.Loader(folder, recipe, batch=8, memory=memory)
    assert caught.value.kind == "memory"


def test_leaving_a_loop_early_leaves_the_loader_usable(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, seed=4) as loader:
        expected = contents(loader.epoch(1))
        for batch in loader.epoch(0):
            break
        assert contents(loader) == expected
        with pytest.raises(ZeroDivisionError):
            for batch in loader.epoch(0):
                1 / 0
        assert contents(loader) == expected


def test_an_iterator_ends_when_another_epoch_is_started(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        old = iter(loader)
        next(old)
        new = loader.epoch(3)
        with pytest.raises(stoker.Error, match="epoch has ended"):
            next(old)
        assert len(list(new)) == 6
        assert list(new) == list(new) == []
        assert {batch.epoch for batch in loader} == {4}


def test_iterators_that_are_not_used_leave_an_epoch_as_it_is(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        unused, batches = iter(loader), iter(loader)
        assert next(batches).epoch == 0
        with pytest.raises(stoker.Error, match="epoch has ended"):
            next(unused)
        assert [batch.epoch for batch in loader] == [1] * 6
        batches = iter(loader)
        next(batches), next(batches)
        state = loader.state_dict()
        loader.load_state_dict(state)
        for _ in range(3):
            iter(loader)
            assert loader.state_dict() == state
        assert [batch.index for batch in loader] == [2, 3, 4, 5]
        assert {batch.epoch for batch in loader} == {3}


def test_several_loaders_run_side_by_side(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, seed=1) as one, stoker.Loader(folder, recipe, batch=8, seed=1) as other:
        for a, b in zip(one, other):
            np.testing.assert_array_equal(np.asarray(a.image), np.asarray(b.image))


def test_close_may_be_called_twice_and_ends_iteration(folder, recipe):
    loader = stoker.Loader(folder, recipe, batch=8)
    batches = iter(loader)
    image = np.asarray(next(batches).image)
    before = image.copy()
    loader.close()
    loader.close()
    for use in (lambda: next(batches), lambda: iter(loader), lambda: next(iter(loader))):
        with pytest.raises(stoker.Error) as caught:
            use()
        assert caught.value.kind == "closed"
    np.testing.assert_array_equal(image, before)
    assert loader.metrics()["batches"] == 1


def test_batches_may_be_taken_by_several_threads(folder, recipe):
    with stoker.Loader(folder, recipe, batch=5, seed=2) as loader:
        expected = sorted(contents(loader.epoch(0)))
        batches = loader.epoch(0)
        taken = [[], [], []]
        threads = [threading.Thread(target=lambda part=part: part.extend(contents(batches))) for part in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(sum(taken, [])) == expected


def test_close_ends_a_thread_that_takes_batches(folder, recipe):
    loader = stoker.Loader(folder, recipe, batch=10, threads=1)
    started = threading.Event()
    kinds = []

    def consume():
        try:
            while True:
                for _ in loader:
                    started.set()
        except stoker.Error as error:
            kinds.append(error.kind)

    thread = threading.Thread(target=consume)
    thread.start()
    started.wait()
    loader.close()
    thread.join()
    assert kinds == ["closed"]


def test_an_image_smaller_than_a_crop_is_a_bad_sample(tmp_path):
    for number in range(12):
        sample_images.picture(64, 64, seed=number).save(tmp_path / f"{number:02}.png")
    sample_images.picture(20, 40, seed=99).save(tmp_path / "small.png")
    recipe = stoker.recipe().decode().random_crop(32)
    with stoker.Loader(tmp_path, recipe, batch=13) as loader:
        (batch,) = loader
        assert "small" not in batch.key and len(loader.quarantine) == 1
        assert "random_crop of 32 x 32 is larger than the image of 20 x 40" in loader.quarantine[0]["reason"]
    with stoker.Loader(tmp_path, recipe, batch=13, bad_sample="fail") as loader:
        with pytest.raises(stoker.Error, match="small.*resize first, raise padding, or use pad_if_needed") as caught:
            next(iter(loader))
        assert caught.value.kind == "bad_sample"


def test_the_first_bad_sample_stops_the_epoch_and_is_named(folder, recipe, tmp_path):
    good = next(folder.rglob("*.jpg")).read_bytes()
    (tmp_path / "a").mkdir()
    for number in range(6):
        (tmp_path / "a" / f"{number}.jpg").write_bytes(good)
    (tmp_path / "a" / "4.jpg").write_bytes(good[:100])
    with stoker.Loader(tmp_path, recipe, batch=2, order="none", bad_sample="fail") as loader:
        batches = iter(loader)
        next(batches), next(batches)
        with pytest.raises(stoker.Error, match="a/4") as caught:
            next(batches)
        assert caught.value.kind == "bad_sample"
        assert next(iter(loader)).key == ["a/0", "a/1"]


@pytest.mark.parametrize("options, kind, message", [
    ({}, "usage", "batch"),
    ({"batch": 8, "global_batch": 8}, "usage", "batch"),
    ({"batch": 0}, "usage", "batch is 0, but must be at least 1"),
    ({"batch": "8"}, "usage", "batch is '8', but must be a whole number"),
    ({"batch": 8.0}, "usage", "batch is 8.0"),
    ({"batch": True}, "usage", "batch is True"),
    ({"batch": 10**30}, "usage", f"batch is {10**30}, but must be at most {2**31 - 1}"),
    ({"batch": -10**30}, "usage", "but must be at least 1"),
    ({"batch": 2**40}, "usage", "batch"),
    ({"batch": 8, "seed": -1}, "usage", "seed is -1"),
    ({"batch": 8, "seed": 2**64}, "usage", r"between 0 and 2\*\*64 - 1"),
    ({"batch": 8, "threads": 0}, "usage", "threads is 0"),
    ({"batch": 8, "threads": "all"}, "usage", "threads is 'all'"),
    ({"batch": 8, "prefetch": 0}, "usage", "prefetch is 0"),
    ({"batch": 8, "io_depth": 0}, "usage", "io_depth is 0"),
    ({"batch": 8, "io_depth": 1025}, "usage", "io_depth is 1025, but must be at most 1024"),
    ({"batch": 8, "memory": "much"}, "usage", "memory: .*much"),
    ({"batch": 8, "memory": ""}, "usage", "memory: '' is not a size"),
    ({"batch": 8, "order": "random"}, "usage", "random"),
    ({"batch": 8, "tune": False}, "usage", "tune is False, but must be one of on, once, off$"),
    ({"batch": 8, "cache": True}, "usage", "cache is True, but must be one of none, ram, disk=DIR:SIZE$"),
    ({"batch": 8, "cache": "disk=~/cache:1GB"}, "usage", "^cache: a disk cache is '~/cache', and only a shell replaces '~'"),
    ({"batch": 8, "audit": ""}, "usage", "^audit: the path is empty"),
    ({"batch": 8, "trace": "~/trace.json"}, "usage", "trace is '~/trace.json', and only a shell replaces"),
    ({"batch": 8, "name": 3}, "usage", "name is 3, but must be a text$"),
    ({"batch": 8, "order": "windowed", "window": 0}, "usage", "window is 0"),
    ({"batch": 8, "order": "windowed", "lanes": 0}, "usage", "lanes is 0"),
    ({"batch": 8, "order": "windowed", "lanes": 3}, "usage", "lanes that divides it, for example 2"),
    ({"batch": 8, "order": "windowed", "lanes": 2, "rank": 0, "world": 4}, "usage", "among 4 ranks; .*for example 4"),
    ({"batch": 8, "window": 100}, "usage", "no window; .*windowed"),
    ({"batch": 8, "order": "none", "lanes": 8}, "usage", "no lanes"),
    ({"batch": 8, "tail": "kept"}, "usage", "kept"),
    ({"batch": 8, "batch_repeats": 0}, "usage", "batch_repeats is 0"),
    ({"batch": 8, "batch_repeats": 3}, "usage", "a global batch of 8 cannot hold each of its samples 3 times"),
    ({"batch": 8, "batch_repeats": 2, "tail": "pad"}, "usage", "tail pad counts every sample of an epoch once"),
    ({"batch": 56, "batch_repeats": 2}, "usage", "use a smaller batch, or tail wrap$"),
    ({"batch": 8, "rank": 2, "world": 2}, "usage", "rank"),
    ({"batch": 8, "pin_threads": "no"}, "usage", "pin_threads is 'no'"),
    ({"batch": 51}, "usage", "50 samples"),
    ({"batch": 8, "audit": "no/such/folder/audit"}, "not_found|io", "no/such/folder/audit"),
], ids=str)
def test_wrong_options_are_refused_with_a_sentence(folder, recipe, options, kind, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        stoker.Loader(folder, recipe, **options)
    assert re.fullmatch(kind, caught.value.kind)


def test_options_are_kept_apart_from_typing_mistakes(folder, recipe):
    with stoker.Loader(folder, recipe, batch=np.int64(8), memory="64MiB", threads="auto", pin_threads=False,
                       tune="off") as loader:
        assert loader.batch_size == 8
        assert loader.threads == len(os.sched_getaffinity(0))
        for refused in ({"threads": 0}, {"prefetch": 0}, {"threads": None}, {"io_depth": 0}, {"io_depth": 2000}):
            with pytest.raises(stoker.Error):
                loader.set(**refused)
        for refused in (-1, "1", 2.0):
            with pytest.raises(stoker.Error):
                loader.epoch(refused)


SENTENCE_MAX = 400  # letters that a person will read
MISTAKES = {
    "a misspelt option": (lambda load, **_: load(btach=4), "Loader has no argument 'btach' .did you mean 'batch'"),
    "DataLoader's word for batch": (lambda load, **_: load(batch_size=3), "'batch_size' .did you mean 'batch'"),
    "DataLoader's word in one": (lambda load, **_: load(batchSize=3), "'batchSize' .did you mean 'batch'"),
    "a data set of torch's": (lambda **_: stoker.Loader(torch.utils.data.TensorDataset(torch.zeros(3)), "imagenet-train", batch=3),
                              "must be a path or a list of paths: Stoker reads and decodes files itself"),
    "DataLoader's word for threads": (lambda load, **_: load(batch=3, num_workers=3), "'num_workers' .did you mean 'threads'"),
    "timm's word for batch_repeats": (lambda load, **_: load(batch=3, aug_repeats=3), "did you mean 'batch_repeats'"),
    "an option that there is not": (lambda load, **_: load(batch=3, color="red"), "no argument 'color'; there are batch,"),
    "a batch in order": (lambda load, **_: load(8), "takes data and recipe in order; give the others by name: batch"),
    "data twice": (lambda load, **_: load(batch=8, data="x"), "data is given twice"),
    "nothing at all": (lambda **_: stoker.Loader(), "Loader needs data"),
    "no recipe": (lambda **_: stoker.Loader("x", batch=1), "Loader needs recipe"),
    "a misspelt knob": (lambda loader, **_: loader.set(thread=1), "did you mean 'threads'"),
    "a knob without a name": (lambda loader, **_: loader.set(3), "Loader.set takes nothing in order; .*threads, prefetch"),
    "a number too long to print": (lambda load, **_: load(batch=10**5000), "batch is a value of type int, but must be at most"),
    "an epoch beyond the last": (lambda loader, **_: loader.epoch(2**63 - 1), f"must be at most {2**63 - 2}"),
    "a batch as a tuple": (lambda batch, **_: [*batch], "batch.image.*stoker.torch.Loader"),
    "a batch unpacked": (lambda batch, **_: (lambda image, label: 0)(*batch), "batch.image.*stoker.torch.Loader"),
    "a batch by number": (lambda batch, **_: batch[0], "batch.image.*stoker.torch.Loader"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_call_gets_a_sentence(folder, recipe, mistake):
    make, message = MISTAKES[mistake]
    with stoker.Loader(folder, recipe, batch=8) as loader:
        with pytest.raises(stoker.Error, match=message) as caught:
            make(load=lambda *args, **named: stoker.Loader(folder, recipe, *args, **named), loader=loader, batch=next(iter(loader)))
    assert caught.value.kind == "usage"
    assert len(str(caught.value)) <= SENTENCE_MAX and "\n" not in str(caught.value)


def test_a_recipe_whose_size_depends_on_the_image_cannot_make_batches(folder):
    with pytest.raises(stoker.Error, match="size depends on the image"):
        stoker.Loader(folder, stoker.recipe().decode().resize(32), batch=8)
    with pytest.raises(stoker.Error, match="decode"):
        stoker.Loader(folder, stoker.recipe(), batch=8)
    with pytest.raises(stoker.Error, match="did you mean 'imagenet-train'"):
        stoker.Loader(folder, "imagenet-trian", batch=8)
