"""FFCV, of a .beton that its own writer makes of the images. Usage: ffcv_peer.py FOLDER BETON jpg|raw

FFCV's field for images encodes anew what it is given; so that all decode the same JPEGs, `jpg` stores the files' bytes
in its place.
"""

import sys

import numpy
import torch
from ffcv.fields import RGBImageField
from ffcv.fields.rgb_image import CenterCropRGBImageDecoder, IMAGE_MODES, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

import peer

PATHS, BETON, MODE = peer.image_paths(sys.argv[1]), sys.argv[2], sys.argv[3]
EPOCHS_AT_ONCE = 2
MEAN, STD = (255 * numpy.array(values) for values in (peer.MEAN, peer.STD))


class JpegFileField(RGBImageField):
    def encode(self, destination, path, malloc):
        with Image.open(path) as image:
            destination["width"], destination["height"] = image.size
        content = numpy.fromfile(path, numpy.uint8)
        destination["mode"] = IMAGE_MODES["jpg"]
        destination["data_ptr"], storage = malloc(content.nbytes)
        storage[:] = content


class Images:
    def __len__(self):
        return len(PATHS)

    def __getitem__(self, i):
        return (PATHS[i] if MODE == "jpg" else Image.open(PATHS[i]).convert("RGB"),)


def loader(decoder, order, indices, *flip):
    steps = [decoder, *flip, NormalizeImage(MEAN, STD, numpy.float32), ToTensor(), ToTorchImage(channels_last=False)]
    return Loader(BETON, batch_size=peer.BATCH, num_workers=1, os_cache=True, order=order, indices=indices,
                  drop_last=False, pipelines={"image": steps}, custom_fields=CUSTOM)


def random_crops():
    # A loader compiles its steps when it is made, and what it calls an epoch costs it a start: of both few.
    indices = numpy.tile(numpy.arange(len(PATHS)), EPOCHS_AT_ONCE * peer.BATCH)
    decoder = RandomResizedCropRGBImageDecoder((peer.SIDE, peer.SIDE))
    endless = loader(decoder, OrderOption.RANDOM, indices, RandomHorizontalFlip())
    while True:
        yield from endless


def pixels():
    decoder = CenterCropRGBImageDecoder((peer.SIDE, peer.SIDE), 0.875)
    centred = loader(decoder, OrderOption.SEQUENTIAL, numpy.arange(len(PATHS[:peer.PIXEL_IMAGES])))
    return numpy.concatenate([images.numpy().copy() for images, in centred])  # its memory is used again


torch.set_num_threads(1)
FIELD = JpegFileField() if MODE == "jpg" else RGBImageField(write_mode="raw")
CUSTOM = {"image": JpegFileField} if MODE == "jpg" else {}
DatasetWriter(BETON, {"image": FIELD}, num_workers=1).from_indexed_dataset(Images())
BATCHES = random_crops()
peer.serve(peer.timed_endless(lambda: next(BATCHES), len(PATHS)), pixels)
