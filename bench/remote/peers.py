#!/usr/bin/env python3
"""Other readers of object stores, each as a process of its own that prints what it read, and what that took.

Usage: peers.py READER, with the reader's keyword arguments as JSON on standard input. It runs in the environment that
environments.py calls `remote`; endpoint and keys are in the environment, as the readers' own tools look for them."""

import asyncio
import concurrent.futures
import json
import os
import pathlib
import resource
import sys
import time


class Watch:
    """Seconds, and CPU seconds of this process and of those that it started and waited for."""

    def __init__(self):
        self.began, self.cpu_before = time.perf_counter(), self.cpu()

    @staticmethod
    def cpu():
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    def read(self, **counts):
        return {**counts, "seconds": time.perf_counter() - self.began, "cpu_seconds": self.cpu() - self.cpu_before}


def blocks(objects, block):
    """Key, first byte and length of each range."""
    for key, size in objects:
        for first in range(0, size, block):
            yield key, first, min(block, size - first)


def boto3_ranges(bucket, objects, block, parallel):
    import boto3
    from botocore.config import Config

    client = boto3.client("s3", config=Config(max_pool_connections=parallel, s3={"addressing_style": "path"}))

    def read(wanted):
        key, first, length = wanted
        answer = client.get_object(Bucket=bucket, Key=key, Range=f"bytes={first}-{first + length - 1}")
        return len(answer["Body"].read())

    watch = Watch()
    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        sizes = list(pool.map(read, blocks(objects, block)))
    return watch.read(bytes=sum(sizes), samples=len(sizes))


def obstore_store(bucket):
    from obstore.store import S3Store

    return S3Store(bucket, endpoint=os.environ["AWS_ENDPOINT_URL"], virtual_hosted_style_request=False,
                   client_options={"allow_http": True})


def obstore_ranges(bucket, objects, block, parallel):
    import obstore

    store = obstore_store(bucket)

    async def read(iterator):
        total = count = 0
        for key, first, length in iterator:  # shared: each takes the next one
            total += len(await obstore.get_range_async(store, key, start=first, length=length))
            count += 1
        return total, count

    async def read_all():
        shared = blocks(objects, block)
        return await asyncio.gather(*(read(shared) for _ in range(parallel)))

    watch = Watch()
    done = asyncio.run(read_all())
    return watch.read(bytes=sum(size for size, _ in done), samples=sum(count for _, count in done))


def s3torch_objects(bucket, objects):
    """Whole objects, in the parts and the parallelism that its own client chooses."""
    from s3torchconnector import S3ClientConfig, S3IterableDataset

    uris = [f"s3://{bucket}/{key}" for key, _ in objects]
    data = S3IterableDataset.from_objects(uris, region="us-east-1", endpoint=os.environ["AWS_ENDPOINT_URL"],
                                          s3client_config=S3ClientConfig(force_path_style=True))
    watch = Watch()
    sizes = [len(reader.read()) for reader in data]
    return watch.read(bytes=sum(sizes), samples=len(sizes))


def webdataset_pipe(urls, workers):
    import torch
    import webdataset

    data = webdataset.WebDataset([f"pipe:curl -s -f {url}" for url in urls], shardshuffle=False,
                                 nodesplitter=webdataset.split_by_node)
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=workers, prefetch_factor=8)
    watch = Watch()
    samples = size = 0
    for sample in loader:
        samples += 1
        size += sum(len(value) for name, value in sample.items() if name in ("jpg", "jpeg", "bin"))
    del loader
    return watch.read(bytes=size, samples=samples)


def streaming_mds(remote, local, workers):
    """From the store through its folder on the disk, as it does."""
    import torch
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    clean_stale_shared_memory()  # of one that was killed
    data = StreamingDataset(remote=remote, local=local, shuffle=False, batch_size=64, predownload=8192)
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=workers, prefetch_factor=8)
    watch = Watch()
    samples = size = 0
    for sample in loader:
        samples += 1
        size += len(sample["jpg"])
    del loader
    return watch.read(bytes=size, samples=samples)


def make_mds(folder, out, size_limit):
    from streaming import MDSWriter

    with MDSWriter(out=out, columns={"jpg": "bytes"}, size_limit=size_limit) as writer:
        for file in sorted(pathlib.Path(folder).rglob("*.jpg")):
            writer.write({"jpg": file.read_bytes()})
    return {}


READERS = {reader.__name__: reader for reader in
           (boto3_ranges, obstore_ranges, s3torch_objects, webdataset_pipe, streaming_mds, make_mds)}

if __name__ == "__main__":
    answer = READERS[sys.argv[1]](**json.load(sys.stdin))
    print(json.dumps(answer), flush=True)
    os._exit(0)  # obstore's threads may abort a Python that ends in an orderly way
