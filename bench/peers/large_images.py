"""Photographs of 12 megapixels, as telephones make them: small ones enlarged, with noise as of a sensor, which is what most bits
of such a file code."""

import pathlib
import shutil

import numpy
from PIL import Image

COUNT = 32
WIDTH, HEIGHT = 4032, 3024
NOISE = 3.0  # standard deviation, of 255
QUALITY = 90


def large_images(build, folder):
    """A folder with one for each of the first photographs in `folder`, made anew."""
    made = build / "bench-data" / "large"
    shutil.rmtree(made, ignore_errors=True)
    (made / "photographs").mkdir(parents=True)
    paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))[:COUNT]
    for number, path in enumerate(paths):
        noise = numpy.random.default_rng(number)
        with Image.open(path) as image:
            wide = image.convert("RGB")
        wide = wide.transpose(Image.Transpose.ROTATE_90) if wide.height > wide.width else wide
        pixels = numpy.asarray(wide.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC), numpy.float32)
        pixels = numpy.clip(pixels + noise.normal(0, NOISE, pixels.shape).astype(numpy.float32), 0, 255)
        Image.fromarray(pixels.astype(numpy.uint8)).save(made / "photographs" / f"{number:03}.jpg", quality=QUALITY,
                                                         subsampling="4:2:0")
    return made
