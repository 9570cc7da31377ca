"""Keypoints go where torchvision v2 takes them, within a thousandth of a pixel. With --full."""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

import stoker

HERE = Path(__file__).resolve().parent
SCRIPT = """
    import numpy as np
    import stoker
    import torch
    from objects_of_coco import HEIGHT, WIDTH, annotations, png
    from torchvision import tv_tensors
    from torchvision.transforms.v2 import functional as F

    POINTS, BOUND, OUTSIDE = 40, 1e-3, 0.01  # in pixels
    SIZE, CORNERS = (HEIGHT, WIDTH), [[0, 0], [WIDTH - 1, 0], [WIDTH - 1, HEIGHT - 1], [0, HEIGHT - 1]]
    ENDS = [[10, 5], [WIDTH - 20, 0], [WIDTH - 1, HEIGHT - 12], [6, HEIGHT - 1]]
    # Stoker's, torchvision's, and from where that counts pixels: the middle of the first one, or half a pixel before.
    WARPS = {
        "flip": (lambda r: r.flip(), F.horizontal_flip, 0),
        "vertical flip": (lambda r: r.flip("vertical"), F.vertical_flip, 0),
        "crop": (lambda r: r.crop(30, 20, 140, 100), lambda k: F.crop(k, 20, 30, 100, 140), 0),
        "resize": (lambda r: r.resize((77, 301)), lambda k: F.resize(k, [77, 301]), 0.5),
        "rotate": (lambda r: r.resize(SIZE).rotate(20), lambda k: F.rotate(k, 20), 0.5),
        "affine": (lambda r: r.resize(SIZE).affine(15, (7, -4), 0.9, (10, 5)),
                   lambda k: F.affine(k, 15, [7, -4], 0.9, [10, 5]), 0.5),
        "perspective": (lambda r: r.resize(SIZE).perspective(sum(ENDS, []), sum(CORNERS, [])),
                        lambda k: F.perspective(k, CORNERS, ENDS), 0.5),
        "rotate, resize": (lambda r: r.rotate(-35).resize((200, 120)), lambda k: F.resize(F.rotate(k, -35), [200, 120]), 0.5),
    }


    def main():
        rng = np.random.default_rng(3)
        points = np.stack([rng.integers(0, WIDTH, POINTS), rng.integers(0, HEIGHT, POINTS), np.full(POINTS, 2)], axis=1)
        data = {"image": png(np.zeros((HEIGHT, WIDTH, 3), np.uint8)),
                "json": annotations([[]], [[0, 0, WIDTH, HEIGHT]], keypoints=[points.ravel().tolist()])}
        for name, (warp, theirs, origin) in WARPS.items():
            recipe = warp(stoker.recipe().decode()).view("boxes", field="json").like("image").decode_boxes("coco", min_size=0)
            made = recipe.view("points").like("boxes").decode_keypoints(POINTS, "none").apply(data)
            height, width = made["image"].shape[-2:]
            placed = tv_tensors.KeyPoints(torch.tensor(points[:, :2] + origin, dtype=torch.float32), canvas_size=SIZE)
            want = theirs(placed).numpy() - origin
            seen = made["points"][0, :, 2] > 0
            np.testing.assert_allclose(made["points"][0, seen, :2], want[seen], atol=BOUND, rtol=0, err_msg=name)
            beyond = (np.abs(want + 0.5 - [width / 2, height / 2]) - [width / 2, height / 2]).max(axis=1)
            assert (beyond[~seen] > -OUTSIDE).all() and (beyond[seen] < OUTSIDE).all(), (name, beyond)
            assert seen.sum() > POINTS / 2, name
        print(len(WARPS), "held")


    main()
"""


@pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")
def test_keypoints_are_those_of_torchvision(frameworks):
    module = Path(stoker.__file__).parents[1]
    done = subprocess.run([frameworks, "-c", textwrap.dedent(SCRIPT)], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": f"{module}:{HERE}"})
    assert (done.returncode, done.stdout) == (0, "8 held\n"), done.stderr
