"""What the tests of `stoker pack` and `stoker index` run: small data, and a job of each on it."""

import io
import json
import shutil
import tarfile
from pathlib import Path

from file_faults import files_below

JOURNAL = ".stoker-pack"


def cache_of(out):
    """The cache of all runs that write there: what one of them left in it is what the next one finds."""
    return out.with_name(f"{out.name}.cache")


def make_tars(folder, loose, each):
    """The samples of a folder as tars without indexes."""
    folder.mkdir()
    images = sorted(loose.rglob("*.png"))
    for begin in range(0, len(images), each):
        with tarfile.open(folder / f"in-{begin // each}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for image in images[begin:begin + each]:
                for name, content in ((f"{image.stem}.png", image.read_bytes()), (f"{image.stem}.cls", b"1")):
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
    return folder


class Pack:
    """Packs tars into a few shards, shuffled."""

    name = "pack"
    source = "tars"
    format, shard_size = "tar", "48KB"
    commits = ("rename:*.tar", f"fsync:*/{JOURNAL}", "rename:*/manifest.json", f"unlink:*/{JOURNAL}")

    def __init__(self, stoker, data):
        self.stoker, self.data = stoker, data

    def prepare(self, out):
        """Nothing: the command makes the folder."""

    def run(self, out, threads=1, **options):
        return self.stoker.run("pack", self.data, out, "--shuffle", 3, "--shard-size", self.shard_size, "--threads", threads,
                               "--format", self.format, "--json", cache=cache_of(out), **options)

    def committed(self, out):
        """The shards that the journal has, and what belongs to them."""
        journal = out / JOURNAL
        if not journal.exists():
            return []
        whole = [line for line in journal.read_bytes().split(b"\n")[:-1] if line]
        shards = [json.loads(line.split(b"\t")[0]) for line in whole[1:]]
        return [out / name for shard in shards for name in (shard["name"], *shard["beside"])]


class PackFolder(Pack):
    """Packs loose files in the same way."""

    name = "pack-folder"
    source = "loose"


class PackRecordIo(Pack):
    """Packs into a format whose shards have their indexes, and another file, beside them."""

    name = "pack-recordio"
    format, shard_size = "recordio", "32KB"
    commits = ("rename:*.rec", "rename:*.idx", "rename:*.rec.sidx", *Pack.commits[1:])


class PackMds(Pack):
    """Packs into a format that needs a list of all shards beside them."""

    name = "pack-mds"
    format, shard_size = "mds", "32KB"
    commits = ("rename:*.mds", "rename:*.mds.sidx", "rename:*/index.json", *Pack.commits[1:])


class PackParquet(Pack):
    """Packs into a format whose shards end with what says where everything in them lies."""

    name = "pack-parquet"
    format, shard_size = "parquet", "32KB"
    commits = ("rename:*.parquet", "rename:*.parquet.sidx", *Pack.commits[1:])


class Index:
    """Indexes six tars, beside them."""

    name = "index"
    source = "tars"
    commits = ("rename:*.sidx",)

    def __init__(self, stoker, tars):
        self.stoker, self.tars = stoker, tars

    def prepare(self, out):
        shutil.copytree(self.tars, out)

    def run(self, out, threads=1, **options):
        return self.stoker.run("index", out, "--threads", threads, "--json", cache=cache_of(out), **options)

    def committed(self, out):
        return sorted(out.glob("*.sidx"))


JOBS = {job.name: job for job in (Pack, PackFolder, PackRecordIo, PackMds, PackParquet, Index)}


def undisturbed(job, out, **options):
    """How the job works, and the files it leaves."""
    job.prepare(out)
    run = job.run(out, **options)
    assert (run.status, run.err) == (0, ""), run
    return run, files_below(out)


def half_written(folder):
    return [path for path in Path(folder).rglob("*.partial")]
