"""The contestants: how each is started, and what it is to be compared with."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    about: str
    command: tuple  # {folder}, {pack}, {raw} and {made} are what to read, {build} and {here} where programs lie
    environment: str | None = None  # of environments.py; without it, a program of our own
    variables: dict = dataclasses.field(default_factory=dict)
    has_pixels: bool = True


def stoker(name, about, data, mode, **more):
    return Contestant(name, about, ("{build}/bench_peer_stoker", data, mode), **more)


def python(name, about, environment, driver, *arguments):
    return Contestant(name, about, ("{here}/" + driver, "{folder}", *arguments), environment)


UNIT = "libjpeg"
CONTESTANTS = [
    Contestant(UNIT, "libjpeg-turbo decoding whole images, nothing else",
               ("{build}/bench_peer_libjpeg", "{folder}", "decode"), has_pixels=False),
    Contestant("plain", "libjpeg-turbo, then the transform in plain C++",
               ("{build}/bench_peer_libjpeg", "{folder}", "transform")),
    stoker("stoker", "Stoker, packed", "{pack}", "planar"),
    stoker("stoker-avx2", "Stoker, packed, held to AVX2", "{pack}", "planar", variables={"STOKER_ISA": "avx2"}),
    stoker("stoker-scaled", "Stoker, packed, decoded smaller", "{pack}", "planar-scaled"),
    stoker("stoker-no-index", "Stoker, loose files", "{folder}", "planar"),
    stoker("stoker-faithful", "Stoker, packed, faithful", "{pack}", "faithful"),
    stoker("stoker-raw", "Stoker, packed raw", "{raw}", "planar"),
    Contestant("opencv-c++", "OpenCV in C++, not antialiased", ("{build}/bench_peer_opencv", "{folder}")),
    python("opencv-python", "OpenCV in Python, not antialiased", "opencv", "opencv_peer.py"),
    python("pillow", "Pillow and NumPy", "pillow", "pillow_peer.py"),
    python("torchvision-pil", "torchvision, PIL images", "torchvision", "torchvision_peer.py", "pil"),
    python("torchvision-v2", "torchvision v2, tensors", "torchvision", "torchvision_peer.py", "v2"),
    python("dali", "DALI on the CPU", "dali", "dali_peer.py"),
    python("spdl", "SPDL", "spdl", "spdl_peer.py"),
    python("tf.data", "tf.data", "tensorflow", "tensorflow_peer.py"),
    python("ffcv", "FFCV, the same JPEGs", "ffcv", "ffcv_peer.py", "{made}/jpg.beton", "jpg"),
    python("ffcv-raw", "FFCV, raw", "ffcv", "ffcv_peer.py", "{made}/raw.beton", "raw"),
]
REFERENCE = "pillow"  # of pixels
# Photographs of 12 megapixels are for some, and decoding smaller is for them alone.
ONLY_LARGE = ("stoker-scaled",)
LARGE = (UNIT, "stoker", "stoker-avx2", "stoker-no-index", "stoker-faithful", "opencv-python", "pillow", "torchvision-v2",
         "dali", *ONLY_LARGE)


@dataclasses.dataclass(frozen=True)
class Aim:
    """What a ratio must reach, and what it is hoped to; of rates, or of processor time."""
    name: str
    against: str
    floor: float
    goal: float
    by_cpu: bool = False


LARGE_AIMS = [Aim("stoker", "dali", 6, 12), Aim("stoker-scaled", "dali", 6, 12)]
AIMS = [
    Aim("stoker", UNIT, 4, 7),
    Aim("stoker", "plain", 5, 8),
    Aim("stoker", "opencv-c++", 5.5, 9),
    Aim("stoker", "torchvision-pil", 9.5, 15),
    Aim("stoker", "torchvision-v2", 7.5, 12),
    Aim("stoker", "ffcv", 8, 12),
    Aim("stoker", "dali", 6, 10),
    Aim("stoker", "spdl", 11, 18, by_cpu=True),
    Aim("stoker", "tf.data", 9, 14, by_cpu=True),
    Aim("stoker-no-index", UNIT, 2, 2.5),
    Aim("stoker-no-index", "plain", 2.2, 3),
    Aim("stoker-faithful", "dali", 2.5, 4),
    Aim("stoker-raw", "ffcv-raw", 4, 8),
    Aim("stoker-avx2", UNIT, 3.2, 4.5),
    Aim("stoker-avx2", "plain", 3.2, 4.5),
]
