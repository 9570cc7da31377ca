"""Pillow and NumPy, in a loop. What it makes of the centre boxes is what all others are compared with."""

import sys

import numpy
from PIL import Image

import peer

SCALE, BIAS = peer.scale_and_bias()
TURN = Image.Transpose.FLIP_LEFT_RIGHT


def transform(path, box_of, flip, out):
    with Image.open(path) as image:
        x, y, width, height = box_of(*image.size)
        part = image.convert("RGB").crop((x, y, x + width, y + height))
    part = part.resize((peer.SIDE, peer.SIDE), Image.Resampling.BILINEAR)
    if flip:
        part = part.transpose(TURN)
    numpy.multiply(numpy.asarray(part).transpose(2, 0, 1), SCALE, out=out)
    out += BIAS


peer.serve_images(peer.image_paths(sys.argv[1]), transform)
