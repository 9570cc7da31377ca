"""Texts and other bytes: of each sample as many as it has, whatever they are."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

CAPTIONS = ["a dog", "", "Zwei Hündinnen 🐕 im Schnee", "\0 a null", "x" * 300, "日本語の説明"]


def image():
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (1, 2, 3)).save(out, "PNG")
    return out.getvalue()


def with_text(**arguments):
    return stoker.recipe().decode().resize((16, 16)).view("caption", field="txt").decode_text(**arguments)


def text_of(content, **arguments):
    return bytes(with_text(**arguments).apply({"image": image(), "txt": content})["caption"]).decode()


@pytest.mark.parametrize("caption", CAPTIONS, ids=range(len(CAPTIONS)))
def test_a_text_is_a_field_or_a_part_of_its_json(caption):
    assert text_of(caption.encode()) == caption
    nested = json.dumps({"caption": caption, "captions": [{"text": "no"}, {"text": caption}]}).encode()
    assert text_of(nested, key="caption") == text_of(nested, key="/captions/1/text") == caption


def test_what_is_too_long_is_refused_or_cut_between_characters():
    caption = "ab🐕é"  # of 1, 1, 4 and 2 bytes
    for most, want in ((1, "a"), (2, "ab"), (3, "ab"), (5, "ab"), (6, "ab🐕"), (7, "ab🐕"), (8, caption), (9, caption)):
        assert text_of(caption.encode(), most=most, longer="cut") == want
    with pytest.raises(stoker.Error, match="it has 8 bytes, and there is room for 7"):
        text_of(caption.encode(), most=7)
    recipe = stoker.recipe().decode().resize((16, 16)).view("raw", field="txt").decode_bytes(most=3, longer="cut")
    assert bytes(recipe.apply({"image": image(), "txt": caption.encode()})["raw"]) == caption.encode()[:3]


@pytest.mark.parametrize("content, key, words", [
    (b"\xff\xfe", "", "not a text in UTF-8"), (b"\xc3", "", "not a text in UTF-8"), (b"{", "a", "its JSON is damaged"),
    (b"{}", "a", "has no 'a'"), (b'{"a": 3}', "a", "'a' in its JSON is 3, and not a text"),
    (b'{"a": ["b"]}', "a", "is a list, and not a text"), (b'{"a": "\xff"}', "a", "its JSON is damaged")])
def test_what_is_not_a_text_is_a_bad_sample(content, key, words):
    with pytest.raises(stoker.Error, match=words):
        text_of(content, key=key)


def test_both_executors_take_the_same_bytes():
    recipe = with_text().view("raw", field="txt").decode_bytes()
    for caption in CAPTIONS:
        data = {"image": image(), "txt": caption.encode()}
        fast, plain = (recipe.apply(data, reference=slow) for slow in (False, True))
        for name in ("caption", "raw"):
            assert bytes(fast[name]) == bytes(plain[name]) == caption.encode()


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of 18 samples with captions, one of which is none."""
    at = tmp_path_factory.mktemp("texts") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(18):
            caption = b"\xff" if number == 7 else f"{number}: {CAPTIONS[number % len(CAPTIONS)]}".encode()
            for field, content in (("png", image()), ("txt", caption)):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


@pytest.mark.parametrize("index", [None, 0, 3])
def test_batches_hold_the_texts_of_their_samples(shard, index):
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    with stoker.Loader(stoker.open(shard), with_text(), batch=6, tune="off", bad_sample="skip", **options) as loader:
        found = {}
        for batch in loader:
            assert batch.caption.values.dtype == "uint8" and len(batch.caption) == 6
            texts = batch.caption.as_texts()
            assert [text.encode() for text in texts] == batch.caption.as_bytes()
            assert [bytes(row) for row in batch.caption.as_list()] == batch.caption.as_bytes()
            for key, text, valid in zip(batch.key, texts, batch.valid):
                assert valid or text == ""
                found[key] = text
    assert found["0007"] == "" and len(found) == 18
    assert all(found[f"{number:04}"] == f"{number}: {CAPTIONS[number % len(CAPTIONS)]}" for number in range(18) if number != 7)


def test_a_field_named_label_may_hold_a_text(tmp_path):
    """As in sets for text recognition."""
    with tarfile.open(tmp_path / "words.tar", "w") as tar:
        for number in range(6):
            for field, content in (("png", image()), ("label", f"word {number}".encode())):
                member = tarfile.TarInfo(f"{number}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    data = stoker.open(tmp_path / "words.tar")
    recipe = stoker.recipe().decode().resize((16, 16)).view("text", field="label").decode_text()
    with stoker.Loader(data, recipe, batch=6, order="none") as loader:
        batch = next(iter(loader))
    assert batch.text.as_texts() == [f"word {number}" for number in range(6)]
    assert np.asarray(batch.label).tolist() == [-1] * 6
    alone = recipe.apply({"png": image(), "label": b"word"})
    assert alone["text"].tobytes() == b"word" and alone["label"] == -1


def test_torch_has_texts_too(shard):
    torch = pytest.importorskip("torch")
    import stoker.torch

    with stoker.torch.Loader(stoker.open(shard), with_text(), batch=6) as loader:
        batch = next(iter(loader))
        assert batch.caption.values.dtype == torch.uint8
        assert [text.split(": ")[0] for text in batch.caption.as_texts()] == [str(int(key)) for key in batch.key]


def test_rows_that_are_not_bytes_are_no_texts(shard):
    recipe = stoker.recipe().decode().resize((16, 16)).view("boxes", field="txt").like("image").decode_boxes("yolo")
    at = shard.with_name("boxes.tar")
    with tarfile.open(at, "w") as tar:
        for field, content in (("png", image()), ("txt", b"1 0.5 0.5 0.2 0.2")):
            member = tarfile.TarInfo(f"0.{field}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    with stoker.Loader(stoker.open(at), recipe, batch=1) as loader:
        with pytest.raises(stoker.Error, match="its rows are not bytes, but of dtype 'float32'"):
            next(iter(loader)).boxes.as_texts()


def test_nothing_follows_a_text():
    with pytest.raises(stoker.Error, match="view 'caption': .* cannot follow decode_text: only pad_to can"):
        with_text().cast("f16").apply({"image": image(), "txt": b""})
