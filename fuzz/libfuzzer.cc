// libFuzzer's side of a target: the one that this program is linked with.
#include <algorithm>
#include <cstddef>

#include "fuzz/fuzz_target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stoker::fuzz_targets().front().run({data, size});
  return 0;
}

/// Most changed inputs get right checksums, for nearly none would get past them by chance; the rest goes as it is.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  size = LLVMFuzzerMutate(data, size, size_max);
  const auto repair = stoker::fuzz_targets().front().repair;
  if (repair == nullptr || seed % 8 == 0) return size;
  std::vector<std::uint8_t> repaired(data, data + size);
  repair(repaired);
  if (repaired.size() > size_max) return size;
  std::copy(repaired.begin(), repaired.end(), data);
  return repaired.size();
}
