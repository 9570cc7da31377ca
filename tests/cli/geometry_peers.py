"""What image, mask, boxes and masks of objects become, beside torchvision v2 and albumentations given the same parameters. Run by the Python
of an environment that has them; prints how many comparisons held. What was drawn is read from keypoints: a grid of them tells the scale
and the offset of each axis.

    pixels          equal to torchvision's on Pillow's images (`faithful`)
    masks           equal to torchvision's NEAREST_EXACT, which is Pillow's nearest pixel, but for places between two pixels
    boxes           within 1e-3 of a pixel; the same ones are kept
"""

import io
import json

import albumentations as A
import numpy as np
import stoker
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import InterpolationMode, v2
from torchvision.transforms.v2 import functional as F

WIDTH, HEIGHT, GRID = 150, 110, 24
FILL = (124, 116, 104)
BOX_BOUND = 1e-3  # pixels
DECODE = f"faithful:{Image.__version__.partition('.')[0]}"


class Scene:
    """A noisy photograph with objects, and what both sides are given."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        small = rng.integers(0, 256, (11, 15, 3), np.uint8)
        image = Image.fromarray(small).resize((WIDTH, HEIGHT), Image.BICUBIC)
        jpeg, png = io.BytesIO(), io.BytesIO()
        image.save(jpeg, "JPEG", quality=92)
        self.mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        self.boxes, self.instances, objects = [], [], []
        for number in range(5):
            w, h = rng.integers(12, 70, 2)
            x, y = rng.random(2) * [WIDTH - w, HEIGHT - h]
            left, top = int(x), int(y)
            instance = np.zeros((HEIGHT, WIDTH), np.uint8)
            instance[top:top + h, left:left + w] = 1
            self.mask[instance == 1] = number + 1
            self.boxes.append([x, y, x + w, y + h])
            self.instances.append(instance)
            objects.append({"bbox": [x, y, int(w), int(h)], "category_id": number, "segmentation": runs_of(instance)})
        # One object over all of the image carries the grid.
        grid = [[x, y, 2] for y in np.linspace(0, HEIGHT - 1, GRID).round() for x in np.linspace(0, WIDTH - 1, GRID).round()]
        self.grid = np.array(grid)[:, :2]
        probe = {"bbox": [0, 0, WIDTH, HEIGHT], "category_id": 99, "keypoints": np.array(grid).reshape(-1).tolist()}
        Image.fromarray(self.mask).save(png, "PNG")
        self.data = {"jpg": jpeg.getvalue(), "mask.png": png.getvalue(), "json": json.dumps(objects).encode(),
                     "probe": json.dumps([probe]).encode()}
        self.image = Image.open(io.BytesIO(jpeg.getvalue())).convert("RGB")
        self.boxes = np.array(self.boxes, np.float32)

    def torchvisions(self):
        """Image, mask, boxes and masks of objects, in a dict that its transforms take."""
        return {"image": self.image, "mask": tv_tensors.Mask(torch.from_numpy(self.mask)),
                "boxes": tv_tensors.BoundingBoxes(torch.from_numpy(self.boxes), format="XYXY", canvas_size=(HEIGHT, WIDTH)),
                "instances": tv_tensors.Mask(torch.from_numpy(np.stack(self.instances))), "labels": torch.arange(len(self.boxes))}


def runs_of(mask):
    """COCO's: lengths down the columns, of 0 and of 1 in turns."""
    flat = mask.T.reshape(-1)
    changes = np.flatnonzero(np.diff(np.concatenate([[0], flat]))).tolist()
    ends = [0, *changes, flat.size]
    return {"size": [HEIGHT, WIDTH], "counts": [int(b - a) for a, b in zip(ends, ends[1:])]}


def recipe_of(image, **arguments):
    recipe = image.layout("nhwc")
    recipe = recipe.view("mask", field="mask.png").like("image").decode_mask(fill=9)
    recipe = recipe.view("boxes", field="json").like("image").decode_boxes("coco", **arguments)
    recipe = recipe.view("labels").like("boxes").box_labels().view("instances").like("boxes").decode_instances()
    recipe = recipe.view("probe", field="probe").like("image").decode_boxes("coco", min_size=0)
    return recipe.view("grid").like("probe").decode_keypoints(GRID * GRID, "none")


def begun():
    return stoker.recipe().decode(DECODE)


