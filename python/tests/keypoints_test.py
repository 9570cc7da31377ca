"""Keypoints go where their image goes. A mask with a dot at each tells where it went."""

import io
import json
import tarfile

import numpy as np
import pytest

import stoker
from objects_of_coco import HEIGHT, WIDTH, annotations, png, sample, with_boxes

POINTS = 5
PAIRS = "1-2,3-4"
MIRROR = [0, 2, 1, 4, 3]
DOT = 4  # pixels from its middle to its sides


def with_points(recipe, points=POINTS, flip_pairs=PAIRS, **arguments):
    return with_boxes(recipe, min_size=0).view("points").like("boxes").decode_keypoints(points, flip_pairs, **arguments)


def points_in(seed, count=3, points=POINTS):
    rng = np.random.default_rng(seed)
    places = np.stack([rng.integers(DOT, WIDTH - DOT, (count, points)), rng.integers(DOT, HEIGHT - DOT, (count, points)),
                       rng.integers(0, 3, (count, points))], axis=2)
    return places


def of_points(points, boxes=None):
    boxes = [[0, 0, WIDTH, HEIGHT]] * len(points) if boxes is None else boxes
    return sample([]) | {"json": annotations([[]] * len(points), boxes, keypoints=[np.ravel(each).tolist() for each in points])}


def dots(points):
    """A mask for each, which has the number of the point, from 1."""
    masks = {}
    for number, each in enumerate(points):
        mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        for point, (x, y, _) in enumerate(each):
            mask[y - DOT:y + DOT + 1, x - DOT:x + DOT + 1] = point + 1
        masks[f"mask{number}.png"] = png(mask)
    return masks


