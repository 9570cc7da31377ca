// Reads what an image's header tells without reading all of a large image: its first bytes and its last ones, where the
// mark of its end is.
#pragma once

#include <mutex>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/sample_row.h"

namespace stoker {

class ImageHeads {
 public:
  /// Larger images are worth it.
  static constexpr std::uint64_t kWholeMax = std::uint64_t{256} << 10;

  /// As decoder.read_facts() of all bytes, but for damage in between: that is for whoever decodes. An image whose first
  /// and last bytes do not tell is read whole, one at a time. Throws also what reading throws. Threads: any.
  ImageFacts read_facts(ImageDecoder& decoder, const SampleRow& row, const SampleField& image);

 private:
  std::mutex one_whole_;  // images at a time
};

}  // namespace stoker
