"""Objects as COCO's annotations have them: outlines, runs, keypoints; and pictures of ids."""

import io
import json

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 190, 130


def png(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def outlines_of(seed, count=4, width=WIDTH, height=HEIGHT):
    """By object one or two outlines, some of which reach out of the image."""
    rng = np.random.default_rng(seed)
    objects = []
    for _ in range(count):
        outlines = []
        for _ in range(rng.integers(1, 3)):
            corners = int(rng.integers(3, 12))
            angles = np.sort(rng.random(corners)) * 2 * np.pi
            middle, reach = rng.random(2) * [width, height], rng.uniform(8, 50, (corners, 1))
            outlines.append((middle + reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)).round(2).ravel().tolist())
        objects.append(outlines)
    return objects


def box_around(outlines):
    places = np.concatenate([np.reshape(outline, (-1, 2)) for outline in outlines])
    left, top = places.min(axis=0)
    right, bottom = places.max(axis=0)
    return [float(left), float(top), float(right - left), float(bottom - top)]


def annotations(shapes, boxes, **more):
    """JSON; `more` has a list for each further member."""
    return json.dumps([{"id": 100 + number, "category_id": 10 + number, "bbox": boxes[number], "segmentation": shape}
                       | {name: values[number] for name, values in more.items()}
                       for number, shape in enumerate(shapes)]).encode()


def runs_of(mask):
    """Lengths of 0 and 1 in turn, down the columns."""
    flat = np.concatenate([[0], mask.ravel(order="F"), [2]])
    ends = np.flatnonzero(np.diff(flat.astype(int)) != 0)
    return np.diff(np.concatenate([[0], ends])).tolist()


def coded(lengths):
    """The same as pycocotools writes it."""
    text = ""
    for number, length in enumerate(lengths):
        left = length - lengths[number - 2] if number > 2 else length
        while True:
            digit, left = left & 31, left >> 5
            more = left != (-1 if digit & 16 else 0)
            text += chr(48 + digit + 32 * more)
            if not more:
                break
    return text


def sample(objects, width=WIDTH, height=HEIGHT, **more):
    return {"image": png(np.zeros((height, width, 3), np.uint8)),
            "json": annotations(objects, [box_around(outlines) for outlines in objects], **more)}


def with_boxes(recipe, **arguments):
    recipe = recipe.view("boxes", field="json").like("image").decode_boxes("coco", **arguments)
    return recipe.view("labels").like("boxes").box_labels()
