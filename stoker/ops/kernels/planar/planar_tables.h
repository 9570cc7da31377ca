// Builds the tables of the planar kernels from taps, once per sample.
#pragma once

#include "stoker/ops/kernels/planar/planar_kernels.h"
#include "stoker/ops/planar_taps.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Both keep their memory; what they return points into it, and into `taps`, until the next build().
class PlanarRowTableBuilder {
 public:
  PlanarRowTable build(const PlanarAxisTaps& taps);

 private:
  Scratch counts_, pairs_;
};

class PlanarColumnTableBuilder {
 public:
  /// For rows whose first sample is column `origin` of the plane, of 1 or 2 bytes a sample as taps.bits tells.
  PlanarColumnTable build(const PlanarAxisTaps& taps, int origin, const PlanarKernels& kernels);

 private:
  Scratch numbers_;
};

}  // namespace stoker