OPERATORS = {
    "crop": lambda r: r.center_crop(100),
    "padded": lambda r: r.center_crop(240),
    "random_crop": lambda r: r.random_crop(96, padding=20),
    "random_resized_crop": lambda r: r.random_resized_crop(160, scale=(0.3, 1)).random_flip(),
    "resize, flips": lambda r: r.resize((160, 190)).flip().flip("vertical"),
    "flip, crop, resize": lambda r: r.flip().random_crop(110).resize((300, 200)),
    "upside down": lambda r: r.resize((160, 190)).flip("vertical"),
    "pad": lambda r: r.resize((160, 190)).pad([3, 4, 5, 6]),
    "zoom_out": lambda r: r.zoom_out(300, (1, 2), p=0.9),
    "scale_jitter": lambda r: r.scale_jitter(200, scale=(0.8, 2)),
    "rotation": lambda r: r.resize((200, 200)).random_rotation(180),
    "rotation first": lambda r: r.random_rotation(20).random_resized_crop(200, scale=(0.5, 1)).random_flip(),
    "rotation, then padding": lambda r: r.random_rotation(20).resize((150, 150)).pad(3),
    "affine": lambda r: r.resize((200, 200)).random_affine(20, [0.1, 0.1], [0.8, 1.3], [10]),
    "perspective": lambda r: r.resize((200, 200)).random_perspective(0.3, p=1),
    "elastic": lambda r: r.resize((200, 200)).elastic(alpha=60, sigma=9),
    "a policy": lambda r: r.resize((200, 200)).rand_augment(),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_point_is_in_the_middle_of_its_dot(name):
    recipe = OPERATORS[name](stoker.recipe().decode())
    for number in range(3):
        recipe = recipe.view(f"mask{number}", field=f"mask{number}.png").like("image").decode_mask(fill=0)
    recipe = with_points(recipe, flip_pairs="none")
    seen = hidden = 0
    for position in range(6):
        points = points_in(position, 1)  # of which none covers another's dot
        points[0, :, 0] = np.linspace(DOT, WIDTH - 1 - DOT, POINTS).round()
        points = np.concatenate([points[:, [(i + k) % POINTS for i in range(POINTS)]] for k in range(3)])
        out = recipe.apply(of_points(points) | dots(points), seed=3, position=position)
        height, width = out["mask0"].shape
        assert out["points"].dtype == np.float32 and out["points"].shape == (len(out["labels"]), POINTS, 3)
        for label, rows in zip(out["labels"], out["points"]):
            mask = out[f"mask{label - 10}"]
            for point, (x, y, visibility) in enumerate(rows):
                at = np.argwhere(mask == point + 1)
                if points[label - 10, point, 2] == 0:
                    assert (x, y, visibility) == (0, 0, 0)
                    continue
                whole = len(at) > 0 and (at.min(axis=0) > 0).all() and (at.max(axis=0) < [height - 1, width - 1]).all()
                if visibility == 0:
                    assert (x, y) == (0, 0)
                    hidden += 1
                elif whole:  # not at the border of the output, nor cut off by much where the image ends
                    assert visibility == points[label - 10, point, 2]
                    assert np.abs(at.mean(axis=0) - [y, x]).max() < 3, (position, label, point)
                    seen += 1
                if len(at) == 0:
                    assert visibility == 0 or not (2 < x < width - 3 and 2 < y < height - 3)
    assert seen > 5
    if name == "crop":
        assert hidden > 5


@pytest.mark.parametrize("name", OPERATORS)
def test_both_executors_find_the_same_points(name):
    recipe = with_points(OPERATORS[name](stoker.recipe().decode()))
    for position in range(4):
        data = of_points(points_in(position))
        fast, plain = (recipe.apply(data, seed=5, position=position, reference=slow)["points"] for slow in (False, True))
        np.testing.assert_allclose(fast, plain, atol=2e-4)


def test_points_are_pixels():
    points = np.array([[[3, 4, 2], [0, 0, 1], [WIDTH - 1, HEIGHT - 1, 2], [9, 9, 0], [5, 6, 1]]])
    still = with_points(stoker.recipe().decode().center_crop((HEIGHT, WIDTH))).apply(of_points(points))["points"]
    np.testing.assert_array_equal(still[0], [[3, 4, 2], [0, 0, 1], [WIDTH - 1, HEIGHT - 1, 2], [0, 0, 0], [5, 6, 1]])
    larger = with_points(stoker.recipe().decode().resize((2 * HEIGHT, 2 * WIDTH))).apply(of_points(points))["points"]
    np.testing.assert_array_equal(larger[0, 0], [6.5, 8.5, 2])
    part = with_points(stoker.recipe().decode().resize((10, 10)), fractions=True).apply(of_points(points))["points"]
    np.testing.assert_allclose(part[0, 0], [3.5 / WIDTH, 4.5 / HEIGHT, 2], rtol=1e-6)
    cut = with_points(stoker.recipe().decode().crop(1, 0, 100, 100)).apply(of_points(points))["points"]
    np.testing.assert_array_equal(cut[0], [[2, 4, 2], [0, 0, 0], [0, 0, 0], [0, 0, 0], [4, 6, 1]])


@pytest.mark.parametrize("flips, mirrored", [("flip", True), ("vertical", True), ("both", False), ("flip, resize", True),
                                             ("warped", True), ("crossed", True)])
def test_left_and_right_change_places_in_a_mirror(flips, mirrored):
    decode, size = stoker.recipe().decode(), (HEIGHT, WIDTH)
    corners = [0, 0, WIDTH - 1, 0, WIDTH - 1, HEIGHT - 1, 0, HEIGHT - 1]
    exchanged = [WIDTH - 1, 0, 0, 0, 0, HEIGHT - 1, WIDTH - 1, HEIGHT - 1]
    recipe = {"flip": decode.center_crop(size).flip(), "vertical": decode.center_crop(size).flip("vertical"),
              "both": decode.flip().center_crop(size).flip("vertical"), "flip, resize": decode.flip().resize(size),
              "warped": decode.rotate(1e-3).resize(size).flip(),
              "crossed": decode.center_crop(size).perspective(exchanged, corners)}[flips]
    points = points_in(4, 2)
    points[:, :, 2] = 1 + np.arange(POINTS)
    out = with_points(recipe).apply(of_points(points))["points"]
    want = np.arange(1, POINTS + 1)[MIRROR] if mirrored else np.arange(1, POINTS + 1)
    np.testing.assert_array_equal(out[:, :, 2], [want, want])


def test_persons_of_coco_have_seventeen():
    recipe = with_boxes(stoker.recipe().decode().center_crop((HEIGHT, WIDTH)).flip())
    recipe = recipe.view("points").like("boxes").decode_keypoints()
    points = points_in(1, 1, 17)
    points[:, :, 2] = 2
    out = recipe.apply(of_points(points))["points"]
    mirror = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15]
    np.testing.assert_array_equal(out[0, :, 0], (WIDTH - 1 - points[0, :, 0])[mirror])
    np.testing.assert_array_equal(out[0, :, 1], points[0, mirror, 1])


