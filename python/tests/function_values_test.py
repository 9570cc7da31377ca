"""What functions of the user's get and give: pictures, boxes and masks in the form they ask for, and numbers as they are declared."""

import enum
import json
import sys
import types

import numpy as np
import pytest

import functions
import sample_images
import stoker

HEIGHT, WIDTH = 20, 100
BOX = {"id": 1, "category_id": 1, "bbox": [10, 5, 20, 10]}
MIRRORED_BOX = {"xyxy": [70, 5, 90, 15], "xywh": [70, 5, 20, 10], "cxcywh": [80, 10, 20, 10]}
BOXES = {"boxes": ("f32", (4,), 40)}


@pytest.fixture
def tv_tensors(monkeypatch):
    """Torchvision's, or where it is an older one, as much of them as these tests need."""
    torch, torchvision = pytest.importorskip("torch"), pytest.importorskip("torchvision")
    try:
        from torchvision import tv_tensors

        return tv_tensors
    except ImportError:
        pass

    class BoundingBoxes(torch.Tensor):
        @staticmethod
        def __new__(cls, data, *, format, canvas_size):
            made = data.as_subclass(cls)
            made.format, made.canvas_size = enum.Enum("BoundingBoxFormat", ["XYXY", "XYWH", "CXCYWH"])[format], canvas_size
            return made

    made = types.ModuleType("torchvision.tv_tensors")
    made.BoundingBoxes = BoundingBoxes
    made.Image, made.Mask = (type(name, (torch.Tensor,), {"__new__": lambda cls, data: data.as_subclass(cls)}) for name in ("Image", "Mask"))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr(torchvision, "tv_tensors", made, raising=False)
    return made


def picture(height=HEIGHT, width=WIDTH):
    """Black, with white where the box is."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[5:15, 10:30] = 255
    return sample_images.encoded(sample_images.Image.fromarray(pixels), "PNG")


SAMPLE = {"png": picture(), "d.png": picture(30, 40), "json": json.dumps([BOX | {"segmentation": [[10, 5, 30, 5, 30, 15, 10, 15]]}]).encode()}


def with_boxes(recipe, **arguments):
    return recipe.view("boxes", field="json").like("image").decode_boxes("coco", **arguments)


def shape(layout, height=HEIGHT, width=WIDTH):
    return (3, height, width) if layout == "nchw" else (height, width, 3)


def plain_tensor(tensor):
    import torch

    return tensor.as_subclass(torch.Tensor)


def mirrored(image, boxes):
    """As transforms of torchvision's do it: by what the boxes tell of themselves."""
    import torch

    width = boxes.canvas_size[1]
    left, top, third, fourth = plain_tensor(boxes).T
    moved = {"XYXY": [width - third, top, width - left, fourth], "XYWH": [width - left - third, top, third, fourth],
             "CXCYWH": [width - left, top, third, fourth]}[boxes.format.name]
    return image.flip(-1), torch.stack(moved, 1)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("form", MIRRORED_BOX)
def test_boxes_of_torchvision_know_their_form_and_their_image(tv_tensors, layout, form):
    recipe = with_boxes(stoker.recipe().decode().layout(layout), form=form)
    made = recipe.map(mirrored, ["image", "boxes"], {"image": ("u8", shape(layout))} | BOXES, values="torchvision").apply(SAMPLE)
    np.testing.assert_array_equal(made["boxes"], [MIRRORED_BOX[form]])
    np.testing.assert_array_equal(made["image"], recipe.apply(SAMPLE)["image"][:, :, ::-1] if layout == "nchw" else
                                  recipe.apply(SAMPLE)["image"][:, ::-1])


def canvas(*values):
    return np.array(values[-1].canvas_size, np.int64)


def test_the_canvas_is_that_of_the_image_of_the_boxes(tv_tensors):
    gives = {"canvas": ("i64", (2,))}

    def told(recipe, takes):
        return list(recipe.map(canvas, takes, gives, values="torchvision").apply(SAMPLE)["canvas"])

    for layout in ("nchw", "nhwc"):
        recipe = with_boxes(stoker.recipe().decode().layout(layout).view("depth", field="d.png").decode().layout(layout))
        assert told(recipe, ["depth", "image", "boxes"]) == [HEIGHT, WIDTH]
        with pytest.raises(stoker.Error, match="function 'canvas' takes view 'boxes' as torchvision's BoundingBoxes, .* images of view "
                                               "'image' differ in size: take that view too"):
            told(recipe, ["depth", "boxes"])
        sized = with_boxes(stoker.recipe().decode().resize((40, 50)).layout(layout).view("depth", field="d.png").decode())
        assert told(sized, ["depth", "boxes"]) == told(sized, "boxes") == [40, 50]


