"""Images made up for the tests, so that they need no files."""

import io

import numpy as np
import PIL
from PIL import Image

# The mode of decoding that follows the Pillow that is installed.
PILLOW = tuple(int(number) for number in PIL.__version__.split(".")[:2])
FAITHFUL = "faithful:13" if PILLOW >= (13, 0) else "faithful:12.2" if PILLOW >= (12, 2) else "faithful"


def picture(width, height, seed=0, mode="RGB"):
    """Slopes, edges and noise in every channel."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    channels = []
    for _ in range(4):
        slope = rng.uniform(-2, 2) * x + rng.uniform(-2, 2) * y + rng.uniform(0, 255)
        edge = 80 * ((x // int(rng.integers(3, 30)) + y // int(rng.integers(3, 30))) % 2)
        channels.append(np.clip(slope % 256 * 0.6 + edge + rng.normal(0, 12, (height, width)), 0, 255))
    pixels = np.stack(channels, -1).astype(np.uint8)
    image = Image.fromarray(pixels[..., :3], "RGB")
    if mode in ("RGBA", "LA"):
        image.putalpha(Image.fromarray(pixels[..., 3], "L"))
    if mode == "CMYK":
        return Image.fromarray(pixels, "CMYK")
    return image if image.mode == mode else image.convert(mode)


def encoded(image, format="JPEG", **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def decoded(data):
    """What PIL makes of the bytes."""
    return Image.open(io.BytesIO(data))


def rgb(data):
    return np.asarray(decoded(data).convert("RGB"))


def make_folder(path, classes, count, size=(60, 48)):
    """`count` JPEGs of about `size`, dealt to the classes in turn."""
    for number in range(count):
        folder = path / f"class_{number % classes}"
        folder.mkdir(parents=True, exist_ok=True)
        image = picture(size[0] + number % 7, size[1] + number % 5, seed=number)
        (folder / f"image_{number:03d}.jpg").write_bytes(encoded(image, quality=85))
    return path
