"""Long training on the command line: what is bad and what stands in for it, and runs that are stopped and go on."""

import json
import random
import re
import tarfile

import pytest
from PIL import Image

COUNT, BATCH, EPOCHS = 24, 8, 4
TRAIN = ["--recipe", "imagenet-train", "--global-batch", BATCH, "--epochs", EPOCHS, "--seed", 4]


def garbage(count):
    """Without bytes that would begin a JPEG's markers."""
    return random.Random(7).randbytes(count).replace(b"\xff", b"\0")


def garbage_inside(content):
    """The middle third: the header and the end are whole."""
    begin, end = len(content) // 3, len(content) * 2 // 3
    return content[:begin] + garbage(end - begin) + content[end:]


# By the number of the sample. What a JPEG decoder conceals is no bad sample, wherever its damage is looked at.
CONCEALED = {3: (".jpg", garbage_inside)}
BAD = {
    2: (".jpg", lambda content: content[:-200]),
    5: (".png", lambda content: content[:-200]),
    7: (".webp", lambda content: content[:-200]),
    9: (".jpg", lambda content: content[:20] + garbage(len(content))),
    11: (".png", garbage_inside),
    12: (".jpg", lambda content: b""),
    16: (".webp", garbage_inside),
    17: (".jpg", lambda content: b"this is not an image\n" * 100),
    20: (".jpg", lambda content: garbage(3000)),
}


@pytest.fixture(scope="module")
def hurt(tmp_path_factory):
    """A folder of images, many of them damaged, each in a way of its own."""
    folder = tmp_path_factory.mktemp("hurt") / "data"
    folder.mkdir()
    noise = random.Random(3)
    for number in range(COUNT):
        suffix, damage = {**CONCEALED, **BAD}.get(number, (".jpg", lambda content: content))
        size = (90 + number, 130 - number)
        path = folder / f"{number:02}{suffix}"
        Image.frombytes("RGB", size, noise.randbytes(size[0] * size[1] * 3)).save(path)
        path.write_bytes(damage(path.read_bytes()))
    return folder