def test_rows_are_those_of_the_boxes():
    points, boxes = points_in(2, 3), [[0, 0, 20, 20], [150, 90, 30, 30], [5, 5, 60, 60]]
    data = of_points(points, boxes)
    objects = json.loads(data["json"])
    del objects[2]["keypoints"]
    out = with_points(stoker.recipe().decode().crop(0, 0, 100, 100)).apply(data | {"json": json.dumps(objects).encode()})
    np.testing.assert_array_equal(out["labels"], [10, 12])
    assert out["points"].shape == (2, POINTS, 3)
    np.testing.assert_array_equal(out["points"][1], 0), "an object without any"


@pytest.mark.parametrize("points, words", [
    ([1, 2, 2], "an object has 3 numbers of keypoints, and 5 points have 15"), (3, "keypoints are not a list of numbers"),
    (["a"] * 15, "not a list of numbers"), ([[1, 2, 2]] * 5, "not a list of numbers"), ({"0": 1}, "not a list of numbers"),
])
def test_what_is_not_its_points_is_a_bad_sample(points, words):
    data = sample([]) | {"json": annotations([[]], [[0, 0, WIDTH, HEIGHT]], keypoints=[points])}
    for reference in (False, True):
        with pytest.raises(stoker.Error, match=words):
            with_points(stoker.recipe().decode().center_crop(64)).apply(data, reference=reference)


def test_numbers_beyond_sense_are_not_seen():
    points = [[1e308, 2, 2, 3, -1e308, 1, 5, 6, -2, 7, 8, 1e300, 95, 65, 2]]
    out = with_points(stoker.recipe().decode().resize((50, 50)).rotate(10)).apply(of_points(points))["points"][0]
    np.testing.assert_array_equal(out[:3], 0)
    assert np.isfinite(out).all() and out[4, 2] == 2


def test_what_makes_no_sense_is_refused_at_once():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply(of_points(points_in(1)))
        return str(error.value)

    image = stoker.recipe().decode().center_crop(64)
    boxes = with_boxes(image)
    assert "keypoints belong to boxes" in refusal(boxes.view("points").decode_keypoints())
    assert "no view 'image' has boxes" in refusal(boxes.view("points").like("image").decode_keypoints())
    assert "write '1-2,3-4', or 'none'" in refusal(with_points(image, flip_pairs="coco"))
    assert "'1' is no pair" in refusal(with_points(image, flip_pairs="1"))
    assert "'1-x' is no pair" in refusal(with_points(image, flip_pairs="1-x"))
    assert "the points are 0 to 4" in refusal(with_points(image, flip_pairs="1-2,3-5"))
    assert "a point twice: '2-3'" in refusal(with_points(image, flip_pairs="1-2, 2-3"))
    assert "a point twice: '1-1'" in refusal(with_points(image, flip_pairs="1-1"))
    voc = image.view("boxes", field="json").like("image").decode_boxes("voc").view("points").like("boxes").decode_keypoints()
    assert "are not read from COCO's JSON, which alone has keypoints" in refusal(voc)


def test_a_recipe_with_keypoints_is_read_back_as_it_was_written():
    recipe = with_points(stoker.recipe().decode().center_crop(64), fractions=True)
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize("index", [None, 0, 3])
def test_batches_hold_the_points_of_all_objects(tmp_path, index):
    fields = []
    for number in range(20):
        points = points_in(number, number % 5)
        fields.append(of_points(points) | {"image": png(np.full((HEIGHT, WIDTH, 3), number, np.uint8))})
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number, each in enumerate(fields):
            for field, content in (("png", each["image"]), ("json", each["json"])):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    recipe = with_points(stoker.recipe().decode().random_resized_crop(96, scale=(0.5, 1)).random_flip())
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    total = 0
    with stoker.Loader(stoker.open(tmp_path / "a.tar"), recipe, batch=5, seed=2, tune="off", **options) as loader:
        for batch in loader:
            assert np.asarray(batch.points.values).shape[1:] == (POINTS, 3)
            for slot, rows in enumerate(batch.points.as_list()):
                number = int(np.asarray(batch.image)[slot].max())
                alone = recipe.apply(fields[number], seed=2, epoch=batch.epoch, position=int(batch.position[slot]))
                np.testing.assert_array_equal(rows, alone["points"])
                total += len(rows)
    assert total > 20
