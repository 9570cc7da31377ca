"""Photographs with objects, for the benchmark of detectors and segmentation: beside each image its objects as COCO writes them, and a
mask of classes. Outlines are blobs; their number and sizes are about COCO's."""

import json
import math
import pathlib
import shutil

import numpy as np
from PIL import Image, ImageDraw

CLASSES, OBJECTS_MEAN, CORNERS = 20, 7, 24
SIDE_MIN, SIDE_MAX = 0.03, 0.7  # of an object, as a part of the image's


def make(images, out):
    """Copies the images of a folder, and writes what belongs to each."""
    out = pathlib.Path(out)
    paths = sorted(path for path in pathlib.Path(images).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    for number, path in enumerate(paths):
        rng = np.random.default_rng(number)
        shutil.copyfile(path, out / f"{number:06}.jpg")
        with Image.open(path) as image:
            width, height = image.size
        objects = [blob(rng, width, height, identity) for identity in range(1, 2 + rng.poisson(OBJECTS_MEAN - 1))]
        (out / f"{number:06}.json").write_text(json.dumps(objects))
        mask = Image.new("L", (width, height))
        for one in objects:
            ImageDraw.Draw(mask).polygon(one["segmentation"][0], fill=one["category_id"])
        mask.save(out / f"{number:06}.mask.png")


def blob(rng, width, height, identity):
    """An object whose outline goes around its middle in a wavy circle."""
    side = SIDE_MIN * (SIDE_MAX / SIDE_MIN) ** rng.random()
    radius_x, radius_y = (0.5 * side * extent * math.exp(rng.normal(0, 0.2)) for extent in (width, height))
    x, y = rng.random() * width, rng.random() * height
    angles = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    wave = 1 + 0.2 * np.sin(3 * angles + rng.random() * 6) + 0.05 * rng.normal(size=CORNERS)
    xs = np.clip(x + radius_x * wave * np.cos(angles), 0, width)
    ys = np.clip(y + radius_y * wave * np.sin(angles), 0, height)
    outline = np.stack([xs, ys], 1).round(2)
    left, top = outline.min(0)
    right, bottom = outline.max(0)
    return {"id": identity, "category_id": int(rng.integers(1, CLASSES + 1)), "iscrowd": 0,
            "bbox": [round(float(one), 2) for one in (left, top, right - left, bottom - top)],
            "segmentation": [[float(number) for number in outline.reshape(-1)]]}
