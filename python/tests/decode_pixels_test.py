"""Decoded pixels are PIL's, bit for bit, from the fast executor and from the one that defines them."""

import struct

import numpy as np
import pytest
from PIL import Image, ImageOps, features

import stoker
from sample_images import decoded, encoded, picture, rgb

AVIF_APART = 3  # another libavif may round otherwise
SIZES = [(1, 1), (2, 3), (7, 9), (8, 8), (15, 17), (16, 16), (17, 33), (100, 75)]
both_executors = pytest.mark.parametrize("reference", [False, True], ids=["fast", "reference"])


def pixels(data, reference, **decode):
    return stoker.recipe().decode("faithful", **decode).layout("nhwc").apply(data, reference=reference)["image"]


@both_executors
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_jpeg_of_every_subsampling_and_quality_decodes_as_in_pil(subsampling, size, reference):
    for quality in (1, 30, 75, 90, 100):
        for progressive in (False, True):
            data = encoded(picture(*size, seed=quality), subsampling=subsampling, quality=quality, progressive=progressive)
            np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_jpeg_of_other_colour_spaces_decodes_as_in_pil(mode, size, reference):
    data = encoded(picture(*size, mode=mode), quality=90)
    assert decoded(data).mode == mode
    np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_png_of_every_mode_decodes_as_in_pil(mode, size, reference):
    data = encoded(picture(*size, mode=mode), "PNG")
    assert decoded(data).mode == mode
    np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("options", [{"quality": 80}, {"lossless": True}], ids=["lossy", "lossless"])
def test_webp_decodes_as_in_pil(mode, options, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "WEBP", **options)
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("options", [{"quality": 80}, {"lossless": True}], ids=["lossy", "lossless"])
def test_an_animated_webp_is_its_first_frame_as_in_pil(mode, options, reference):
    for size in SIZES[3:]:
        frames = [picture(*size, seed=seed, mode=mode) for seed in (2, 3)]
        data = encoded(picture(*size, seed=1, mode=mode), "WEBP", save_all=True, append_images=frames, **options)
        assert decoded(data).n_frames == 3
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


def bmp_of(picture, bits, masks=None, top_down=False):
    """A BMP whose pixels are the picture's bytes, read as pixels of so many bits."""
    width, height = picture.size
    stride = (width * bits + 31) // 32 * 4
    data = np.resize(np.frombuffer(picture.tobytes(), np.uint8), stride * height).tobytes()
    after = b"".join(struct.pack("<I", mask) for mask in masks or ())
    if bits <= 8:
        after = np.resize(np.frombuffer(picture.tobytes(), np.uint8), 4 << bits).tobytes()
    begin = 54 + len(after)
    return (b"BM" + struct.pack("<III", begin + len(data), 0, begin) + struct.pack(
        "<IiiHHIIIIII", 40, width, -height if top_down else height, 1, bits, 3 if masks else 0, len(data), 0, 0, 0, 0)
        + after + data)


@both_executors
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_bmp_of_every_mode_decodes_as_in_pil(mode, size, reference):
    data = encoded(picture(*size, mode=mode), "BMP")
    np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("bits, masks", [
    (1, None), (4, None), (8, None), (16, None), (16, (0xF800, 0x7E0, 0x1F)), (16, (0x7C00, 0x3E0, 0x1F)), (24, None),
    (32, None), (32, (0xFF0000, 0xFF00, 0xFF)), (32, (0xFF000000, 0xFF0000, 0xFF00))], ids=str)
def test_bmp_of_every_depth_decodes_as_in_pil(bits, masks, reference):
    for size in SIZES:
        for top_down in (False, True):
            data = bmp_of(picture(*size, seed=bits), bits, masks, top_down)
            np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("mode", ["1", "L", "RGB"])
def test_pnm_of_every_mode_decodes_as_in_pil(mode, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "PPM")
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


