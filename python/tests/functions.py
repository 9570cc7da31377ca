"""Functions as users write them, for function_test.py: each is found by its name in the process that calls it."""

import ctypes
import os
import random
import sys
import time

import numpy as np


def same(*values):
    return values[0] if len(values) == 1 else values


def first(one, *others):
    return one


def chosen_number(image, numbers, at):
    return numbers[at]


def inverted(image):
    return 255 - image


def half(image, mask):
    return {"mask": mask[::2, ::2], "image": image[::2, ::2]}


def noisy(image, rng):
    return np.clip(image + rng.integers(-9, 10, image.shape), 0, 255).astype(np.uint8)


def draws(image):
    """From each generator that people use, without a word to Stoker."""
    import torch

    return np.array([random.random(), np.random.rand(), float(torch.rand(()))], np.float32)


def prints(image):
    print("printed")
    os.write(1, b"written\n")
    return image


def raises_always(image, calls):
    with open(calls, "a") as file:
        file.write("called\n")
    raise ValueError("never")


def loads_torch(image):
    """Once it has drawn numbers; a second call for the same sample would add to what the first one added."""
    drawn = [random.random(), np.random.rand()]
    import torch

    image += 1
    return image, np.array([*drawn, random.random(), np.random.rand(), float(torch.rand(()))])


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


def says_nothing(image):
    raise Unprintable


def says_bytes(image):
    """As the name of a file may have them."""
    raise OSError("no file a\udcff")


def cropped(image):
    """Whatever size it has."""
    height, width = image.shape[:2]
    return np.ascontiguousarray(image[height // 2 - 10:height // 2 + 10, width // 2 - 12:width // 2 + 12])


def words(text):
    """As many numbers as the text has words."""
    return np.array([len(word) for word in text.split()], np.int64)


def is_chosen(image):
    """A third of the samples, whatever the process."""
    return int(image.sum()) % 3 == 0


def raises(image):
    if is_chosen(image):
        raise ValueError("this one\nis not for me")
    return image


def leaves(image):
    return sys.exit(3) if is_chosen(image) else image


def crashes(image):
    if is_chosen(image):
        ctypes.string_at(0)
    return image


def hangs(image):
    while is_chosen(image):
        time.sleep(1)
    return image


def wrong_shape(image):
    return image[:5] if is_chosen(image) else image


def wrong_type(image):
    return image.astype(np.float64) if is_chosen(image) else image


def nothing(image):
    return None if is_chosen(image) else image


def closes(image):
    """The channel to the worker, and everything else."""
    if is_chosen(image):
        os.closerange(3, 256)
        time.sleep(600)
    return image


kept = []


def leaks(image):
    kept.append(np.ones(3 << 20, np.uint8))
    return image


def process_id(image):
    return np.array(os.getpid(), np.int64)


C_SOURCE = r"""
#include <stoker_function.h>

#include <unistd.h>

#include <csignal>
#include <vector>

STOKER_FUNCTION(inverted, call) {
  const auto in = call.taken<std::uint8_t>(0);
  const auto out = call.given<std::uint8_t>(0);
  for (std::size_t i = 0; i < in.count(); ++i) out[i] = 255 - in[i];
}

STOKER_FUNCTION(noisy, call) {
  const auto in = call.taken<std::uint8_t>(0);
  const auto out = call.given<std::uint8_t>(0);
  stoker_function::Draws random = call.draws();
  for (std::size_t i = 0; i < in.count(); ++i) out[i] = in[i] ^ (random.next() & 7);
}

STOKER_FUNCTION(bright, call) {  // the places of bright pixels, in rows
  const auto in = call.taken<std::uint8_t>(0);
  auto out = call.given<std::int64_t>(0);
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(in.count()); ++i) {
    if (in[i] < std::atoi(std::strchr(call.arguments(), ':') + 1)) continue;
    out.set_rows(rows + 1);
    out[rows++] = i;
  }
}

STOKER_FUNCTION(counts, call) {
  const auto in = call.taken<std::uint16_t>(0);
  const auto out = call.given<std::int64_t>(0);
  out[0] = 0;
  for (std::size_t i = 0; i < in.count(); ++i) out[0] += in[i];
}

static bool is_chosen(const stoker_function::Call& call) {
  const auto in = call.taken<std::uint8_t>(0);
  const auto out = call.given<std::uint8_t>(0);
  long sum = 0;
  for (std::size_t i = 0; i < in.count(); ++i) sum += out[i] = in[i];
  return sum % 3 == 0;
}

STOKER_FUNCTION(throws, call) {
  if (is_chosen(call)) throw std::runtime_error("this one is not for me");
}

STOKER_FUNCTION(crashes, call) {
  if (is_chosen(call)) std::raise(SIGSEGV);
}

STOKER_FUNCTION(hangs, call) {
  while (is_chosen(call)) pause();
}

STOKER_FUNCTION(leaks, call) {
  static std::vector<std::vector<char>> kept;
  kept.emplace_back(3 << 20, is_chosen(call));
}

STOKER_FUNCTION(mistaken, call) { call.taken<float>(0); }

extern "C" int status(StokerFunctionCall*) { return 7; }
"""


def blended(images, labels):
    """Each sample with the one after it, as no function of a single sample could."""
    half = (images.astype(np.uint16) + np.roll(images, -1, axis=0)) // 2
    return half.astype(np.uint8), np.stack([labels, np.roll(labels, -1)], axis=1)


def noise_of_batch(images, rng):
    return np.clip(images + rng.integers(-9, 10, images.shape), 0, 255).astype(np.uint8)


def means_of_batch(image):
    """Of tensors."""
    return image.float().mean(dim=(1, 2, 3))


def one_short(images):
    return images[:-1]


def fails_for_batches(images):
    raise ValueError("not for batches")


def hangs_for_batches(images):
    while True:
        time.sleep(1)


def waits(image, calls):
    """Until there is a file, or two seconds."""
    with open(calls, "a") as file:
        file.write("called\n")
    end = time.monotonic() + 2
    while not os.path.exists(calls + ".go") and time.monotonic() < end:
        time.sleep(0.001)
    return image
