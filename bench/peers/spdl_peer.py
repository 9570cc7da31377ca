"""SPDL: FFmpeg decodes, crops, scales and mirrors; NumPy normalises; a pipeline of one thread."""

import random
import sys

import numpy
import spdl.io
from spdl.pipeline import PipelineBuilder

import peer

PATHS = peer.image_paths(sys.argv[1])
SCALE, BIAS = peer.scale_and_bias()


def decode(path, box_of, flip):
    packets = spdl.io.demux_image(path)
    x, y, width, height = box_of(packets.width, packets.height)
    filters = [f"crop={width}:{height}:{x}:{y}:exact=1", f"scale={peer.SIDE}:{peer.SIDE}:flags=bilinear"]
    filters += ["hflip"] * flip + ["format=rgb24"]
    frames = spdl.io.decode_packets(packets, filter_desc=",".join(filters))
    return spdl.io.convert_frames(frames)


def normalise(buffers):
    batch = numpy.empty((len(buffers), 3, peer.SIDE, peer.SIDE), numpy.float32)
    for buffer, out in zip(buffers, batch):
        numpy.multiply(spdl.io.to_numpy(buffer).transpose(2, 0, 1), SCALE, out=out)
        out += BIAS
    return batch


def run(epochs):
    builder = PipelineBuilder().add_source(peer.epochs_of(PATHS, epochs))
    builder = builder.pipe(lambda path: decode(path, peer.random_box, random.random() < 0.5))
    builder = builder.aggregate(peer.BATCH).pipe(normalise).add_sink(2)
    pipeline = builder.build(num_threads=1)
    with pipeline.auto_stop():
        return sum(len(batch) for batch in pipeline)


def pixels():
    return normalise([decode(path, peer.centre_box, False) for path in PATHS[:peer.PIXEL_IMAGES]])


peer.serve(peer.timed(run), pixels)