def pnm_of(kind, size, most):
    """A PNM of random values up to `most`: as text with comments, or as bytes."""
    width, height = size
    values = np.random.default_rng(most).integers(0, most + 1, width * height * (3 if kind in "36" else 1))
    header = f"P{kind}\n# a comment\n{width} {height} # and another\n" + (f"{most}\n" if kind not in "14" else "")
    if kind in "123":
        return header.encode() + "# of the pixels\n".join(f"{value}\n" for value in values).encode()
    if kind == "4":
        return header.encode() + np.packbits(values.reshape(height, width).astype(bool), axis=1).tobytes()
    return header.encode() + values.astype(np.uint8 if most < 256 else ">u2").tobytes()


@both_executors
@pytest.mark.parametrize("kind, most", [
    ("1", 1), ("2", 1), ("2", 15), ("2", 100), ("2", 255), ("3", 1), ("3", 2), ("3", 100), ("3", 255), ("3", 256), ("3", 1023),
    ("3", 65535), ("4", 1), ("5", 1), ("5", 15), ("5", 100), ("5", 254), ("6", 1), ("6", 2), ("6", 100), ("6", 254), ("6", 256),
    ("6", 1023), ("6", 65535)], ids=str)
def test_pnm_of_every_kind_and_largest_value_decodes_as_in_pil(kind, most, reference):
    for size in SIZES:
        data = pnm_of(kind, size, most)
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("kind", "25")
@pytest.mark.parametrize("most", [256, 1023, 4095, 65535])
def test_pnm_of_wide_greys_keeps_the_high_byte_of_what_pil_reads(kind, most, reference):
    for size in SIZES:
        data = pnm_of(kind, size, most)
        assert decoded(data).mode == "I"
        np.testing.assert_array_equal(pixels(data, reference), np.repeat(np.asarray(decoded(data))[..., None] >> 8, 3, -1))


@both_executors
@pytest.mark.parametrize("mode", ["1", "L", "P"])
@pytest.mark.parametrize("options", [{}, {"interlace": 0}, {"transparency": 3}], ids=str)
def test_gif_decodes_as_in_pil(mode, options, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "GIF", **options)
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
def test_an_animated_gif_is_its_first_frame_as_in_pil(reference):
    for size in SIZES[3:]:
        frames = [picture(*size, seed=seed, mode="P") for seed in (2, 3)]
        data = encoded(picture(*size, seed=1, mode="P"), "GIF", save_all=True, append_images=frames)
        assert decoded(data).n_frames == 3
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize(
    "compression", ["raw", "packbits", "tiff_lzw", "tiff_deflate", "tiff_adobe_deflate", "zstd", "jpeg"])
def test_tiff_of_every_mode_decodes_as_in_pil(mode, compression, reference):
    if compression == "jpeg" and mode in ("1", "LA", "P", "RGBA"):
        pytest.skip("JPEG data have no such pixels")
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "TIFF", compression=compression)
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.parametrize("compression", ["group3", "group4", "tiff_ccitt"])
def test_tiff_of_fax_data_decodes_as_in_pil(compression, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode="1"), "TIFF", compression=compression)
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
def test_tiff_of_16_bits_keeps_the_high_byte(reference):
    for size in SIZES:
        values = np.random.default_rng(1).integers(0, 65536, size[::-1]).astype(np.uint16)
        data = encoded(Image.fromarray(values), "TIFF", compression="tiff_lzw")
        np.testing.assert_array_equal(pixels(data, reference), np.repeat(values[..., None] >> 8, 3, -1))


@both_executors
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_of_a_tiff_is_applied_when_asked(orientation, reference):
    image = picture(40, 27)
    data = encoded(image, "TIFF", tiffinfo={274: orientation})
    exif = image.getexif()
    exif[0x0112] = orientation
    upright = ImageOps.exif_transpose(decoded(encoded(image, "PNG", exif=exif)))
    np.testing.assert_array_equal(pixels(data, reference, orientation="apply"), np.asarray(upright))
    np.testing.assert_array_equal(pixels(data, reference, orientation="ignore"), np.asarray(image))


