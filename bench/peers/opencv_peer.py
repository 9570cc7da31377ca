"""OpenCV and NumPy in Python, in a loop; linear, not antialiased."""

import sys

import cv2
import numpy

import peer

SCALE, BIAS = peer.scale_and_bias()


def transform(path, box_of, flip, out):
    image = cv2.imread(path, cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    x, y, width, height = box_of(image.shape[1], image.shape[0])
    part = cv2.resize(image[y:y + height, x:x + width], (peer.SIDE, peer.SIDE), interpolation=cv2.INTER_LINEAR)
    if flip:
        part = cv2.flip(part, 1)
    numpy.multiply(part.transpose(2, 0, 1), SCALE, out=out)
    out += BIAS


cv2.setNumThreads(0)
peer.serve_images(peer.image_paths(sys.argv[1]), transform)
