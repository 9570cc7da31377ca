"""What a loader promises of images holds for every kind of sample: threads, ranks and resuming change nothing, and one that is
damaged is substituted, skipped or fatal."""

import io
import json
import tarfile
from typing import Callable, NamedTuple

import numpy as np
import pytest

import objects_of_coco
import sample_images
import stoker

SAMPLES, DAMAGED, GLOBAL_BATCH, SEED = 23, 9, 6, 4
WIDTH, HEIGHT = 60, 48
WHOLE = [0, 0, WIDTH, HEIGHT]  # of which every crop shows some
POINTS, LENGTH, ROWS = 3, 16, 6


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def objects_in(number, count, **more):
    outlines = objects_of_coco.outlines_of(number, count, WIDTH, HEIGHT)
    points = np.random.default_rng(number).integers(0, 3, (count, POINTS, 3)) * [WIDTH // 3, HEIGHT // 3, 1]
    members = {"keypoints": points.reshape(count, 3 * POINTS).tolist()} | more
    return objects_of_coco.annotations(outlines, [objects_of_coco.box_around(each) for each in outlines], **members)


def fields_of(number):
    rng = np.random.default_rng(number)
    picture = sample_images.encoded(sample_images.picture(WIDTH, HEIGHT, seed=number), "PNG")
    return {"png": picture, "right.png": picture, "mask.png": objects_of_coco.png(rng.integers(0, 20, (HEIGHT, WIDTH), np.uint8)),
            "json": objects_in(number, number % 5), "txt": f"Größe {number}: ".encode() + b"x" * number,
            "x.npy": npy(rng.random((2, 9, 10, 11), np.float32))}


def image():
    return stoker.recipe().decode().random_resized_crop(32, scale=(0.4, 1)).random_flip()


def boxes():
    return objects_of_coco.with_boxes(image())


def padded():
    recipe = boxes().pad_to(ROWS, -1).view("boxes").pad_to(ROWS, 0.5)
    return recipe.view("text", field="txt").decode_text(most=100).pad_to(100, 32)


def stereo():
    recipe = image().view("right", field="right.png").draw_group("image").decode()
    return recipe.random_resized_crop(32, scale=(0.4, 1)).random_flip()


def arrays():
    recipe = stoker.recipe().view("x", field="x.npy").decode_array("f32", shape=(2, 9, 10, 11))
    return recipe.array_crop((4, 5, 6)).array_flip((1, 2, 3)).array_noise((0.1, 0.2))


def tokens():
    recipe = stoker.recipe()
    for part in ("inputs", "targets"):
        recipe = recipe.view(part, field="tokens.u16").decode_tokens(LENGTH, part=part)
    return recipe


class Kind(NamedTuple):
    recipe: Callable
    field: str  # that is damaged
    damage: Callable
    told: str  # of the damage


CUT_PNG = "the PNG data has no end-of-image chunk"
KINDS = {
    "mask": Kind(lambda: image().view("mask", field="mask.png").like("image").decode_mask(), "mask.png",
                 lambda data: data[:60], f"'mask.png': {CUT_PNG}"),
    "boxes": Kind(boxes, "json", lambda data: data[:-9], "its JSON is damaged"),
    "keypoints": Kind(
        lambda: boxes().view("points").like("boxes").decode_keypoints(POINTS, "1-2"), "json",
        lambda data: objects_in(3, 1, bbox=[WHOLE], keypoints=[[1, 2, 2]]),
        "an object has 3 numbers of keypoints, and 3 points have 9"),
    "instances": Kind(
        lambda: boxes().view("instances").like("boxes").decode_instances(), "json",
        lambda data: objects_in(3, 1, bbox=[WHOLE], segmentation=[{"counts": "P", "size": [HEIGHT, WIDTH]}]),
        "the coded runs of an object's mask are damaged"),
    "text": Kind(lambda: image().view("text", field="txt").decode_text(), "txt",
                 lambda data: data + b"\xff", "not a text in UTF-8"),
    "padded": Kind(padded, "json", lambda data: objects_in(3, ROWS + 1, bbox=[WHOLE] * (ROWS + 1)),
                   f"it has {ROWS + 1} rows, and pad_to has count={ROWS}"),
    "stereo": Kind(stereo, "right.png", lambda data: data[:200], f"'right.png': {CUT_PNG}"),
    "arrays": Kind(arrays, "x.npy", lambda data: data[:-1], "its field 'x.npy' is not an array"),
    "tokens": Kind(tokens, "tokens.u16", lambda tokens: np.arange(LENGTH + 2),
                   f"it has {LENGTH + 2} tokens, and there is room for {LENGTH}"),
}


@pytest.fixture(scope="module")
def data_of(tmp_path_factory):
    """Of a kind, whole or with one damaged sample."""
    folder, made = tmp_path_factory.mktemp("kinds"), {}

    def tar_of(path, kind, is_damaged):
        of = KINDS[kind]
        with tarfile.open(path, "w") as tar:
            for number in range(SAMPLES):
                for field, content in fields_of(number).items():
                    content = of.damage(content) if is_damaged and (number, field) == (DAMAGED, of.field) else content
                    member = tarfile.TarInfo(f"{number:04}.{field}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
        return stoker.open(path)

    def corpus_of(path, is_damaged):
        """Of documents, one of which is longer than a recipe takes."""
        documents = [np.arange(number, 2 * number + 2) % 99 for number in range(SAMPLES)]
        documents = [each[:LENGTH + 1] for each in documents]
        if is_damaged:
            documents[DAMAGED] = KINDS["tokens"].damage(documents[DAMAGED])
        stoker.tokens.write(path, documents, vocab=60000)
        return stoker.open(path, tokens="documents")

    def data(kind, is_damaged=False):
        if (kind, is_damaged) not in made:
            path = folder / f"{kind}-{is_damaged}"
            path.mkdir()
            made[kind, is_damaged] = (corpus_of(path / "a.bin", is_damaged) if kind == "tokens" else
                                      tar_of(path / "a.tar", kind, is_damaged))
        return made[kind, is_damaged]

    return data


def loader_of(data, kind, **options):
    usual = {"global_batch": GLOBAL_BATCH, "seed": SEED, "tail": "keep", "threads": 2, "tune": "off", "bad_sample": "fail"}
    return stoker.Loader(data, KINDS[kind].recipe(), **usual | options)


def plain(array):
    array = np.asarray(array)
    return array.dtype.str, array.shape, array.tobytes()


def outputs_of(values, slot):
    """Rows with what they are filled up with, if they are."""
    if hasattr(values, "counts"):
        return plain(np.asarray(values.values)[slot]), int(np.asarray(values.counts)[slot])
    return plain(values[slot] if hasattr(values, "offsets") else np.asarray(values)[slot])


def seen(batch):
    return [(batch.epoch, int(batch.position[slot]), key, {name: outputs_of(batch[name], slot) for name in batch.outputs})
            for slot, key in enumerate(batch.key)]


def epochs_of(loader, count=2):
    return [sample for epoch in range(count) for batch in loader.epoch(epoch) for sample in seen(batch)]


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_makes_the_same(data_of, kind):
    one, two = (epochs_of(loader_of(data_of(kind), kind, threads=threads)) for threads in (1, 2))
    assert one == two and len(one) == 2 * SAMPLES
    first, second = ({key: outputs for _, _, key, outputs in one[at:at + SAMPLES]} for at in (0, SAMPLES))
    assert len(first) == SAMPLES and len({repr(outputs) for outputs in first.values()}) == SAMPLES
    assert (first == second) == (kind == "tokens"), "all others have drawn"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["fail", "substitute", "skip"])
def test_ranks_share_a_global_batch(data_of, kind, policy):
    """Of whole data, and of data with a damaged sample."""
    data, options = data_of(kind, policy != "fail"), {"bad_sample": policy}
    ranks = [loader_of(data, kind, rank=rank, world=2, **options) for rank in range(2)]
    together = [sample for epoch in range(2) for batches in zip(*(loader.epoch(epoch) for loader in ranks), strict=True)
                for batch in batches for sample in seen(batch)]
    assert together == epochs_of(loader_of(data, kind, threads=1, **options)) and len(together) == 2 * SAMPLES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("world, is_damaged", [(1, False), (2, True)])
def test_the_rest_of_an_epoch_is_the_same_after_a_resume(data_of, kind, world, is_damaged):
    data, options = data_of(kind, is_damaged), {"bad_sample": "substitute" if is_damaged else "fail"}
    whole = epochs_of(loader_of(data, kind, **options), 1)
    first = loader_of(data, kind, **options)
    batches = iter(first)
    taken = seen(next(batches)) + seen(next(batches))
    state = json.loads(json.dumps(first.state_dict()))
    ranks = [loader_of(data, kind, rank=rank, world=world, threads=1, **options) for rank in range(world)]
    for loader in ranks:
        loader.load_state_dict(state)
    rest = [sample for batches in zip(*ranks, strict=True) for batch in batches for sample in seen(batch)]
    assert len(rest) == SAMPLES - 2 * GLOBAL_BATCH and taken + rest == whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["substitute", "skip"])
