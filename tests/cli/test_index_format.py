"""An index, read by docs/format-index.md alone: what the document says is what the files hold."""

import json
import struct
import tarfile

import pytest
import xxhash

PRIME, BASE = 2**61 - 1, 1885667171979194497


def shifted(crc):
    """One byte further, as the polynomial says."""
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


SHIFTED = [shifted(byte) for byte in range(256)]


def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ SHIFTED[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


class Columns:
    """Takes columns off the front of a block."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def __call__(self, count, kind):
        values = struct.unpack_from(f"<{count}{kind}", self.content, self.at)
        self.at += struct.calcsize(f"<{count}{kind}")
        return values


def read_index(index, shard):
    """The rows of an index, as dicts."""
    trailer = index[-128:]
    magic, version, rows_per_block = struct.unpack_from("<8sII", trailer)
    (index_bytes, directory_at, directory_bytes, directory_hash, data_bytes, tag, data_hash, samples, fingerprint,
     sample_bytes) = struct.unpack_from("<10Q", trailer, 16)
    flags, trailer_hash = struct.unpack_from("<I", trailer, 96)[0], struct.unpack_from("<Q", trailer, 120)[0]
    assert (magic, version, rows_per_block, index_bytes) == (b"StokerIx", 2, 256, len(index))
    assert trailer_hash == xxhash.xxh3_64_intdigest(trailer[:120]) and trailer[100:120] == bytes(20)
    assert index[:8] == magic and len(index) % 512 == 0
    directory = index[directory_at:directory_at + directory_bytes]
    assert directory_hash == xxhash.xxh3_64_intdigest(directory)
    padding = index[directory_at + directory_bytes:-128]
    assert padding == bytes(len(padding)) and len(padding) < 512
    data = shard[:data_bytes]
    stretch = data_bytes // 64
    places = [(stretch * place + stretch * (place * 40503 % 65536) // 65536) // 512 * 512 for place in range(64)]
    pieces = [data[:4096], data[-4096:], *(data[at:at + 512] for at in places)]
    inside = data_bytes < len(shard)
    assert tag == (0 if inside else xxhash.xxh3_64_intdigest(struct.pack("<Q", data_bytes) + b"".join(pieces)))
    if flags & 1:
        assert data_hash == xxhash.xxh3_64_intdigest(data)

    take, sections, end = Columns(directory), {}, 8
    for _ in range(*take(1, "I")):
        kind, version, blocks = *take(2, "I"), *take(1, "Q")
        assert version == 1
        for _ in range(blocks):
            offset, length, block_hash = take(3, "Q")
            assert offset == end
            end += length
            block = index[offset:end]
            assert block_hash == xxhash.xxh3_64_intdigest(block)
            sections.setdefault(kind, []).append(block)
    assert end == directory_at and take.at == len(directory)

    names, block = [], b"".join(sections.get(1, []))
    while block:
        (length,) = struct.unpack_from("<I", block)
        names.append(block[4:4 + length].decode())
        block = block[4 + length:]
    rows = []
    for block, entry_points in zip(sections.get(2, []), sections.get(3, []), strict=True):
        take = Columns(block)
        n, f, c, t = take(4, "I")
        labels, key_ends, field_ends, widths, heights = take(n, "q"), take(n, "I"), take(n, "I"), take(n, "I"), take(n, "I")
        entry_ends = take(n, "I")
        assert entry_ends[-1] == len(entry_points)
        codecs, components, bits, orientations, chroma, codings, colors, soundness = (take(n, "B") for _ in range(8))
        offsets, lengths, crcs, chunk_ends, numbers = take(f, "Q"), take(f, "Q"), take(f, "I"), take(f, "I"), take(f, "H")
        chunk_crcs = take(c, "I")
        keys = block[take.at:]
        assert len(keys) == t
        for i in range(n):
            fields = {}
            for j in range(field_ends[i - 1] if i else 0, field_ends[i]):
                fields[names[numbers[j]]] = (offsets[j], lengths[j], crcs[j],
                                             chunk_crcs[chunk_ends[j - 1] if j else 0:chunk_ends[j]])
            rows.append({"key": keys[key_ends[i - 1] if i else 0:key_ends[i]].decode(), "label": labels[i],
                         "size": (widths[i], heights[i]), "fields": fields,
                         "entry_points": entry_points[entry_ends[i - 1] if i else 0:entry_ends[i]], "soundness": soundness[i],
                         "facts": (codecs[i], components[i], bits[i], orientations[i], chroma[i], codings[i], colors[i])})
    assert len(rows) == samples
    value = 0
    for row in rows:
        image = next((length for name, (_, length, _, _) in row["fields"].items() if name in ("jpg", "png", "npy")), 0)
        fact = struct.pack("<QqQ", xxhash.xxh3_64_intdigest(row["key"].encode()), row["label"], image)
        value = (value * BASE + xxhash.xxh3_64_intdigest(fact)) % PRIME
    assert value == fingerprint
    assert sample_bytes == sum(length for row in rows for _, length, _, _ in row["fields"].values())
    return rows, flags


def read_entry_points(packed, file_bytes):
    """[(bit, (DC, DC, DC)), ...]"""
    assert struct.unpack_from("<I", packed)[0] == xxhash.xxh3_64_intdigest(packed[4:]) & 0xFFFFFFFF
    length, count, least, *rest = struct.unpack_from("<IIIhhhBBBB", packed, 4)
    columns = list(zip([least, *rest[:3]], rest[3:], strict=True))
    assert length == file_bytes
    assert len(packed) == 26 + (count * sum(rest[3:]) + 7) // 8 + 8
    bits, at, points = int.from_bytes(packed[26:], "little"), 0, []
    for _ in range(count):
        values = []
        for smallest, width in columns:
            values.append(smallest + (bits >> at & (1 << width) - 1))
            at += width
        points.append((points[-1][0] + values[0] if points else values[0] - least, tuple(values[1:])))
    assert bits >> at == 0
    return points


def check_entry_points(row, encoded):
    """One for each eight MCUs of a row of them; where the scan begins nothing came before; all lie in the scan."""
    if row["facts"][0] != 1:
        return row["entry_points"] == b""
    points = read_entry_points(row["entry_points"], len(encoded))
    across, down = row["facts"][4] >> 4, row["facts"][4] & 15
    mcus = -(-row["size"][0] // (8 * across)), -(-row["size"][1] // (8 * down))
    assert len(points) == -(-mcus[0] // 8) * mcus[1]
    assert points[0] == (0, (0, 0, 0))
    scan = encoded.rindex(b"\xff\xda")
    scan += 2 + int.from_bytes(encoded[scan + 2:scan + 4], "big")
    bits = [bit for bit, _ in points]
    assert bits == sorted(set(bits)) and bits[-1] < 8 * (len(encoded) - 2 - scan)
    return True


def check_rows(rows, path):
    """The rows against the members of the shard as tarfile reads them."""
    with tarfile.open(path) as tar:
        members = [member for member in tar if not member.name.startswith("__")]
        content = {member.name: tar.extractfile(member).read() for member in members}
    places = {f"{row['key']}.{name}": field for row in rows for name, field in row["fields"].items()}
    assert set(places) == set(content)
    for row in rows:
        if "jpg" in row["fields"]:
            assert check_entry_points(row, content[f"{row['key']}.jpg"])
    for member in members:
        offset, length, crc, chunks = places[member.name]
        assert (offset, length) == (member.offset_data, member.size)
        whole = content[member.name]
        assert crc == crc32c(whole)
        if member.name.endswith(".npy") and length > 65536:
            assert list(chunks) == [crc32c(whole[at:at + 65536]) for at in range(0, length, 65536)]
        else:
            assert chunks == ()


@pytest.mark.parametrize("options", [[], ["--raw"]])
def test_the_index_inside_a_pack_is_as_documented(stoker, photographs, tmp_path, options):
    stoker.text("pack", photographs.folder, tmp_path / "out", *options)
    path = tmp_path / "out" / "shard-000000.tar"
    shard = path.read_bytes()
    assert shard[-1024:] == bytes(1024)
    with tarfile.open(path) as tar:
        member = tar.getmembers()[-1]
    assert member.name == "__stoker__/index" and member.offset_data + member.size + 1024 == len(shard)
    rows, flags = read_index(shard[member.offset_data:-1024], shard)
    assert flags == 7
    check_rows(rows, path)
    for row in rows:
        assert row["soundness"] == 1
        assert row["facts"][0] == (4 if options else 1)
        if not options:
            assert row["facts"] == (1, 3, 8, 1, 0x22, 1, 2) or row["facts"][4] in (0x11, 0x21)


def test_an_index_of_its_own_is_as_documented(stoker, tiny, tmp_path):
    stoker.text("index", tiny.tar, "--index-dir", tmp_path)
    rows, flags = read_index((tmp_path / "data.tar.sidx").read_bytes(), tiny.tar.read_bytes())
    assert flags == 6
    check_rows(rows, tiny.tar)
    assert all(row["size"] == (32, 32) and row["facts"][0] == 2 for row in rows)


def test_the_manifest_is_as_documented(stoker, tiny, tmp_path):
    stoker.text("pack", tiny.folder, tmp_path / "out", "--shard-size", "20KB")
    text = (tmp_path / "out" / "manifest.json").read_text()
    manifest = json.loads(text)
    zeroed = text.replace(manifest["checksum"], "0" * 16, 1).rstrip("\n")
    assert manifest["checksum"] == f"{xxhash.xxh3_64_intdigest(zeroed.encode()):016x}"
    assert manifest["samples"] == sum(shard["samples"] for shard in manifest["shards"]) == tiny.count
    for shard in manifest["shards"]:
        content = (tmp_path / "out" / shard["name"]).read_bytes()
        assert (shard["bytes"], shard["hash"]) == (len(content), f"{xxhash.xxh3_64_intdigest(content):016x}")


def test_python_notices_a_flip_in_what_it_is_given(stoker, photographs, tmp_path):
    from stoker import Error, open as open_data

    stoker.text("pack", photographs.folder, tmp_path / "out")
    path = tmp_path / "out" / "shard-000000.tar"
    data = open_data(path)
    whole, second = data[0], data[1]
    name = next(name for name in whole if name not in ("cls", "label", "key"))
    shard = bytearray(path.read_bytes())
    shard[shard.index(whole[name]) + 100] ^= 1
    path.write_bytes(shard)
    with pytest.raises(Error, match=f"{whole['key']}.*checksum") as caught:
        open_data(path)[0]
    assert caught.value.kind == "bad_sample"
    assert open_data(path)[1] == second
