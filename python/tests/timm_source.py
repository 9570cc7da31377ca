"""timm's own code, file by file: executing the package would need more than the tests have."""

import importlib.util
import types
from pathlib import Path


def timm_file(name):
    """A module of its own, which a test may change, from timm/data."""
    package = importlib.util.find_spec("timm")
    if package is None:
        raise ImportError("timm is not there; ./dev test fetches it, and gives its place in PYTHONPATH")
    path = Path(package.origin).parent / "data" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"timm_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class RecordedPicture:
    """Takes the place of Pillow's picture, and keeps what timm's functions do to it: (what, how much)."""

    mode = "RGB"

    def __init__(self, size):
        self.size, self.done = size, []

    def did(self, what, number=0.0):
        self.done.append((what, number))
        return self

    def transform(self, size, method, data, **_):
        for what, number in (("ShearX", data[1]), ("ShearY", data[3]), ("TranslateX", data[2]), ("TranslateY", data[5])):
            if number:
                self.did(what, number)
        return self

    def rotate(self, degrees, **_):
        return self.did("Rotate", degrees) if degrees else self

    def filter(self, blur):
        return self.did("Blur", blur.radius)

    def point(self, table):
        return self.did("SolarizeAdd", table[0])


def recording_policies():
    """timm's policies, for a RecordedPicture instead of one of Pillow's."""
    policies = timm_file("auto_augment")

    def enhancer(what):
        return lambda image: types.SimpleNamespace(enhance=lambda factor: image.did(what, factor))

    policies.ImageEnhance = types.SimpleNamespace(
        **{what: enhancer(what) for what in ("Brightness", "Color", "Contrast", "Sharpness")})
    policies.ImageOps = types.SimpleNamespace(
        autocontrast=lambda image: image.did("Autocontrast"), equalize=lambda image: image.did("Equalize"),
        invert=lambda image: image.did("Invert"), posterize=lambda image, bits: image.did("Posterize", max(bits, 0)),  # Pillow makes black of fewer, too
        solarize=lambda image, threshold: image.did("Solarize", threshold))
    return policies