def drawn(scene, out):
    """Of each axis: the scale, negative where it is mirrored, and the offset; of edges of pixels, where 0 is the left one."""
    grid = out["grid"][0]
    seen = grid[:, 2] > 0
    found = []
    for axis in (0, 1):
        scale, offset = np.polyfit(scene.grid[seen, axis] + 0.5, grid[seen, axis].astype(float) + 0.5, 1)
        found.append((scale, offset))
    return found


def near_whole(number):
    assert abs(number - round(number)) < 0.02, number
    return round(number)


def sanitized(target):
    """Its float32 may put a box at the border a millionth of a pixel beyond it, which it would then drop."""
    target = {**target, "boxes": F.clamp_bounding_boxes(target["boxes"])}
    return v2.SanitizeBoundingBoxes(min_size=1, labels_getter=lambda sample: (sample["labels"], sample["instances"]))(target)


def compare(out, want, pixels=True):
    """Ours with torchvision's."""
    if pixels:
        np.testing.assert_array_equal(out["image"], np.asarray(want["image"]))
    np.testing.assert_array_equal(out["mask"], want["mask"].numpy())
    np.testing.assert_array_equal(out["labels"], want["labels"].numpy())
    np.testing.assert_allclose(out["boxes"].reshape(-1, 4), want["boxes"].numpy().reshape(-1, 4), atol=BOX_BOUND, rtol=0)
    np.testing.assert_array_equal(out["instances"], want["instances"].numpy().reshape(out["instances"].shape))


def nearest(mask, height, width):
    """torchvision's; but where the place is between two pixels, of which its float32 and Pillow take either, Pillow's."""
    made = F.resize(mask, [height, width], interpolation=InterpolationMode.NEAREST_EXACT)
    planes = mask.numpy().reshape(-1, *mask.shape[-2:])
    pillows = np.stack([Image.fromarray(plane).resize((width, height), Image.NEAREST) for plane in planes]).reshape(made.shape)
    rows, columns = ((np.arange(new) + 0.5) * old / new for old, new in ((mask.shape[-2], height), (mask.shape[-1], width)))
    between = [np.abs(places - places.round()) < 1e-4 for places in (rows, columns)]
    assert not (made.numpy() != pillows)[..., ~between[0], :][..., ~between[1]].any()
    return tv_tensors.wrap(torch.from_numpy(pillows), like=made)


def resized(target, height, width):
    made = {name: nearest(target[name], height, width) for name in ("mask", "instances")}
    return {**target, **made, "image": F.resize(target["image"], [height, width]), "boxes": F.resize(target["boxes"], [height, width])}


def each(target, transform):
    return {name: value if name == "labels" else transform(value, 9 if name == "mask" else 0 if name == "instances" else FILL)
            for name, value in target.items()}


def crop_flip_and_resize(scene, seed):
    rng = np.random.default_rng(seed)
    w, h = rng.integers(40, 100, 2)
    x, y = rng.integers(0, WIDTH - w), rng.integers(0, HEIGHT - h)
    out = recipe_of(begun().crop(int(x), int(y), int(w), int(h)).resize((48, 64)).flip()).apply(scene.data)
    want = each(scene.torchvisions(), lambda value, _: F.crop(value, int(y), int(x), int(h), int(w)))
    want = each(resized(want, 48, 64), lambda value, _: F.horizontal_flip(value))
    compare(out, sanitized(want))


def padding_and_vertical_flip(scene, _):
    out = recipe_of(begun().resize((55, 75)).pad((5, 6, 7, 8), FILL).flip("vertical")).apply(scene.data)
    want = each(resized(scene.torchvisions(), 55, 75), lambda value, fill: F.pad(value, [5, 6, 7, 8], fill=fill))
    compare(out, sanitized(each(want, lambda value, _: F.vertical_flip(value))))


def letterbox(scene, _):
    out = recipe_of(begun().letterbox(96, fill=FILL)).apply(scene.data)
    height = round(HEIGHT * 96 / WIDTH)
    top = (96 - height) // 2
    want = each(resized(scene.torchvisions(), height, 96), lambda value, fill: F.pad(value, [0, top, 0, 96 - height - top], fill=fill))
    compare(out, sanitized(want))