def test_boxes_that_torchvision_has_no_form_for_are_refused(tv_tensors):
    recipe = with_boxes(stoker.recipe().decode(), fractions=True)
    with pytest.raises(stoker.Error, match="BoundingBoxes, which count pixels, but the view's boxes are fractions") as caught:
        recipe.map(mirrored, ["image", "boxes"], BOXES, values="torchvision").apply(SAMPLE)
    assert caught.value.kind == "usage"
    recipe.map(functions.first, ["boxes", "image"], BOXES, values="torch").apply(SAMPLE)


def in_corners(boxes):
    from torchvision import ops, tv_tensors

    corners = ops.box_convert(plain_tensor(boxes), boxes.format.name.lower(), "xyxy")
    return tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=boxes.canvas_size)


@pytest.mark.parametrize("form", MIRRORED_BOX)
def test_boxes_take_the_place_of_a_view_in_its_form(tv_tensors, form):
    recipe = with_boxes(stoker.recipe().decode().resize((HEIGHT, WIDTH)), form=form)
    made = recipe.map(in_corners, "boxes", BOXES, values="torchvision").apply(SAMPLE)
    np.testing.assert_array_equal(made["boxes"], recipe.apply(SAMPLE)["boxes"])
    other = recipe.map(in_corners, "boxes", {"corners": ("f32", (4,), 40)}, values="torchvision").apply(SAMPLE)
    np.testing.assert_array_equal(other["corners"], [[10, 5, 30, 15]])


def kinds_of(*values):
    return " ".join(type(value).__name__ for value in values)


def test_masks_of_objects_are_masks_of_torchvision(tv_tensors):
    recipe = with_boxes(stoker.recipe().decode()).view("masks", field="json").like("boxes").decode_instances()
    recipe = recipe.map(kinds_of, ["image", "boxes", "masks"], {"kinds": ("u8", (), 100)}, values="torchvision")
    assert recipe.apply(SAMPLE)["kinds"].tobytes() == b"Image BoundingBoxes Mask"


def turned(image):
    """Only a picture of Pillow's can do that; its first column is not the one of an array in another layout."""
    return image.transpose(sample_images.Image.Transpose.FLIP_LEFT_RIGHT)


def as_array(image):
    return np.asarray(turned(image))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("function", [turned, as_array])
@pytest.mark.parametrize("width", [3, 4, 24])
def test_pictures_of_pillow_go_and_come_in_every_layout(layout, function, width):
    coded = sample_images.encoded(sample_images.picture(57, 43, seed=3))
    recipe = stoker.recipe().decode().resize((20, width)).layout(layout)
    made = recipe.map(function, "image", {"image": ("u8", shape(layout, 20, width))}, values="pil").apply(coded)["image"]
    np.testing.assert_array_equal(made, recipe.apply(coded)["image"][..., ::-1] if layout == "nchw" else recipe.apply(coded)["image"][:, ::-1])
    loose = recipe.map(function, "image", {"other": ("u8", (20, width, 3))}, values="pil").apply(coded)["other"]
    np.testing.assert_array_equal(loose, made if layout == "nhwc" else made.transpose(1, 2, 0))


def upside_down(image):
    assert image.shape[0] == 3
    return image.flip(1)


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("width", [3, 24])
def test_images_of_torchvision_go_and_come_in_every_layout(tv_tensors, layout, width):
    coded = sample_images.encoded(sample_images.picture(57, 43, seed=3))
    recipe = stoker.recipe().decode().resize((20, width)).layout(layout)

    def made(shape):
        return recipe.map(upside_down, "image", {"image": ("u8", shape)}, values="torchvision").apply(coded)["image"]

    plain = recipe.apply(coded)["image"]
    want = plain[:, ::-1] if layout == "nchw" else plain[::-1]
    np.testing.assert_array_equal(made(shape(layout, 20, width)), want)
    planes = want if layout == "nchw" else want.transpose(2, 0, 1)
    np.testing.assert_array_equal(made(planes.shape), planes)  # declared as the function gives them


def test_what_is_no_picture_of_pillow_is_refused_or_an_array():
    recipe = stoker.recipe().decode().resize((20, 24)).normalize("imagenet")
    with pytest.raises(stoker.Error, match="function 'turned' takes view 'image' as a picture of Pillow, .* the view's are of f32") as caught:
        recipe.map(turned, "image", {"image": ("f32", (3, 20, 24))}, values="pil").apply(SAMPLE)
    assert caught.value.kind == "usage"
    mask = sample_images.encoded(sample_images.Image.new("L", (WIDTH, HEIGHT), 7), "PNG")
    for dtype, want in (("u8", b"Image Image"), ("i64", b"Image ndarray")):
        recipe = stoker.recipe().decode().view("mask", field="d.png").like("image").decode_mask(dtype=dtype)
        recipe = recipe.map(kinds_of, ["image", "mask"], {"kinds": ("u8", (), 100)}, values="pil")
        assert recipe.apply(SAMPLE | {"d.png": mask})["kinds"].tobytes() == want


class Gives:
    def __init__(self, value):
        self.value = value

    def __call__(self, image):
        return self.value


