// The public face of the library: open a data set, write a recipe, loop over batches. Start here. What a loader
// measures has a header of its own, runtime/metrics.h, and so has what its tuner did, tuner/tuning_log.h. Threads: each
// header says its rule.
#pragma once

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/device/open_device.h"
#include "stoker/format/dataset.h"
#include "stoker/format/dataset_views.h"
#include "stoker/format/labels.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/open.h"
#include "stoker/runtime/preprocessor.h"
#include "stoker/tensor/batch.h"