def iou_crop(scene, seed):
    """Which boxes RandomIoUCrop keeps: those whose middle is inside; and that it might have drawn the part."""
    side = 60
    out = recipe_of(begun().iou_crop(side, sampler_options=[0.3]).random_flip(), middle_seen=True).apply(scene.data, seed=seed)
    (across, x), (down, y) = drawn(scene, out)
    width, height = near_whole(side / abs(across)), near_whole(side / down)
    left, top = near_whole(-x / across if across > 0 else (side - x) / across), near_whole(-y / down)
    middles = (scene.boxes[:, :2] + scene.boxes[:, 2:]) / 2
    inside = ((middles > [left, top]) & (middles < [left + width, top + height])).all(1)
    seen = np.clip(scene.boxes, [left, top] * 2, [left + width, top + height] * 2)
    area, part = (np.prod(box[:, 2:] - box[:, :2], 1) for box in (scene.boxes, seen))
    whole = (left, top, width, height) == (0, 0, WIDTH, HEIGHT)
    assert whole or (inside & (part / (area + width * height - part) >= 0.3)).any()
    want = each(scene.torchvisions(), lambda value, _: F.crop(value, top, left, height, width))
    if not whole:
        want["boxes"][~torch.from_numpy(inside)] = 0
    want = resized(want, side, side)
    compare(out, sanitized(each(want, lambda value, _: F.horizontal_flip(value)) if across < 0 else want))


def large_scale_jitter(scene, seed):
    side = 90
    out = recipe_of(begun().scale_jitter(side, (0.3, 2), fill=FILL).random_flip()).apply(scene.data, seed=seed)
    (across, x), (down, y) = drawn(scene, out)
    width, height = near_whole(abs(across) * WIDTH), near_whole(down * HEIGHT)
    if across < 0:
        x = side - x
    left, top = near_whole(-x), near_whole(-y)
    want = each(resized(scene.torchvisions(), height, width), lambda value, _: F.crop(
        value, top, left, min(side, height), min(side, width)))
    want = each(want, lambda value, fill: F.pad(value, [0, 0, max(0, side - width), max(0, side - height)], fill=fill))
    compare(out, sanitized(each(want, lambda value, _: F.horizontal_flip(value)) if across < 0 else want))


def boxes_that_turn(scene, _):
    """By corners, as torchvision has it from 0.22 on; masks are sampled by other rules, at ties."""
    out = recipe_of(begun().resize((HEIGHT, WIDTH)).rotate(20)).apply(scene.data)
    target = scene.torchvisions()
    want = F.clamp_bounding_boxes(F.rotate(target["boxes"], 20))
    kept = [number for number, box in enumerate(want.numpy()) if (box[2:] - box[:2] >= 1).all()]
    np.testing.assert_array_equal(out["labels"], kept)
    np.testing.assert_allclose(out["boxes"], want.numpy()[kept], atol=0.01, rtol=0)
    turned = F.rotate(target["mask"], 20, fill=9).numpy()
    assert (out["mask"] != turned).mean() < 0.002


def albumentations_boxes(scene, seed):
    """Crop, flip, resize and letterbox, and which boxes are left by how much of them is seen."""
    rng = np.random.default_rng(seed)
    w, h = rng.integers(50, 100, 2)
    x, y = rng.integers(0, WIDTH - w), rng.integers(0, HEIGHT - h)
    params = A.BboxParams("pascal_voc", label_fields=["labels"], min_visibility=0.35)
    for image, transforms in (
            (begun().crop(int(x), int(y), int(w), int(h)).resize((48, 64)).flip(),
             [A.Crop(x, y, x + w, y + h), A.Resize(48, 64), A.HorizontalFlip(p=1)]),
            (begun().letterbox(96, fill=FILL), [A.LongestMaxSize(96), A.PadIfNeeded(96, 96, fill=FILL)])):
        out = recipe_of(image, min_visible=0.35, min_size=0).apply(scene.data)
        made = A.Compose(transforms, bbox_params=params)(image=np.asarray(scene.image), bboxes=scene.boxes, labels=np.arange(5))
        assert made["image"].shape == out["image"].shape
        np.testing.assert_array_equal(out["labels"], np.int64(made["labels"]))
        # LongestMaxSize keeps the aspect of boxes as parts of the image, whose sides it rounds.
        np.testing.assert_allclose(out["boxes"].reshape(-1, 4), np.float32(made["bboxes"]).reshape(-1, 4), atol=0.01, rtol=0)


def main():
    held = 0
    for compared, times in ((crop_flip_and_resize, 12), (padding_and_vertical_flip, 3), (letterbox, 3), (iou_crop, 25),
                            (large_scale_jitter, 25), (boxes_that_turn, 5), (albumentations_boxes, 12)):
        for seed in range(times):
            try:
                compared(Scene(seed), seed)
            except AssertionError as error:
                raise AssertionError(f"{compared.__name__}, {seed}") from error
            held += 1
    print(held, "held")


if __name__ == "__main__":
    main()