def given(value, dtype, shape=(), *most):
    recipe = stoker.recipe().decode().map(Gives(value), "image", {"q": (dtype, shape, *most)})
    return recipe.apply(SAMPLE)["q"]


@pytest.mark.parametrize("value, dtype, number", [
    (300, "u8", "300"), (-1, "u8", "-1"), (1.7, "i64", "1.7"), (float("inf"), "i64", "inf"), (float("nan"), "i32", "nan"),
    (2**40, "i32", str(2**40)), (2**63, "i64", str(2**63)), (2**90, "u64", str(2**90)), (2, "bool", "2"), (0.5, "bool", "0.5"),
    (np.int64(300), "u8", "300"), (np.float64(1.5), "i64", "1.5")])
def test_a_number_that_its_type_does_not_have_is_refused(value, dtype, number):
    name = {"u8": "uint8", "i64": "int64", "i32": "int32", "u64": "uint64", "bool": "bool"}[dtype]
    words = rf"function 'Gives' gave 'q' with {number}, which {name} does not have"
    for whole, shape, most in ((value, (), ()), ([1, value], (2,), ()), ([[0, 1], [1, value]], (2,), (7,))):
        with pytest.raises(stoker.Error, match=words) as caught:
            given(whole, dtype, shape, *most)
        assert caught.value.kind == "bad_sample"


def test_numbers_that_their_type_has_are_given():
    for value, dtype in ((2.0, "i64"), (255, "u8"), (True, "i64"), (1, "bool"), (2**64 - 1, "u64"), (-2**63, "i64"), (np.int8(-3), "i64")):
        made = given(value, dtype)
        assert made == value and made.dtype.kind in "iub"
    assert given(0.1, "f32") == np.float32(0.1) and given(7, "f32") == 7
    assert list(given([2**53 + 1, 3.0], "i64", (2,))) == [2**53 + 1, 3]
    np.testing.assert_array_equal(given(np.arange(6, dtype=np.int64), "u8", (6,)), np.arange(6))
    np.testing.assert_array_equal(given(np.arange(6, dtype=">i2"), "i32", (), 9), np.arange(6))
    with pytest.raises(stoker.Error, match="gave 'q' with 256, which uint8 does not have"):
        given(np.arange(257), "u8", (257,))
    for value, words in ((np.float32([1, 2]), r"float32 \[2\]"), ("ab", r"uint8 \[2\]"), (["1", "2"], r"<U1 \[2\]")):
        with pytest.raises(stoker.Error, match=f"gave 'q' as {words}, but is to give int64"):
            given(value, "i64", (2,))


def test_fractions_become_the_nearest_of_sixteen_bits(folder):
    """1 + 2^-8 lies between two of them, and goes to the even one."""
    torch = pytest.importorskip("torch")
    numbers = [1.7, 1 + 2**-8, 1 + 3 * 2**-8, -3.0, float("-inf"), float("nan")]
    for value in (numbers, torch.tensor(numbers).bfloat16()):
        recipe = stoker.recipe().decode().map(Gives(value), "image", {"q": ("bf16", (6,))})
        made = torch.from_dlpack(next(iter(stoker.Loader(folder, recipe, batch=2, threads=1))).q)
        assert torch.equal(made[1][:5], torch.tensor(numbers[:5]).bfloat16()) and made[1][5].isnan()


def test_a_sample_whose_function_loads_torch_is_like_others(folder):
    """It is called once, and draws what it draws where torch is there already."""
    pytest.importorskip("torch")
    gives = {"image": ("u8", (20, 24, 3)), "draws": ("f64", (5,))}

    def samples(**options):
        recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc").view("plain", field="image").decode().resize((20, 24)).layout("nhwc")
        recipe = recipe.map(functions.loads_torch, "image", gives, **options)
        loader = stoker.Loader(folder, recipe, batch=8, seed=5, threads=2, tune="off")
        return [[np.array(np.from_dlpack(getattr(batch, name))) for name in ("plain", "image", "draws")] for batch in loader]

    late, early = samples(), samples(values="torch")
    for (plain, image, draws), (_, same, drawn) in zip(late, early):
        np.testing.assert_array_equal(image, plain + np.uint8(1))
        np.testing.assert_array_equal(same, image)
        np.testing.assert_array_equal(draws, drawn)


@pytest.mark.parametrize("function, words", [
    (functions.says_nothing, r"function 'says_nothing' raised Unprintable \(functions.py, line \d+\)"),
    (functions.says_bytes, r"function 'says_bytes' raised OSError: no file a\\udcff \(functions.py, line \d+\)")])
def test_errors_that_cannot_be_written_are_named(folder, function, words):
    recipe = stoker.recipe().decode().resize((20, 24)).map(function, "image", {"image": ("u8", (3, 20, 24))})
    with pytest.raises(stoker.Error, match=words):
        recipe.apply(picture())
    with pytest.raises(stoker.Error, match=words):
        next(iter(stoker.Loader(folder, recipe, batch=8, threads=1, bad_sample="fail")))
