// What is counted of a picture before a pass over it.
#pragma once

#include "stoker/ops/kernels/picture/picture_kernels.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// Fills in what is asked for.
void count_picture(const PicturePass& pass, PictureStatistic statistic, const PictureKernels& kernels,
                   PictureStatistics& statistics);

}  // namespace stoker