@pytest.fixture(scope="module")
def ways(stoker, hurt, tmp_path_factory):
    """What `run` can be given for the same samples: without an index, with one beside them, with one inside."""
    at = tmp_path_factory.mktemp("ways")
    images = sorted(hurt.iterdir())
    for name in ("plain", "indexed"):
        (at / name).mkdir()
        for shard in range(2):
            with tarfile.open(at / name / f"{shard}.tar", "w") as tar:
                for path in images[shard * COUNT // 2:(shard + 1) * COUNT // 2]:
                    tar.add(path, path.name)
    indexed = json.loads(stoker("index", at / "indexed", "--json").stdout)
    packed = json.loads(stoker("pack", hurt, at / "packed", "--bad-sample", "keep", "--json").stdout)
    for found in (indexed, packed):
        assert [int(bad["key"]) for bad in found["bad"]] == list(BAD)
        assert found["concealed"] == len(CONCEALED)
    return {"folder": [hurt], "scanned": [at / "plain", "--no-index"], "scan kept": [at / "plain"],
            "index beside": [at / "indexed"], "index inside": [at / "packed"]}


def audit(stoker, tmp_path, *args):
    """The lines of a run that may have something to say about bad samples."""
    path = tmp_path / "audit.jsonl"
    done = stoker("run", *args, "--audit", path)
    assert done.returncode == 0, done
    return [json.loads(line) for line in path.read_text().splitlines()]


def joined(audits):
    """What several ranks, or parts of a run, delivered, in the order of one that is alone."""
    lines = [line for audit in audits for line in audit]
    return sorted(lines, key=lambda line: (line["epoch"], line["position"]))


@pytest.fixture(scope="module")
def whole(stoker, hurt, tmp_path_factory):
    """What one process delivers of the folder."""
    return audit(stoker, tmp_path_factory.mktemp("whole"), hurt, *TRAIN, "--threads", 1)


def test_each_bad_sample_is_replaced_in_each_epoch_and_no_other(whole):
    assert len(whole) == EPOCHS * COUNT
    for epoch in range(EPOCHS):
        replaced = [int(line["substituted_for"]) for line in whole
                    if line["epoch"] == epoch and "substituted_for" in line]
        assert sorted(replaced) == list(BAD)
    assert not {int(line["key"]) for line in whole} & set(BAD)


@pytest.mark.parametrize("way", ["folder", "scanned", "scan kept", "index beside", "index inside"])
def test_the_same_ones_stand_in_with_and_without_an_index(stoker, ways, whole, tmp_path, way):
    for options in (["--threads", 1], ["--threads", 4, "--prefetch", 5], ["--threads", 2, "--cache", "ram"]):
        assert audit(stoker, tmp_path, *ways[way], *TRAIN, *options) == whole


@pytest.mark.parametrize("way", ["scanned", "index inside"])
def test_the_same_ones_stand_in_for_any_number_of_ranks(stoker, ways, whole, tmp_path, way):
    for world in (2, 4):
        ranks = [audit(stoker, tmp_path, *ways[way], *TRAIN, "--world", world, "--rank", rank, "--threads", 1 + rank)
                 for rank in range(world)]
        assert all(len(rank) == len(whole) // world for rank in ranks)
        assert joined(ranks) == whole


@pytest.mark.parametrize("way", ["folder", "scanned", "index beside", "index inside"])
def test_the_same_ones_are_skipped_with_and_without_an_index(stoker, ways, whole, tmp_path, way):
    good = [line for line in whole if "substituted_for" not in line]
    for threads in (1, 4):
        assert audit(stoker, tmp_path, *ways[way], *TRAIN, "--threads", threads, "--bad-sample", "skip") == good


def test_the_first_bad_one_ends_the_run_with_and_without_an_index(stoker, ways, whole):
    first = next(line for line in whole if "substituted_for" in line)
    in_its_batch = [line["substituted_for"] for line in whole[:BATCH] if "substituted_for" in line]
    assert first["position"] < BATCH and in_its_batch[0] == first["substituted_for"]
    for way in ways.values():
        for threads in (1, 4):
            sentence = stoker.refusal(1, "run", *way, *TRAIN, "--threads", threads, "--bad-sample", "fail")
            assert f"sample '{first['substituted_for']}'" in sentence


@pytest.mark.parametrize("way", ["folder", "scanned", "index inside"])
def test_a_run_that_is_stopped_goes_on_as_if_it_had_not_been(stoker, ways, whole, tmp_path, way):
    """In parts of other lengths, threads, caches and worlds, the last to the end of the epochs."""
    parts = [(2, 1, ["--threads", 1]), (3, 1, ["--threads", 4, "--cache", "ram"]), (1, 2, ["--threads", 2]),
             (4, 4, ["--prefetch", 1]), (None, 2, ["--threads", 3, "--prefetch", 6])]
    delivered, done, state = [], 0, []
    for number, (batches, world, options) in enumerate(parts):
        saved = [tmp_path / f"state{number}-{rank}" for rank in range(world)]
        length = ["--batches", batches] if batches else []
        ranks = [audit(stoker, tmp_path, *ways[way], *TRAIN, *options, *length, *state, "--world", world, "--rank", rank,
                       "--save-state", saved[rank]) for rank in range(world)]
        assert len({path.read_text() for path in saved}) == 1
        delivered += joined(ranks)
        done = len(whole) if batches is None else done + batches * BATCH
        assert delivered == whole[:done]
        state = ["--state", saved[-1]]
    assert done == len(whole)


def test_a_state_holds_wherever_the_samples_lie_but_not_for_another_seed(stoker, hurt, ways, tmp_path):
    state = tmp_path / "state"
    audit(stoker, tmp_path, hurt, *TRAIN, "--batches", 1, "--save-state", state)
    for way in ways.values():
        audit(stoker, tmp_path, *way, *TRAIN, "--batches", 1, "--state", state)
    sentence = stoker.refusal(2, "run", hurt, *TRAIN[:-1], 5, "--state", state)
    assert "the seed was 4 and is now 5" in sentence


@pytest.fixture
def small(stoker, tiny, tmp_path):
    """Thirty images in batches of ten, three to the epoch; calls of run, and what they deliver."""
    state = tmp_path / "at.json"

    def run(*args):
        path = tmp_path / "small.jsonl"
        done = stoker("run", tiny.folder, "--recipe", tiny.recipe, "--batch", 10, "--audit", path, "--save-state", state, *args)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        return done, [(line["epoch"], line["position"]) for line in lines]

    run.state = state
    run.at = lambda: tuple(json.loads(state.read_text())[name] for name in ("epoch", "batch"))
    return run


def samples(first, last):
    """Of the batches, counted from the beginning of training."""
    return [divmod(number, 30) for number in range(10 * first, 10 * last)]


def test_so_many_batches_are_taken_over_as_many_epochs_as_it_takes(small):
    done, delivered = small("--batches", 8)
    assert (done.returncode, done.stderr, delivered, small.at()) == (0, "", samples(0, 8), (2, 2))
    done, delivered = small("--batches", 5, "--state", small.state)
    assert (done.returncode, done.stderr, delivered, small.at()) == (0, "", samples(8, 13), (4, 1))


def test_the_epochs_end_the_batches_where_both_are_given(small):
    assert small("--batches", 8, "--epochs", 2)[1] == samples(0, 6)
    assert small("--batches", 2, "--epochs", 2)[1] == samples(0, 2)


def test_without_either_one_epoch_runs_and_a_state_goes_on_to_the_end_of_its_own(small):
    assert small()[1] == samples(0, 3)
    small("--batches", 8)
    assert small("--state", small.state)[1] == samples(8, 9)


def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next_by_epochs_or_by_batches(small):
    for more in (("--epochs", 3), ("--batches", 3)):
        assert small("--batches", 6)[1] == samples(0, 6) and small.at() == (1, 3)
        assert small("--state", small.state, *more)[1] == samples(6, 9)
        assert small.at() == (2, 3)


@pytest.mark.parametrize("batches, args, says", [
    (6, (), "is at the end of epoch 1; --epochs 3 continues to the end of epoch 2, and --batches N for N batches"),
    (6, ("--epochs", 2), "is at the end of epoch 1, and --epochs 2 stops after epoch 1; --epochs 3 continues to the end of epoch 2"),
    (8, ("--epochs", 1), "is before batch 2 of epoch 2 (both counted from 0), and --epochs 1 stops after epoch 0; --epochs 3 continues to "
                         "the end of epoch 2"),
    (6, ("--epochs", 2, "--batches", 9), "is at the end of epoch 1, and --epochs 2 stops after epoch 1; --epochs 3 continues to the "
                                         "end of epoch 2"),
])
def test_a_state_behind_which_nothing_is_left_to_do_says_so_and_is_done(small, batches, args, says):
    small("--batches", batches)
    before = small.state.read_text()
    done, delivered = small("--state", small.state, *args)
    assert (done.returncode, done.stdout, delivered) == (0, "", [])
    assert done.stderr == f"stoker: nothing to do: '{small.state}' {says}\n"
    assert small.state.read_text() == before
    done, _ = small("--state", small.state, "--json", *args)
    assert (done.returncode, json.loads(done.stdout)["samples"]) == (0, 0)
    goes_on = re.search(r"--epochs (\d+) continues to the end of epoch (\d+)", says)
    assert small("--state", small.state, "--epochs", goes_on[1])[1] == samples(batches, 3 * (int(goes_on[2]) + 1))
