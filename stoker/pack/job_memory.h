// Divides the memory budget of a job over samples: the job holds no more, for any number of threads and any image
// sizes.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

/// In bytes.
struct JobMemory {
  std::uint64_t fixed = 0;   // for what there is whatever the data: the program, its threads, blocks of indexes
  std::uint64_t kept = 0;    // what each thread keeps of decoders' memory from image to image
  std::uint64_t read = 0;    // samples that were read, and what was made of small ones
  std::uint64_t shared = 0;  // what images that take more than threads keep are worked on with
  std::uint64_t oldest = 0;  // and the oldest of them, which never waits: the largest that there may be
};

/// Throws kMemory for a budget that cannot work, saying the least that does.
JobMemory divide_job_memory(std::uint64_t bytes, int threads);

/// Where none is given: 2 GiB, or half of the machine's if that is less; never less than the least that works.
std::uint64_t default_job_memory(int threads);

/// The least budget, in megabytes, for a sample of so many bytes that takes so many more to be worked on: "412MB".
std::string job_memory_for(std::uint64_t sample_bytes, std::uint64_t work_bytes, int threads);

}  // namespace stoker