def test_a_damaged_sample_changes_no_other_one(data_of, kind, policy):
    """It is named, with what is wrong. Another one has its slot, or none."""
    damaged, whole = data_of(kind, True), data_of(kind)
    key = damaged.keys[DAMAGED]
    loader = loader_of(damaged, kind, bad_sample=policy)
    others = 0
    for batch, want in zip(loader.epoch(0), loader_of(whole, kind).epoch(0), strict=True):
        assert batch.position.tolist() == want.position.tolist()
        for slot, (has, wants) in enumerate(zip(seen(batch), seen(want))):
            if want.key[slot] != key:
                assert has == wants and batch.valid[slot]
                others += 1
            elif policy == "substitute":
                assert batch.valid[slot] and batch.key[slot] in set(damaged.keys) - {key}
                fields = damaged[damaged.keys.index(batch.key[slot])]
                alone = KINDS[kind].recipe().apply(fields, seed=SEED, position=int(batch.position[slot]))
                for name, value in alone.items():
                    found = has[3][name]
                    assert (found[0] if isinstance(found[0], tuple) else found) == plain(value)
            else:
                assert not batch.valid[slot]
                assert not any(len(batch[name][slot]) for name in batch.outputs if not hasattr(batch[name], "numpy"))
    assert others == SAMPLES - 1
    (entry,) = loader.quarantine
    assert entry["key"] == key and KINDS[kind].told in entry["reason"], entry
    assert loader.metrics()["bad_samples"] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_sample_ends_the_epoch_where_it_is_to(data_of, kind):
    damaged = data_of(kind, True)
    with pytest.raises(stoker.Error, match=damaged.keys[DAMAGED]) as caught:
        for _ in loader_of(damaged, kind).epoch(0):
            pass
    assert caught.value.kind == "bad_sample" and KINDS[kind].told in str(caught.value)
