"""Transforms of torchvision v2 are mapped as they are: function_torchvision.py compares them with a bare call. With --full."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

import objects_of_coco
import sample_images
import stoker

pytestmark = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")

HERE = Path(__file__).resolve().parent
SAMPLES = 8


@pytest.fixture(scope="module")
def told(tmp_path_factory, frameworks):
    """Samples of several sizes, with 0 to 4 objects, and what came of each case."""
    at = tmp_path_factory.mktemp("torchvision") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(SAMPLES):
            width, height = 90 + 7 * number, 80 - 3 * number
            outlines = objects_of_coco.outlines_of(number, number % 5, width, height)
            boxes = [objects_of_coco.box_around(each) for each in outlines]
            mask = np.random.default_rng(number).integers(0, 9, (height, width), np.uint8)
            classes = [(number + k) % 5 for k in range(len(boxes))]
            fields = {"jpg": sample_images.encoded(sample_images.picture(width, height, seed=number)),
                      "mask.png": objects_of_coco.png(mask), "class.json": json.dumps(number % 5).encode(),
                      "json": objects_of_coco.annotations(outlines, boxes, category_id=classes)}
            for field, content in fields.items():
                member = tarfile.TarInfo(f"{number}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    done = subprocess.run([frameworks, HERE / "function_torchvision.py", at], text=True, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(Path(stoker.__file__).parents[1])})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", ["detection, xyxy", "detection, xywh", "detection, cxcywh", "segmentation, nchw",
                                  "segmentation, nhwc", "classification", "mixup", "cutmix"])
def test_a_transform_makes_of_a_sample_what_a_bare_call_makes_of_it(told, case):
    assert told[case] == SAMPLES, told[case]
