"""Transforms of torchvision v2 in recipes, beside a bare call with the sample's seed. Run by the Python of an environment that
has torchvision; prints how many samples each case held for, or what it failed with.
Usage: function_torchvision.py TAR, whose samples have `jpg`, `mask.png` and `json` with objects of COCO's."""

import json
import sys
import traceback

import numpy as np
import stoker
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

SEED, BATCH, CLASSES, NAME = 3, 4, 5, "augment"
SIZE = (40, 56)
IMAGE, FLOATS = {"image": ("u8", (3, *SIZE))}, {"image": ("f32", (3, *SIZE))}
OBJECTS = {"boxes": ("f32", (4,), 9), "labels": ("i64", (), 9), "instances": ("u8", SIZE, 9)}


class Seed:
    """What torch was seeded with, in the place of what a transform makes of the sample."""

    def __call__(self, *values):
        return torch.initial_seed()


class SeedOfBatch:
    """The same for a batch."""

    def __call__(self, images, labels):
        return torch.full((len(images),), torch.initial_seed())


def of_each_object(values):
    """What goes with a box that is dropped."""
    return values[2], values[3]


def detection():
    return v2.Compose([v2.RandomPhotometricDistort(p=0.8), v2.RandomZoomOut(side_range=(1, 2)), v2.RandomIoUCrop(),
                       v2.RandomHorizontalFlip(), v2.RandomAffine(10), v2.Resize(SIZE), v2.ClampBoundingBoxes(),
                       v2.SanitizeBoundingBoxes(min_size=2, labels_getter=of_each_object)])


def segmentation():
    fill = {tv_tensors.Image: 0, tv_tensors.Mask: 255}
    return v2.Compose([v2.RandomResizedCrop(SIZE, scale=(0.2, 1)), v2.RandomRotation(20, fill=fill), v2.ElasticTransform(20.0),
                       v2.RandomVerticalFlip(), v2.ColorJitter(0.3, 0.3, 0.3, 0.1), v2.GaussianBlur(5)])


def classification():
    return v2.Compose([v2.RandomResizedCrop(SIZE), v2.RandomChoice([v2.TrivialAugmentWide(), v2.RandAugment(), v2.AugMix()]),
                       v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3), v2.GaussianNoise(),
                       v2.RandomErasing(1)])


def image(layout="nchw"):
    return stoker.recipe().decode().layout(layout)


def with_objects(form):
    recipe = image().view("boxes", field="json").like("image").decode_boxes("coco", form=form, min_size=0)
    recipe = recipe.view("labels").like("boxes").box_labels()
    return recipe.view("instances").like("boxes").decode_instances()


def tensors(made, form):
    """What a plain recipe makes, as tensors of torchvision's."""
    kinds = {"image": tv_tensors.Image, "mask": tv_tensors.Mask, "instances": tv_tensors.Mask}
    values = {name: kinds.get(name, torch.as_tensor)(torch.from_numpy(value)) for name, value in made.items() if name != "label"}
    if "boxes" in values:
        values["boxes"] = tv_tensors.BoundingBoxes(values["boxes"], format=form.upper(), canvas_size=made["image"].shape[-2:])
    return list(values.values())


def delivered(folder, recipe, threads):
    """Of each sample of an epoch, its key and position, and its outputs."""
    for batch in stoker.Loader(folder, recipe, batch=BATCH, seed=SEED, threads=threads, tune="off", bad_sample="fail"):
        for slot, key in enumerate(batch.key):
            yield key, int(batch.position[slot]), {
                name: np.array((values if hasattr(values, "as_list") else np.from_dlpack(values))[slot])
                for name, values in ((name, batch[name]) for name in batch.outputs)}


def equal(made, want):
    for name, values in want.items():
        np.testing.assert_array_equal(made[name], values, err_msg=name)
        assert made[name].dtype == values.dtype


def seeds_of(data):
    """By position, of a function of this name, whatever it takes."""
    recipe = image().map(Seed(), "image", {"seed": ("i64", ())}, values="torchvision", name=NAME)
    return {position: int(made["seed"]) for _, position, made in delivered(data, recipe, 1)}


def held(data, seeds, plain, make, takes, gives, form="xyxy", layout="nchw"):
    """The transform itself is what is mapped."""
    fields = {data[number]["key"]: data[number] for number in range(len(data))}
    laid = plain if layout == "nchw" else plain.view("image").layout(layout)
    mapped = laid.map(make(), takes, gives, values="torchvision", name=NAME)
    images, boxes = set(), 0
    for key, position, made in delivered(data, mapped, 2):
        torch.manual_seed(seeds[position])
        want = make()(*tensors(plain.apply(fields[key]), form))
        want = [each.numpy() for each in (want if len(gives) > 1 else [want])]
        if layout == "nhwc":
            want[0] = want[0].transpose(1, 2, 0)
        equal(made, dict(zip(gives, want)))
        equal(mapped.apply(fields[key], seed=SEED, position=position), made)
        images.add(made["image"].tobytes())
        boxes += len(made.get("boxes", []))
    assert boxes >= len(images) or "boxes" not in gives
    return len(images)


def of_a_batch(data, make):
    """Images and labels of the whole batch, which it mixes."""
    plain = stoker.recipe().decode().resize(SIZE).normalize("imagenet").view("class", field="class.json").json_number("")
    takes, gives = ["image", "class"], {**FLOATS, "target": ("f32", (CLASSES,))}
    mapped = plain.map(make(), takes, gives, values="torch", name=NAME, batch=True)
    seeds = plain.map(SeedOfBatch(), takes, {"seed": ("i64", ())}, values="torch", name=NAME, batch=True)
    seeds, before, after = (list(stoker.Loader(data, recipe, batch=BATCH, seed=SEED, threads=1))
                            for recipe in (seeds, plain, mapped))
    for told, one, other in zip(seeds, before, after):
        torch.manual_seed(int(told.seed.numpy()[0]))
        images, targets = make()(*(torch.from_numpy(one[name].numpy().copy()) for name in takes))
        assert not np.array_equal(images, one.image.numpy())
        equal({name: other[name].numpy() for name in gives}, {"image": images.numpy(), "target": targets.numpy()})
    return len(after) * BATCH


def main():
    data = stoker.open(sys.argv[1])
    seeds = seeds_of(data)
    cases = {}
    for form in ("xyxy", "xywh", "cxcywh"):
        cases[f"detection, {form}"] = lambda form=form: held(
            data, seeds, with_objects(form), detection, ["image", *OBJECTS], IMAGE | OBJECTS, form)
    mask = image().view("mask", field="mask.png").like("image").decode_mask()
    for layout, shape in (("nchw", (3, *SIZE)), ("nhwc", (*SIZE, 3))):
        cases[f"segmentation, {layout}"] = lambda layout=layout, shape=shape: held(
            data, seeds, mask, segmentation, ["image", "mask"], {"image": ("u8", shape), "mask": ("u8", SIZE)}, layout=layout)
    cases["classification"] = lambda: held(data, seeds, image(), classification, "image", FLOATS)
    cases["mixup"] = lambda: of_a_batch(data, lambda: v2.MixUp(num_classes=CLASSES))
    cases["cutmix"] = lambda: of_a_batch(data, lambda: v2.CutMix(num_classes=CLASSES))
    told = {}
    for name, case in cases.items():
        try:
            told[name] = case()
        except Exception:
            told[name] = traceback.format_exc()
    print(json.dumps(told))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
