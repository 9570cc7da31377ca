"""`stoker pack`, `index`, `verify`, `info`, and what others make of what they write."""

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import tarfile

import numpy
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def loose(tmp_path_factory):
    """A folder of JPEGs and PNGs, grey, turned and coloured, in three classes, with other fields beside them."""
    folder = tmp_path_factory.mktemp("loose")
    random = numpy.random.default_rng(1)
    for number in range(30):
        at = folder / f"class{number % 3}"
        at.mkdir(exist_ok=True)
        height, width = random.integers(40, 120, 2)
        pixels = random.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), dtype=numpy.uint8)
        image = Image.fromarray(pixels).resize((int(width), int(height)), Image.BICUBIC)
        if number % 5 == 0:
            image = image.convert("L")
        exif = Image.Exif()
        if number % 7 == 3:
            exif[0x0112] = 6
        if number % 4 == 0:
            image.save(at / f"{number:03}.png")
        else:
            image.save(at / f"{number:03}.JPG", format="jpeg", quality=85, exif=exif)
        (at / f"{number:03}.json").write_text(json.dumps({"number": number}))
    return folder


@pytest.fixture(scope="module")
def packed(stoker, loose, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed") / "out"
    stoker.text("pack", loose, folder, "--shard-size", "30KB")
    return folder


def samples_of(folder):
    """key -> fields, as tarfile reads them, in order."""
    samples = {}
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(path) as tar:
            for member in tar:
                key, _, field = member.name.partition(".")
                if key.startswith("__"):
                    continue
                samples.setdefault(key, {})[field] = tar.extractfile(member).read()
    return samples


def test_a_pack_is_what_tarfile_and_tar_read(loose, packed, tmp_path):
    samples = samples_of(packed)
    assert list(samples) == sorted(samples) and len(samples) == 30
    for key, fields in samples.items():
        (image,) = (path for path in loose.glob(f"{key}.*") if path.suffix != ".json")
        name = "png" if image.suffix == ".png" else "jpg"
        assert set(fields) == {name, "cls", "json"}
        assert fields[name] == image.read_bytes()
        assert fields["cls"] == key[len("class"):][:1].encode()
        assert fields["json"] == (loose / f"{key}.json").read_bytes()
    for path in packed.glob("*.tar"):
        subprocess.run(["tar", "--extract", "--file", path, "--directory", tmp_path], check=True)
        listed = subprocess.run(["tar", "--list", "--file", path], check=True, capture_output=True, text=True)
        assert listed.stdout.splitlines()[-1] == "__stoker__/index"
    for key, fields in samples.items():
        for name, content in fields.items():
            assert (tmp_path / f"{key}.{name}").read_bytes() == content


def test_a_pack_is_what_webdataset_reads(packed):
    import webdataset  # ./dev test fetches it, and gives its place in PYTHONPATH

    shards = [str(path) for path in sorted(packed.glob("*.tar"))]
    read = list(webdataset.WebDataset(shards, shardshuffle=False, empty_check=False))
    expected = samples_of(packed)
    assert [sample["__key__"] for sample in read] == list(expected)
    for sample in read:
        fields = {name: content for name, content in sample.items() if not name.startswith("__")}
        assert fields == expected[sample["__key__"]]
    # Decoded as its users do.
    for image, label in webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8").to_tuple("jpg;png", "cls"):
        assert image.dtype == numpy.uint8 and image.shape[2] == 3
        assert label in (0, 1, 2)


@pytest.mark.parametrize("how", [[], ["--no-index"], ["--io", "pread"], ["--io", "uring"], ["--direct"],
                                 ["--io", "pread", "--direct"], ["--order", "none"], ["--order", "windowed", "--lanes", "4"]])
@pytest.mark.parametrize("recipe", ["imagenet-train", "imagenet-val"])
def test_a_folder_and_its_pack_have_the_same_audit(stoker, loose, packed, tmp_path, recipe, how):
    order = how if "--order" in how else []
    common = ["--recipe", recipe, "--batch", 8, "--epochs", 2, "--tail", "pad"]
    if "windowed" in how:  # the shards are what is shuffled: a folder is one, so only ways to read a pack compare
        expected = stoker.audit(tmp_path, "run", packed, *common, *order, "--threads", 1)
    else:
        expected = stoker.audit(tmp_path, "run", loose, *common, *order)
    assert stoker.audit(tmp_path, "run", packed, *common, *how) == expected
    assert stoker.audit(tmp_path, "run", f"{packed}/*.tar", *common, *how) == expected


def test_a_pack_of_listed_samples_with_other_labels_has_the_audit_of_a_run_with_these_lists(stoker, loose, tmp_path):
    images = sorted(path for path in loose.rglob("*") if path.suffix in (".png", ".JPG"))
    keys = [str(path.relative_to(loose).with_suffix("")) for path in images]
    (tmp_path / "keys.txt").write_text("".join(f"{key}\n" for key in keys[::2]))
    (tmp_path / "labels.csv").write_text("key,label\n" + "".join(f"{key},{'ab'[len(key) % 2]}{n % 3}\n" for n, key in enumerate(keys)))
    lists = ["--subset", tmp_path / "keys.txt", "--labels", tmp_path / "labels.csv"]
    stoker.text("pack", loose, tmp_path / "out", *lists)
    run = ["--recipe", "imagenet-train", "--batch", 5, "--tail", "pad"]
    expected = stoker.audit(tmp_path, "run", loose, *run, *lists)
    assert stoker.audit(tmp_path, "run", tmp_path / "out", *run) == expected
    assert stoker.audit(tmp_path, "run", loose, *run) != expected
    plan = tmp_path / "job.plan"
    stoker.text("pack", loose, tmp_path / "planned", *lists, "--plan", plan)
    refusal = stoker.refusal(2, "pack", loose, tmp_path / "planned", "--plan", plan, "--task", "0", *lists[:2])
    assert "--subset was decided when the plan was made" in refusal


def test_photographs_in_a_pack_are_decoded_by_their_entry_points_and_loose_ones_are_not(stoker, photographs, tmp_path):
    import stoker as library

    stoker.text("pack", photographs.folder, tmp_path / "out")
    used = []
    for data in (tmp_path / "out", photographs.folder):
        with library.Loader(data, library.recipe("imagenet-train"), batch=4) as loader:
            samples = sum(len(batch) for batch in loader)
            metrics = loader.metrics()
        assert metrics["jpeg_fallbacks"] == 0
        used.append(metrics["entry_points_used"])
    assert used[0] >= samples > 0  # what is made ahead of the next epoch counts too
    assert used[1] == 0


def test_a_flat_folder_with_class_numbers_and_its_pack_have_the_same_audit(stoker, loose, tmp_path):
    flat = tmp_path / "flat"
    flat.mkdir()
    for number, path in enumerate(sorted(loose.rglob("*.png"))):
        shutil.copy(path, flat / path.name)
        (flat / f"{path.stem}.cls").write_text(f"{3 * number}\n")
    stoker.text("pack", flat, tmp_path / "out")
    run = ["--recipe", "imagenet-val", "--batch", 4]
    expected = stoker.audit(tmp_path, "run", flat, *run)
    assert stoker.audit(tmp_path, "run", tmp_path / "out", *run) == expected
    assert stoker.audit(tmp_path, "run", tmp_path / "out", *run, "--no-index") == expected
    assert stoker.json("info", flat)["labelled"] == stoker.json("info", tmp_path / "out")["labelled"] == 8
    for path in flat.glob("*.cls"):
        path.unlink()
    assert stoker.audit(tmp_path, "run", flat, *run) != expected, "the labels are in the audit"


def test_raw_pixels_have_the_audit_of_what_they_were(stoker, loose, tmp_path):
    stoker.text("pack", loose, tmp_path / "raw", "--raw")
    faithful = tmp_path / "faithful.toml"  # raw pixels are RGB: there are no planes any more
    faithful.write_text("""
[[view]]
name = "image"
operators = [{ op = "decode", mode = "faithful" }, { op = "random_resized_crop", size = 64 }, { op = "random_flip" }]
""")
    run = ["--recipe", faithful, "--batch", 10, "--epochs", 2]
    assert stoker.audit(tmp_path, "run", tmp_path / "raw", *run) == stoker.audit(tmp_path, "run", loose, *run)
    (array,) = {numpy.load(io.BytesIO(fields["npy"])).dtype for fields in samples_of(tmp_path / "raw").values()}
    assert array == numpy.uint8


def test_resized_images_are_pillows(stoker, loose, tmp_path):
    stoker.text("pack", loose, tmp_path / "small", "--resize-short", 32, "--raw")
    for key, fields in samples_of(tmp_path / "small").items():
        (path,) = (path for path in loose.glob(f"{key}.*") if path.suffix != ".json")
        image = Image.open(path)
        width, height = image.size
        short = min(width, height)
        size = [32 if side == short else int(numpy.floor(side * 32 / short + 0.5)) for side in (width, height)]
        pixels = numpy.load(io.BytesIO(fields["npy"]))
        if pixels.shape[2] == 1:
            pixels = pixels[:, :, 0]
        # In the order of Pillow 9.4 to 12.1, whichever is installed: docs/pixels.md.
        by_passes = image.resize((size[0], height), Image.BICUBIC).resize(size, Image.BICUBIC)
        assert (pixels == numpy.asarray(by_passes)).all()


def test_pack_says_what_it_did(stoker, loose, tmp_path):
    (loose_with_bad := tmp_path / "in").mkdir()
    (loose_with_bad / "bad.jpg").write_text("no picture")
    (loose_with_bad / "good.png").write_bytes((loose / "class0" / "000.png").read_bytes())
    found = stoker.json("pack", loose_with_bad, tmp_path / "out", "--quarantine", tmp_path / "list")
    assert (found["samples"], found["shards"]) == (1, 1)
    assert found["bytes"] == (tmp_path / "out" / "shard-000000.tar").stat().st_size
    (bad,) = found["bad"]
    assert (bad["shard"], bad["key"], bad["offset"]) == (str(loose_with_bad), "bad", 0)
    assert json.loads((tmp_path / "list").read_text()) == bad
    again = stoker.json("pack", loose_with_bad, tmp_path / "out", "--quarantine", tmp_path / "again")
    assert again["resumed_shards"] == 1
    assert again["bad"] == found["bad"]
    assert (tmp_path / "again").read_bytes() == (tmp_path / "list").read_bytes()
    assert "Bad samples, left out (1)" in stoker.text("pack", loose_with_bad, tmp_path / "other")


@pytest.mark.parametrize("command", ["pack", "index", "verify"])
def test_a_key_that_is_no_text_can_be_found_by_what_is_said_of_it(stoker, tmp_path, command):
    data = tmp_path / "data.tar"
    with tarfile.open(data, "w") as tar:
        tar.addfile(tarfile.TarInfo(os.fsdecode(b"caf\xe9/1.jpg")), io.BytesIO())
    to = [tmp_path / "out"] if command == "pack" else []
    listed = [] if command == "index" else ["--quarantine", tmp_path / "list"]
    done = stoker(command, data, *to, *listed, "--json")
    (bad,) = json.loads(done.stdout)["bad"]
    assert bytes.fromhex(bad["key"]["hex"]) == b"caf\xe9/1"
    assert "\ufffd" not in done.stdout
    if listed:
        assert json.loads((tmp_path / "list").read_text()) == bad


def test_a_dry_run_estimates_and_writes_nothing(stoker, loose, tmp_path):
    found = stoker.json("pack", loose, tmp_path / "out", "--dry-run")
    assert not (tmp_path / "out").exists()
    packed = stoker.json("pack", loose, tmp_path / "out")
    assert found["samples"] == packed["samples"] == 30
    assert found["bytes"] == pytest.approx(packed["bytes"], rel=0.1)
    assert found["disk_free_bytes"] > 0
    assert "about" in stoker.text("pack", loose, tmp_path / "out2", "--dry-run")


def test_info_says_what_there_is(stoker, loose, packed):
    for data, shards, indexed in ((loose, 1, 0), (packed, len(list(packed.glob("*.tar"))), len(list(packed.glob("*.tar"))))):
        info = stoker.json("info", data)
        assert (info["samples"], info["shards"], info["indexed_shards"], info["classes"]) == (30, shards, indexed, 3)
        assert info["codecs"] == {"jpeg": 22, "png": 8}
        assert info["problems"] == []
        assert info["own_decoder_share"] == pytest.approx(22 / 30)
        assert sum(bucket["count"] for bucket in info["short_side"]) == 30
        assert 0.1 < info["bits_per_pixel"] < 24
        text = stoker.text("info", data)
        assert "30 samples of 3 classes" in text and "22 jpeg images" in text
        assert info["left_to_libjpeg"] == [] and "libjpeg" not in text


def test_info_goes_on_after_a_broken_shard_and_says_so(stoker, packed, tmp_path):
    hurt = shutil.copytree(packed, tmp_path / "hurt")
    shard = sorted(hurt.glob("*.tar"))[1]
    shard.write_bytes(bytes(shard.stat().st_size))
    done = stoker("info", hurt, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    info = json.loads(done.stdout)
    assert 0 < info["samples"] < 30 and info["shards"] == len(list(hurt.glob("*.tar")))
    assert any(str(shard) in problem for problem in info["problems"])
    assert stoker("info", hurt).returncode == stoker("verify", hurt).returncode == 1


def test_verify_finds_a_flipped_bit_and_says_where(stoker, packed, tmp_path):
    shard = sorted(packed.glob("*.tar"))[0]
    assert stoker.json("verify", packed)["bad"] == []
    with tarfile.open(shard) as tar:
        member = tar.getmembers()[3]
    content = bytearray(shard.read_bytes())
    content[member.offset_data + 50] ^= 4
    hurt = tmp_path / shard.name
    hurt.write_bytes(content)
    done = stoker("verify", hurt, "--json")
    assert done.returncode == 1
    (bad,) = json.loads(done.stdout)["bad"]
    assert bad["key"] == member.name.partition(".")[0] and bad["shard"] == str(hurt)
    assert "checksum" in bad["reason"]
    done = stoker("verify", hurt)
    assert done.returncode == 1 and "Bad (1):" in done.stdout
    # A run meets it, too: as a bad sample, or as damage of the index.
    done = stoker("run", hurt, "--recipe", "imagenet-val", "--batch", 4, "--bad-sample", "fail")
    assert done.returncode == 1 and "checksum" in done.stderr and bad["key"] in done.stderr


def test_index_makes_random_access_for_shards_of_others(stoker, packed, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for path in sorted(packed.glob("*.tar")):
        with tarfile.open(path) as old, tarfile.open(foreign / path.name, "w") as new:
            for member in old:
                if not member.name.startswith("__"):
                    new.addfile(member, old.extractfile(member))
    before = {path.name: path.read_bytes() for path in foreign.iterdir()}
    found = stoker.json("index", foreign)
    assert (found["shards"], found["samples"], found["bad"]) == (len(before), 30, [])
    assert {path.name for path in foreign.iterdir()} == {*before, *(f"{name}.sidx" for name in before)}
    assert all((foreign / name).read_bytes() == content for name, content in before.items())
    assert stoker.json("index", foreign)["current_shards"] == len(before)
    apart = tmp_path / "apart"
    assert stoker.json("index", foreign, "--index-dir", apart)["shards"] == len(before)
    for name in before:
        assert (apart / f"{name}.sidx").read_bytes() == (foreign / f"{name}.sidx").read_bytes()
    run = ["--recipe", "imagenet-val", "--batch", 5]
    expected = stoker.audit(tmp_path, "run", packed, *run)
    assert stoker.audit(tmp_path, "run", foreign, *run) == expected
    assert stoker.audit(tmp_path, "run", foreign, *run, "--index-dir", apart) == expected
    assert stoker.json("verify", foreign)["indexed_shards"] == len(before)


def test_index_goes_on_after_a_broken_shard_and_says_so(stoker, packed, tmp_path):
    shards = [shutil.copy(path, tmp_path) for path in sorted(packed.glob("*.tar"))[:3]]
    (tmp_path / "a-broken.tar").write_bytes(b"x" * 3000)
    done = stoker("index", tmp_path, "--index-dir", tmp_path / "indexes", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert found["shards"] == len(shards) == len(list((tmp_path / "indexes").iterdir()))
    (broken,) = found["broken"]
    assert broken["shard"] == str(tmp_path / "a-broken.tar") and broken["shard"] in broken["reason"]
    done = stoker("index", tmp_path / "a-broken.tar")
    assert done.returncode == 1 and "Broken shards, not indexed (1):" in done.stdout and "a-broken.tar" in done.stdout


def test_index_goes_on_after_a_shard_that_it_may_not_open(ordinary_stoker, packed, tmp_path):
    shards = [tmp_path / f"s{number}.tar" for number in range(4)]
    for shard in shards:
        shutil.copy(next(packed.glob("*.tar")), shard)
    shards[1].chmod(0)
    done = ordinary_stoker("index", *shards, "--index-dir", tmp_path / "indexes", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    (broken,) = json.loads(done.stdout)["broken"]
    assert broken["shard"] == str(shards[1]) and "Permission denied" in broken["reason"]
    assert sorted(path.name for path in (tmp_path / "indexes").iterdir()) == [f"s{number}.tar.sidx" for number in (0, 2, 3)]


def test_of_empty_data_an_index_can_be_made_and_nothing_else(stoker, tmp_path):
    (tmp_path / "empty").mkdir()
    empty_tar = tmp_path / "empty.tar"
    with tarfile.open(empty_tar, "w"):
        pass
    for data in (tmp_path / "empty", empty_tar):
        assert "no samples" in stoker.text("info", data).lower()
        assert stoker.json("info", data)["samples"] == 0
        assert f"no samples to verify in {data}" in stoker.refusal(1, "verify", data)
        stoker.refusal(1, "verify", data, "--json")
        assert f"no samples to pack in {data}, so no shard was written" in stoker.refusal(1, "pack", data, tmp_path / "packed")
        stoker.refusal(1, "run", data, "--recipe", "imagenet-val")
    assert "0 samples in 1 shard " in stoker.text("index", empty_tar)
    assert f"'{tmp_path}/empty' is empty" in stoker.refusal(2, "index", tmp_path / "empty")


def test_a_pack_that_failed_before_its_first_shard_is_begun_anew(stoker, loose, tmp_path):
    data = shutil.copytree(loose, tmp_path / "in")
    bad = data / "class0" / "000-bad.jpg"
    bad.write_text("no picture")
    pack = ("pack", data, tmp_path / "out", "--bad-sample", "fail")
    assert "looks like text" in stoker.refusal(1, *pack)
    bad.unlink()
    assert stoker.json(*pack)["samples"] == 30


def test_packing_nothing_but_bad_samples_fails_and_lists_them(stoker, tmp_path):
    data, out, plan = tmp_path / "data", tmp_path / "packed", tmp_path / "plan"
    data.mkdir()
    for number in range(3):
        (data / f"{number}.jpg").write_text("no picture")
    listed = tmp_path / "bad.jsonl"
    done = stoker("pack", data, out, "--quarantine", listed)
    assert done.returncode == 1 and "all 3 samples are bad, so no shard was written" in done.stderr
    assert "Bad samples, left out (3)" in done.stdout and len(listed.read_text().splitlines()) == 3
    assert list(out.iterdir()) == []
    assert "no samples" in stoker.refusal(1, "verify", out)
    done = stoker("pack", data, out, "--json")
    assert done.returncode == 1 and len(json.loads(done.stdout)["bad"]) == 3
    stoker.text("pack", data, out, "--plan", plan)
    stoker.text("pack", data, out, "--plan", plan, "--task", "0")
    for _ in range(2):
        done = stoker("pack", data, out, "--plan", plan, "--merge")
        assert done.returncode == 1 and "all 3 samples are bad, so no shard was written" in done.stderr
    assert stoker.json("pack", data, out, "--bad-sample", "keep")["samples"] == 3


def test_bad_usage_is_status_2(stoker, loose, tmp_path):
    stoker.refusal(2, "index", loose)
    stoker.refusal(2, "pack", loose, tmp_path / "out", "--quality", 101)
    stoker.refusal(2, "pack", loose, tmp_path / "out", "--quality", 50, "--raw")
    stoker.refusal(2, "pack", loose, tmp_path / "out", "--shard-size", "many")
    stoker.refusal(2, "pack", loose, tmp_path / "out", "--classes", "nobody")
    for classes in (",", "class0,", ",class0", "class0,,class1", ""):
        assert "--classes" in stoker.refusal(2, "pack", loose, tmp_path / "out", "--classes", classes)
    stoker.refusal(2, "pack", loose, tmp_path / "out", "--bad-sample", "ignore")
    assert "outside" in stoker.refusal(2, "pack", loose, loose / "out")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    assert "not empty" in stoker.refusal(2, "pack", loose, tmp_path / "taken")
    assert "nothing" in stoker.refusal(1, "verify", tmp_path / "nothing")


def test_what_cannot_be_written_is_known_before_the_work(stoker, tmp_path):
    """Data that would be refused too, were it looked at first."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.jpg").write_text("no picture")
    with tarfile.open(tmp_path / "bad.tar", "w"):
        pass
    (tmp_path / "bad.tar").write_bytes((tmp_path / "bad.tar").read_bytes()[:100])
    (tmp_path / "file").touch()
    nowhere = tmp_path / "file" / "below"
    pack = ["pack", tmp_path / "in", tmp_path / "out", "--bad-sample", "fail"]
    assert "looks like text" in stoker.refusal(1, *pack)
    shutil.rmtree(tmp_path / "out")
    assert str(nowhere) in stoker.refusal(1, *pack, "--quarantine", nowhere)
    assert not (tmp_path / "out").exists()
    assert str(nowhere) in stoker.refusal(1, "pack", tmp_path / "in", nowhere, "--bad-sample", "fail")
    assert str(nowhere) in stoker.refusal(1, "verify", tmp_path / "bad.tar", "--quarantine", nowhere)
    assert str(tmp_path / "file") in stoker.refusal(2, "pack", tmp_path / "in", tmp_path / "file", "--bad-sample", "fail")


def test_a_list_of_bad_samples_replaces_nothing_else(stoker, packed, tmp_path):
    shard = tmp_path / "victim.tar"
    shutil.copy(next(packed.glob("*.tar")), shard)
    before = shard.read_bytes()
    assert str(shard) in stoker.refusal(2, "verify", shard, "--quarantine", shard)
    assert str(shard) in stoker.refusal(2, "pack", shard, tmp_path / "out", "--quarantine", shard)
    assert shard.read_bytes() == before
    inside = tmp_path / "out" / "list"
    assert str(inside) in stoker.refusal(2, "pack", packed, tmp_path / "out", "--quarantine", inside)
    assert [path.name for path in tmp_path.iterdir()] == ["victim.tar"]


def test_a_list_of_bad_samples_can_go_where_the_rest_goes(stoker, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.jpg").write_text("no picture")
    output = tmp_path / "output"
    with open(output, "w") as file:
        assert stoker("verify", tmp_path / "in", "--json", "--quarantine", output, stdout=file).returncode == 1
    listed, _, rest = output.read_text().partition("\n")
    assert json.loads(rest)["bad"] == [json.loads(listed)]


@pytest.mark.parametrize("command", ["pack", "index", "verify", "synth"])
def test_a_file_that_may_not_grow_is_named_and_not_left_half_written(stoker, packed, tmp_path, command):
    data = tmp_path / "data.tar"
    with tarfile.open(data, "w") as tar:
        for number in range(400):
            tar.addfile(tarfile.TarInfo(f"{number:0200}.jpg"), io.BytesIO())
    files = {"pack": (("pack", packed, tmp_path / "out"), tmp_path / "out/shard-000000.tar"),
             "index": (("index", data), tmp_path / "data.tar.sidx"),
             "verify": (("verify", data, "--quarantine", tmp_path / "bad"), tmp_path / "bad"),
             "synth": (("synth", tmp_path / "out.tar", "--kind", "tiny", "--count", 40, "--format", "tar"),
                       tmp_path / "out.tar")}
    args, file = files[command]
    sentence = stoker.refusal(1, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    assert str(file) in sentence and "File too large" in sentence
    assert not file.exists() and not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_pack_goes_on(stoker, tmp_path, number):
    stoker.text("synth", tmp_path / "in", "--count", 120, "--classes", 3)
    expected = tmp_path / "expected"
    stoker.text("pack", tmp_path / "in", expected, "--shard-size", "500KB")
    process = stoker.start("pack", tmp_path / "in", tmp_path / "out", "--shard-size", "500KB", "--threads", 1,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list((tmp_path / "out").glob("*.tar")) if (tmp_path / "out").exists() else True:
        assert process.poll() is None
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    if process.returncode != 0:  # it may just have ended
        assert process.returncode == 130 and "same command resumes" in errors
    stoker.text("pack", tmp_path / "in", tmp_path / "out", "--shard-size", "500KB")
    subprocess.run(["diff", "--recursive", expected, tmp_path / "out"], check=True)


def test_an_index_may_have_no_entry_points(stoker, tmp_path):
    stoker.text("synth", tmp_path / "photos.tar", "--kind", "imagenet", "--count", 12, "--classes", 2, "--format", "tar")
    for name, options in (("with", ()), ("without", ("--no-entry-points",)), ("planned", ("--no-entry-points",))):
        index = ("index", tmp_path / "photos.tar", "--index-dir", tmp_path / name)
        if name == "planned":
            stoker.text(*index, *options, "--plan", tmp_path / "plan")
            stoker.text(*index, "--plan", tmp_path / "plan", "--task", 0)
            stoker.text(*index, "--plan", tmp_path / "plan", "--merge")
        else:
            stoker.text(*index, *options)
    indexed, bare, planned = ((tmp_path / name / "photos.tar.sidx").read_bytes() for name in ("with", "without", "planned"))
    assert len(bare) < len(indexed) / 2 and planned == bare
    run = ("run", tmp_path / "photos.tar", "--recipe", "imagenet-train", "--batch", 4, "--index-dir")
    assert stoker.audit(tmp_path, *run, tmp_path / "without") == stoker.audit(tmp_path, *run, tmp_path / "with")
