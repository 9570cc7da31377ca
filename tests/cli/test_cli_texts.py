"""Sets of texts and numbers, without any image: no job finds fault with that, and a sample without image among images stays bad."""

import io
import tarfile

import pytest


def tar(path, members):
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def texts(tmp_path):
    return tar(tmp_path / "texts.tar", {f"{number:03}.{kind}": f"{kind} {number}".encode() for number in range(20)
                                        for kind in ("txt", "vtt")})


def test_no_job_misses_images_where_there_are_none(stoker, texts, tmp_path):
    assert stoker.json("info", texts)["problems"] == []
    assert stoker.json("verify", texts)["bad"] == []
    assert stoker.json("index", texts)["bad"] == []
    assert stoker.json("info", texts)["problems"] == []
    packed = stoker.json("pack", texts, tmp_path / "packed")
    assert packed["samples"] == 20
    (tmp_path / "recipe.toml").write_text('[[view]]\nname = "caption"\nfield = "txt"\n'
                                          'operators = [{ op = "decode_text", most = 1000 }]\n')
    for data in (texts, tmp_path / "packed"):
        found = stoker.json("run", data, "--recipe", tmp_path / "recipe.toml", "--batch", 5, "--bad-sample", "fail")
        assert found["samples"] == 20, data


def test_a_sample_without_an_image_among_images_is_bad(stoker, photographs, tmp_path):
    picture = next(photographs.folder.rglob("*.jpg")).read_bytes()
    texts = {f"{number:03}.txt": b"no picture" for number in range(100)}
    mixed = tar(tmp_path / "mixed.tar", texts | {"a.jpg": picture, "c.jpg": picture})
    bad = stoker.json("index", mixed)["bad"]
    assert [one["key"] for one in bad] == [name.removesuffix(".txt") for name in texts]
    assert all("no image" in one["reason"] for one in bad)
    assert stoker.json("pack", mixed, tmp_path / "packed")["samples"] == 2
