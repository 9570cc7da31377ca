"""tf.data: decode_and_crop_jpeg, an antialiased resize, and what normalises; all knobs left to its autotuner."""

import sys

import numpy
import tensorflow as tf

import peer

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
PATHS = peer.image_paths(sys.argv[1])
MEAN, STD = (tf.constant(values, shape=(1, 1, 3)) for values in (peer.MEAN, peer.STD))


def finish(encoded, window, flip):
    image = tf.image.decode_and_crop_jpeg(encoded, window, channels=3)
    image = tf.image.resize(image, (peer.SIDE, peer.SIDE), antialias=True)
    if flip:
        image = tf.image.random_flip_left_right(image)
    return tf.transpose((image / 255 - MEAN) / STD, (2, 0, 1))


def random_crop(path):
    encoded = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(encoded), tf.zeros((1, 0, 4)), min_object_covered=0, area_range=(0.08, 1),
        aspect_ratio_range=(3 / 4, 4 / 3), max_attempts=10, use_image_if_no_bounding_boxes=True)
    return finish(encoded, tf.concat([begin[:2], size[:2]], 0), True)


def centre_box(path):
    encoded = tf.io.read_file(path)
    shape = tf.io.extract_jpeg_shape(encoded)[:2]
    side = tf.cast(0.875 * tf.cast(tf.reduce_min(shape), tf.float32), tf.int32)
    return finish(encoded, tf.concat([(shape - side) // 2, [side, side]], 0), False)


def dataset(paths, transform):
    return paths.map(transform, num_parallel_calls=tf.data.AUTOTUNE).batch(peer.BATCH).prefetch(tf.data.AUTOTUNE)


def pixels():
    paths = tf.data.Dataset.from_tensor_slices(PATHS[:peer.PIXEL_IMAGES])
    return numpy.concatenate(list(dataset(paths, centre_box).as_numpy_iterator()))


BATCHES = iter(dataset(tf.data.Dataset.from_tensor_slices(PATHS).shuffle(len(PATHS)).repeat(), random_crop))
peer.serve(peer.timed_endless(lambda: next(BATCHES), len(PATHS)), pixels)
