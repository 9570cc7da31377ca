"""LMDB databases, written here page by page or, with --full, by the package lmdb."""

import json
import struct
import subprocess

import numpy
from PIL import Image

from foreign_formats import audit, full, message, python_with, varint


LMDB_WRITER = """
import json, lmdb, pickle, struct, sys
def varint(number):
    data = b""
    while number > 0x7F:
        data, number = data + bytes([number & 0x7F | 0x80]), number >> 7
    return data + bytes([number])
def fill(kind, entries, **options):
    # Small transactions, so that pages are written anew and old ones used again.
    with lmdb.open(sys.argv[1] + "/" + kind, map_size=1 << 28, **options) as env:
        for key, value in entries:
            with env.begin(write=True) as transaction:
                transaction.put(key, value)
samples = json.load(sys.stdin)
images = [open(one["path"], "rb").read() for one in samples]
fill("caffe", ((b"%08d_%s" % (i, one["name"].encode()),
               b"\\x22" + varint(len(image)) + image + b"\\x28" + varint(one["label"]) + b"\\x38\\x01")
              for i, (one, image) in reversed(list(enumerate(zip(samples, images))))))
fill("text", [(b"image-%09d" % i, image) for i, image in enumerate(images, 1)] +
             [(b"label-%09d" % i, one["name"].encode()) for i, one in enumerate(samples, 1)] +
             [(b"num-samples", b"%d" % len(images))])
fill("named", [(one["name"].encode(), image) for one, image in zip(samples, images)])
fill("pickled", [(b"0", images[0]), (b"__len__", pickle.dumps(1)), (b"__keys__", pickle.dumps([b"0"]))])
fill("numbers.lmdb", ((struct.pack(">I", i), image) for i, image in enumerate(images)), subdir=False)
"""


@full
def test_databases_that_the_package_lmdb_wrote_are_read(stoker, samples, tmp_path):
    python = python_with(tmp_path, "lmdb==3.0.0")
    listing = [{"path": str(samples[0] / one["name"]), "name": one["name"], "label": one["label"]} for one in samples[1]]
    subprocess.run([python, "-c", LMDB_WRITER, tmp_path], input=json.dumps(listing), text=True, check=True)
    loose = audit(stoker, tmp_path, samples[0])
    expected = [line["hash"] for line in loose]
    labels = tmp_path / "labels.csv"
    labels.write_text("".join(f"text/{i + 1:09},{one['label']}\nnumbers/{i:08},{one['label']}\n"
                              for i, one in enumerate(listing)))
    for data, *options in (("caffe",), ("caffe/data.mdb",), ("text", "--labels", labels),
                           ("numbers.lmdb", "--labels", labels)):
        assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / data, *options)] == expected, data
    assert audit(stoker, tmp_path, tmp_path / "named", "--labels", "folders") == loose
    assert stoker.json("info", tmp_path / "caffe")["labelled"] == 12
    assert "label" in stoker.json("info", tmp_path / "text")["fields"]
    assert "skips 2 keys with a value that Python pickled" in stoker("info", tmp_path / "pickled").stdout
    stoker.text("pack", tmp_path / "caffe", tmp_path / "packed")
    assert [line["hash"] for line in audit(stoker, tmp_path, tmp_path / "packed")] == expected


def lmdb_file(entries):
    """A tree of a root and its leaves, each value on pages of its own, with pages of 4 KiB."""
    pages = [b"", b""]

    def header(kind, lower, upper):
        return struct.pack("<QHHHH", len(pages), 0, kind, lower, upper)

    def add_nodes(kind, nodes):
        nodes = [node + bytes(len(node) % 2) for node in nodes]
        ends = [4096 - sum(map(len, nodes[:i + 1])) for i in range(len(nodes))]
        page = header(kind, 16 + 2 * len(nodes), ends[-1]) + struct.pack(f"<{len(nodes)}H", *ends)
        pages.append(page + bytes(ends[-1] - len(page)) + b"".join(reversed(nodes)))
        return len(pages) - 1

    leaves = []
    for key, value in entries:
        count = -(-(len(value) + 16) // 4096)
        run = len(pages)
        data = header(4, count, 0) + value
        data += bytes(count * 4096 - len(data))
        pages.extend(data[i:i + 4096] for i in range(0, len(data), 4096))
        leaves.append((key, add_nodes(2, [struct.pack("<IHH", len(value), 1, len(key)) + key + struct.pack("<Q", run)])))
    root = add_nodes(1, [struct.pack("<IHH", page, 0, len(key) if i else 0) + (key if i else b"")
                         for i, (key, page) in enumerate(leaves)])
    for number, depth, count, at in ((0, 0, 0, 2**64 - 1), (1, 2, len(leaves), root)):
        meta = struct.pack("<QHHI", number, 0, 8, 0) + struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 30)
        meta += struct.pack("<IHHQQQQQ", 4096, 0, 0, 0, 0, 0, 0, 2**64 - 1)
        meta += struct.pack("<IHHQQQQQ", 0, 0, depth, 1, len(leaves), 0, count, at)
        meta += struct.pack("<QQ", root if depth else 1, number)
        pages[number] = meta + bytes(4096 - len(meta))
    return b"".join(pages)


def raw_datum(pixels, label):
    height, width, _ = pixels.shape
    data = pixels[:, :, ::-1].transpose(2, 0, 1).tobytes()
    return b"".join(bytes([field << 3]) + varint(value) for field, value in ((1, 3), (2, height), (3, width))) + \
        message(4, data) + b"\x28" + varint(label)


def test_pixels_of_caffe_give_those_of_pngs(stoker, tmp_path):
    random = numpy.random.default_rng(2)
    entries = []
    for number in range(12):
        pixels = random.integers(0, 256, (40 + number, 50, 3), dtype=numpy.uint8)
        name = tmp_path / "loose" / f"class{number // 4}" / f"{number:03}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(name)
        entries.append((b"%08d" % number, raw_datum(pixels, number // 4)))
    (tmp_path / "pixels").mkdir()
    (tmp_path / "pixels" / "data.mdb").write_bytes(lmdb_file(entries))
    (tmp_path / "pixels" / "lock.mdb").write_bytes(bytes(8192))
    expected = audit(stoker, tmp_path, tmp_path / "loose")
    delivered = audit(stoker, tmp_path, tmp_path / "pixels")
    assert [line["hash"] for line in delivered] == [line["hash"] for line in expected]
    info = stoker.json("info", tmp_path / "pixels")
    assert info["format"] == "lmdb" and info["labelled"] == 12 and info["fields"] == ["datum"]
    assert info["codecs"] == {"datum": 12} and info["problems"] == []
    stoker.text("index", tmp_path / "pixels", "--index-dir", tmp_path / "indexes")
    assert audit(stoker, tmp_path, tmp_path / "pixels", "--index-dir", tmp_path / "indexes") == delivered
    for options in ((), ("--raw",)):
        packed = tmp_path / ("packed" + "".join(options))
        stoker.text("pack", tmp_path / "pixels", packed, *options)
        assert audit(stoker, tmp_path, packed) == delivered
    assert stoker.json("verify", tmp_path / "pixels")["bad"] == []
    data = lmdb_file(entries)
    (tmp_path / "cut.mdb").write_bytes(data[:len(data) // 2])
    said = stoker.refusal(1, "run", tmp_path / "cut.mdb", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.mdb" in said and "truncated" in said
