#include "stoker/plan/field_tokens.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
#include "stoker/base/units.h"
#include "stoker/tensor/batch.h"

namespace stoker {
namespace {

// What is taken of a field: so many tokens from here on, of which the last one may be no more than a target.
struct TokenWindow {
  std::size_t begin, count;
};

TokenWindow window_of(Bytes field, std::size_t size, const TokenOptions& options, const SampleDraw& draw) {
  if (field.size() % size != 0) {
    fail(ErrorKind::kBadSample, "it has {}, which is not a whole number of tokens of {}", byte_count(field.size()),
         byte_count(size));
  }
  const std::size_t tokens = field.size() / size, most = static_cast<std::size_t>(options.length) + 1;
  if (tokens <= most) return {0, tokens};
  if (options.longer == TokenOptions::Longer::kRefuse) {
    fail(ErrorKind::kBadSample,
         "it has {} tokens, and there is room for {} and the one after them: use longer='cut' or 'random'", tokens,
         options.length);
  }
  if (options.longer == TokenOptions::Longer::kCut) return {0, most};
  Random random(draw.seed, draw.epoch, draw.position, options.stream);
  return {static_cast<std::size_t>(random.below(tokens - most + 1)), most};
}

// From the tokens themselves to where they stand.
void number_places(const TokenOptions& options, std::int64_t* numbers, std::size_t count) {
  std::int64_t position = 0, document = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool ends = options.eod && numbers[i] == *options.eod;
    numbers[i] = options.part == TokenPart::kPositions ? position : document;
    ++position;
    if (!ends) continue;
    position = 0;
    ++document;
  }
}

/// What fills up a sample that is shorter. A loss ignores such targets.
std::int64_t rest_of(const TokenOptions& options) {
  switch (options.part) {
    case TokenPart::kInputs: return options.pad;
    case TokenPart::kTargets: return kPaddingNumber;
    case TokenPart::kPositions:
    case TokenPart::kDocuments:
    case TokenPart::kMask: break;
  }
  return 0;
}

}  // namespace

void write_field_tokens(Bytes field, const TokenOptions& options, const SampleDraw& draw, MutableBytes out) {
  const std::size_t size = size_of(*options.type), length = static_cast<std::size_t>(options.length);
  assert(out.size() == length * sizeof(std::int64_t));
  const TokenWindow window = window_of(field, size, options, draw);
  const bool are_targets = options.part == TokenPart::kTargets;
  const std::size_t first = are_targets ? 1 : 0;
  const std::size_t count = window.count > first ? std::min(window.count - first, length) : 0;
  auto* const numbers = reinterpret_cast<std::int64_t*>(out.data());
  widen_tokens(*options.type, field.data() + (window.begin + first) * size, count, numbers);
  if (options.part == TokenPart::kMask) std::fill(numbers, numbers + count, 1);
  if (options.part == TokenPart::kPositions || options.part == TokenPart::kDocuments) {
    number_places(options, numbers, count);
  }
  std::fill(numbers + count, numbers + length, rest_of(options));
}

}  // namespace stoker
