// What the contestants in C++ share: they are told over stdin what to do, and answer with one line of JSON each.
//
//   run EPOCHS     works through all images so many times: samples, seconds, cpu_seconds
//   pixels FILE    writes the first images, cut to their centre box, as float32 NCHW: samples
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/peers/box.h"
#include "stoker/base/bytes.h"
#include "stoker/ops/color_map.h"

namespace stoker {

constexpr int kSide = 224;
constexpr int kBatch = 64;
constexpr std::size_t kPlanes = std::size_t{3} * kSide * kSide;  // floats of one image
constexpr std::int64_t kPixelImages = 128;                       // how many are compared

using BoxOf = std::function<Box(int width, int height)>;
/// One image's work: its file's bytes to normalised planes. What it needs no box for, it does without.
using Transform = std::function<void(Bytes encoded, const BoxOf& box_of, const ColorMap& color, float* planes)>;

/// Runs from its making, or its last start.
class Stopwatch {
 public:
  Stopwatch() { start(); }
  void start();
  double seconds() const;
  double cpu_seconds() const;

 private:
  std::int64_t began_ns_ = 0;
  double cpu_began_ = 0;
};

/// Answers until stdin ends; what it returns is for main(). `run` is given the epochs and returns how many samples it
/// made; it may start the watch anew once it is under way. `pixels` returns the images' planes.
int serve(const std::function<std::int64_t(int epochs, Stopwatch& watch)>& run,
          const std::function<std::vector<float>()>& pixels);

/// serve() for a peer that works image by image: the files of `folder` are read one after the other, in another order
/// each epoch, and their planes written to batches.
int serve_images(const std::string& folder, const Transform& transform);

}  // namespace stoker
