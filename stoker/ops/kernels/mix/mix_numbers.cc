#include "stoker/ops/kernels/mix/mix_numbers.h"

namespace stoker {

void mix_numbers(std::span<std::uint8_t* const> vectors, std::span<const MixDraw> mixes, std::size_t count) noexcept {
  float* numbers[kMixGroupMax];
  for (std::size_t m = 0; m < vectors.size(); ++m) numbers[m] = reinterpret_cast<float*>(vectors[m]);
  for (std::size_t i = 0; i < count; ++i) {
    float before[kMixGroupMax];
    for (std::size_t m = 0; m < vectors.size(); ++m) before[m] = numbers[m][i];
    for (std::size_t m = 0; m < vectors.size(); ++m) {
      if (mixes[m].kind == MixDraw::Kind::kKeep) continue;
      float sum = before[m] * mixes[m].weight[0];
      for (std::size_t k = 1; k < vectors.size(); ++k) sum += before[m ^ k] * mixes[m].weight[k];
      numbers[m][i] = sum;
    }
  }
}

}  // namespace stoker