@both_executors
@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
@pytest.mark.parametrize("options", [
    {}, {"no_jp2": True}, {"irreversible": True, "quality_layers": [20, 5]}, {"tile_size": (16, 16), "progression": "RPCL"}], ids=str)
def test_jpeg_2000_decodes_as_in_pil(mode, options, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "JPEG2000", **options)
        assert decoded(data).mode == mode
        np.testing.assert_array_equal(pixels(data, reference), rgb(data))


@both_executors
@pytest.mark.skipif(not features.check("avif"), reason="this Pillow has no AVIF")
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_avif_decodes_close_to_pil(mode, subsampling, reference):
    for size in SIZES:
        data = encoded(picture(*size, mode=mode), "AVIF", quality=90, subsampling=subsampling, speed=10)
        apart = np.abs(pixels(data, reference).astype(int) - rgb(data))
        assert apart.max() <= AVIF_APART


@both_executors
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied_as_by_pil_when_asked(orientation, reference):
    image = picture(40, 27)
    exif = image.getexif()
    exif[0x0112] = orientation
    data = encoded(image, exif=exif, subsampling="4:2:0")
    upright = np.asarray(ImageOps.exif_transpose(decoded(data)).convert("RGB"))
    np.testing.assert_array_equal(pixels(data, reference, orientation="apply"), upright)
    np.testing.assert_array_equal(pixels(data, reference, orientation="ignore"), rgb(data))

    box = (3, 5, 3 + 11, 5 + 9)
    cropped = stoker.recipe().decode("faithful", orientation="apply").crop(3, 5, 11, 9).layout("nhwc")
    np.testing.assert_array_equal(
        cropped.apply(data, reference=reference)["image"], np.asarray(ImageOps.exif_transpose(decoded(data)).crop(box)))


@both_executors
@pytest.mark.parametrize("damage", ["empty", "garbage", "cut in the header", "cut in the pixels", "text"])
def test_bad_bytes_are_a_bad_sample(damage, reference):
    good = encoded(picture(64, 64))
    bad = {
        "empty": b"",
        "garbage": bytes(range(256)) * 4,
        "cut in the header": good[:50],
        "cut in the pixels": good[: len(good) // 2],
        "text": b"<html>not found</html>",
    }[damage]
    with pytest.raises(stoker.Error) as caught:
        pixels(bad, reference)
    assert caught.value.kind == "bad_sample"


@both_executors
def test_a_picture_above_the_limit_is_refused_with_the_argument_that_takes_it(reference):
    data = encoded(picture(40, 25))
    recipe = stoker.recipe().decode().resize([8, 8])
    with pytest.raises(stoker.Error, match=r"above the limit of 999 pixels.*set pixels_max.* to 1000") as error:
        recipe.apply(data, pixels_max=999, reference=reference)
    assert error.value.kind == "limit"
    assert recipe.apply(data, pixels_max=1000, reference=reference)["image"].shape == (3, 8, 8)
    for wrong in (0, -1, "many"):
        with pytest.raises(stoker.Error, match="pixels_max"):
            recipe.apply(data, pixels_max=wrong, reference=reference)


def test_a_loader_takes_pictures_up_to_the_limit_that_it_is_given(tmp_path):
    (tmp_path / "large.jpg").write_bytes(encoded(picture(40, 25)))
    (tmp_path / "small.jpg").write_bytes(encoded(picture(20, 10)))
    for pixels_max, bad in ((999, ["large"]), (1000, [])):
        with stoker.Loader(tmp_path, stoker.recipe().decode().resize([8, 8]), batch=2, pixels_max=pixels_max) as loader:
            assert len(list(loader)) == 1
            assert [sample["key"] for sample in loader.quarantine] == bad
