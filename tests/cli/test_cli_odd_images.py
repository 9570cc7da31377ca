"""Images of every kind that one meets in the wild, damaged ones among them: the same samples whatever decodes them."""

import io
import json

import numpy
import pytest
from PIL import Image

SUBSAMPLINGS = {"444": 0, "422": 1, "420": 2}


def picture(random, width, height):
    coarse = random.integers(0, 256, (height // 12 + 2, width // 12 + 2, 3), dtype=numpy.uint8)
    smooth = numpy.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC), dtype=numpy.int16)
    return Image.fromarray(numpy.clip(smooth + random.integers(-12, 13, smooth.shape), 0, 255).astype(numpy.uint8))


def encoded(image, format="jpeg", **options):
    stream = io.BytesIO()
    image.save(stream, format=format, **options)
    return bytearray(stream.getvalue())


def damaged(random, data):
    """Bits flipped in the latter half, which is entropy-coded data."""
    for place in random.integers(len(data) // 2, len(data) - 10, 6):
        if data[place] != 0xFF and data[place - 1] != 0xFF:
            data[place] ^= 1 << int(random.integers(8))
    return data


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    random = numpy.random.default_rng(5)

    def write(name, data):
        (folder / f"class{len(name) % 3}").mkdir(exist_ok=True)
        (folder / f"class{len(name) % 3}" / name).write_bytes(data)

    def size():
        return [int(side) for side in random.integers(150, 420, 2)]

    for name, subsampling in SUBSAMPLINGS.items():
        for quality in (35, 90):
            write(f"plain-{name}-{quality}.jpg", encoded(picture(random, *size()), quality=quality, subsampling=subsampling))
        write(f"optimised-{name}.jpg", encoded(picture(random, *size()), optimize=True, subsampling=subsampling))
        write(f"progressive-{name}.jpg", encoded(picture(random, *size()), progressive=True, subsampling=subsampling))
        write(f"damaged-{name}.jpg", damaged(random, encoded(picture(random, *size()), subsampling=subsampling)))
    write("damaged-progressive.jpg", damaged(random, encoded(picture(random, *size()), progressive=True)))
    write("cut-short.jpg", encoded(picture(random, *size()))[:4000])
    write("no-picture.jpg", b"no picture")
    write("grey.jpg", encoded(picture(random, *size()).convert("L")))
    write("cmyk.jpg", encoded(picture(random, *size()).convert("CMYK")))
    exif = Image.Exif()
    exif[0x0112] = 6
    write("turned.jpg", encoded(picture(random, *size()), exif=exif))
    write("dot.jpg", encoded(picture(random, 1, 1)))
    write("line.jpg", encoded(picture(random, 300, 1)))
    write("palette.png", encoded(picture(random, *size()).convert("P"), format="png"))
    write("webp.webp", encoded(picture(random, *size()), format="webp"))
    return folder


@pytest.fixture(scope="module")
def packed(stoker, odd, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd-packed") / "out"
    stoker("pack", odd, folder, "--bad-sample", "keep")
    return folder


RUN = ["--recipe", "imagenet-train", "--batch", 7, "--epochs", 4, "--seed", 3]


def audit(stoker, at, data, *options, **how):
    """As Stoker.audit, of data that there is something to say about."""
    path = at / "audit.jsonl"
    done = stoker("run", data, *RUN, *options, "--audit", path, **how)
    assert done.returncode == 0 and "no-picture" in done.stderr, done
    return path.read_text().splitlines()


@pytest.fixture(scope="module")
def expected(stoker, odd, tmp_path_factory):
    return audit(stoker, tmp_path_factory.mktemp("odd-audit"), odd, "--threads", 1)


HOW = [["--threads", "1"], ["--threads", "2"], ["--no-index"], ["--direct"], ["--cache", "ram"]]
SPLIT = [["--device", "emulated:execute", "--transfer-index", str(index)] for index in range(4)]
NVJPEG = [*SPLIT[0], "--nvjpeg"]  # for which our decoders stand in there


@pytest.mark.parametrize("how", [*HOW, *SPLIT, [*SPLIT[0], "--no-index"], NVJPEG, [*NVJPEG, "--no-index"]], ids=" ".join)
def test_the_audit_is_the_same_with_and_without_an_index(stoker, packed, expected, tmp_path, how):
    assert len(expected) == 4 * 21, "three batches of 25 images an epoch"
    assert audit(stoker, tmp_path, packed, *how) == expected


@pytest.mark.parametrize("isa", ["avx3_dl", "avx3", "avx2", "sse4", "scalar"])
def test_the_audit_is_the_same_for_every_instruction_set(stoker, odd, packed, expected, tmp_path, isa):
    available = stoker("run", packed, *RUN, "--batches", 1, env={"STOKER_ISA": isa})
    if available.returncode == 2 and isa in available.stderr:
        pytest.skip(f"this machine has no {isa}")
    for number, data in enumerate((odd, packed)):
        place = tmp_path / str(number)
        place.mkdir()
        assert audit(stoker, place, data, env={"STOKER_ISA": isa}) == expected


def test_nvjpeg_is_left_what_has_no_entry_points(stoker, odd, packed):
    import stoker as library

    left = {}
    for data in (packed, odd):
        with library.Loader(data, library.recipe("imagenet-train"), batch=5, device="emulated:execute",
                            nvjpeg=True) as loader:
            assert len(list(loader)) == 5
            left[data] = loader.metrics()["nvjpeg_images"]
    assert 3 <= left[packed] <= 8, "the progressive files; some of the next epoch may have been made ahead"
    assert left[odd] >= 15


def test_nvjpeg_needs_a_device(stoker, packed):
    assert "no device that it decodes on" in stoker.refusal(2, "run", packed, *RUN, "--nvjpeg")


def test_all_ways_of_decoding_had_their_share(stoker, odd, packed):
    import stoker as library

    seen = {}
    for data in (packed, odd):
        with library.Loader(data, library.recipe("imagenet-train"), batch=5) as loader:
            assert len(list(loader)) == 5
            seen[data] = loader.metrics()
        assert seen[data]["bad_samples"] == 2
    assert seen[packed]["entry_points_used"] >= 12
    assert seen[odd]["entry_points_used"] == 0
    for metrics in seen.values():
        assert metrics["jpeg_fallbacks"] >= 5, "four progressive files, and one at least of the damaged"
    info = json.loads(stoker("info", packed, "--json").stdout)
    left = {images["reason"]: images for images in info["left_to_libjpeg"]}
    assert left["progressive"]["images"] == 4 and left["CMYK"]["images"] == 1
    assert left["damaged parts, which decoders conceal"]["images"] >= 1
    assert "cmyk" in left["CMYK"]["first"]


def test_portable_maps_are_images_like_others(stoker, tmp_path):
    data, random = tmp_path / "data", numpy.random.default_rng(7)
    for name, mode in {"a/colours.ppm": "RGB", "a/greys.PGM": "L", "b/bits.pbm": "1", "b/any.pnm": "RGB"}.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(encoded(picture(random, 60, 40).convert(mode), format="ppm"))
    (data / "b/text.ppm").write_bytes(b"P3\n# two pixels\n2 1\n15\n1 2 3\n4 5 15\n")
    (data / "b/wide.pgm").write_bytes(b"P5 2 1 1000\n\0\1\3\xe8")
    info = stoker.json("info", data)
    assert (info["samples"], info["codecs"], info["problems"]) == (6, {"pnm": 6}, [])
    for number, (options, name, codecs) in enumerate([
            ([], "pnm", {"pnm": 6}), (["--quality", 90], "jpg", {"jpeg": 6}), (["--raw"], "npy", {"raw": 6}),
            (["--resize-short", 20], "jpg", {"jpeg": 4, "pnm": 2}), (["--format", "tfrecord"], "pnm", {"pnm": 6})]):
        packed = tmp_path / str(number)
        assert stoker("pack", data, packed, *options).returncode == 0
        assert stoker("verify", packed).returncode == 0
        info = stoker.json("info", packed)
        assert info["samples"] == 6 and info["codecs"] == codecs and name in info["fields"]
    audits = [tmp_path / "folder.jsonl", tmp_path / "packed.jsonl"]
    for place, path in zip((data, tmp_path / "0"), audits):
        stoker.json("run", place, "--recipe", "imagenet-train", "--batch", 2, "--seed", 3, "--audit", path)
    assert audits[0].read_text() == audits[1].read_text()
    (data / "a/cut.ppm").write_bytes(b"P6 60 40 255\nabc")
    done = stoker("verify", data)
    assert done.returncode == 1 and "a/cut" in done.stdout
    assert "the PNM data cannot be decoded: it is truncated: its 60 x 40 pixels do not fit in the 3 bytes" in done.stdout
