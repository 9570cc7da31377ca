// Plausible facts of a few machines at work, for tests of what is said of them.
#pragma once

#include "stoker/doctor/facts.h"

namespace stoker {

/// 64 vCPUs, an H100, packed photographs on an NVMe disk, and all the memory that they need: the GPU never waits.
Facts healthy_facts();

/// Two cores that decode large photographs for a fast GPU.
Facts few_cores_facts();

/// 200,000 loose files on a disk that turns, with memory for few of them.
Facts small_files_facts();

/// An object store that takes 30 ms to answer, behind 10 Gbit/s.
Facts object_store_facts();

/// Eight GPUs that share one NIC to their store.
Facts eight_gpus_facts();

/// A cache in memory for a third of the data, on a SATA disk.
Facts small_memory_facts();

/// A recipe whose transforms cost five times its decoding.
Facts heavy_recipe_facts();

/// A figure that was measured five times: its quartiles lie `spread` (relative) to either side of the median.
Figure figure(double median, double spread = 0.02);

}  // namespace stoker
