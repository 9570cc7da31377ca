#include "stoker/pack/image_heads.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/units.h"
#include "stoker/tensor/allocator.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kHead = std::uint64_t{64} << 10, kTail = std::uint64_t{64} << 10;

/// As many zeros as one likes; they take memory only where they are changed.
class Zeros {
 public:
  explicit Zeros(std::size_t bytes)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) fail(ErrorKind::kMemory, "the machine has no room for an image of {} bytes", bytes);
  }
  ~Zeros() { ::munmap(data_, bytes_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  MutableBytes bytes() const { return {static_cast<std::uint8_t*>(data_), bytes_}; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Makes the chunk that leaves the head of a PNG reach to its end mark: the chunks that follow it were not read.
void close_png_gap(MutableBytes png) {
  constexpr std::string_view kEnd = "\0\0\0\0IEND\xae\x42\x60\x82"sv;
  constexpr std::uint64_t kSignature = 8, kFrame = 12;  // of a chunk: its length, type and checksum
  const std::uint64_t end = png.size() - kEnd.size();
  if (as_text(png.subspan(end)) != kEnd) return;
  for (std::uint64_t at = kSignature; at + kFrame <= kHead;) {
    const std::uint64_t length = std::uint64_t{png[at]} << 24 | std::uint64_t{png[at + 1]} << 16 |
                                 std::uint64_t{png[at + 2]} << 8 | std::uint64_t{png[at + 3]};
    const std::uint64_t next = at + kFrame + length;
    if (next <= kHead) {
      at = next;
      continue;
    }
    const std::uint64_t reaching = end - at - kFrame;
    if (next > end || reaching > UINT32_MAX) return;
    for (int byte = 0; byte < 4; ++byte) png[at + byte] = static_cast<std::uint8_t>(reaching >> (24 - 8 * byte));
    return;
  }
}

}  // namespace

ImageFacts ImageHeads::read_facts(ImageDecoder& decoder, const SampleRow& row, const SampleField& image) {
  if (image.length > kHead + kTail) {
    const Zeros zeros(image.length);
    const MutableBytes bytes = zeros.bytes();
    read_fully(*row.source, image.offset, bytes.first(kHead), image.part);
    const Codec codec = detect_codec(bytes.first(kHead));
    if (codec == Codec::kUnknown) return decoder.read_facts(bytes.first(kHead));  // which says so
    read_fully(*row.source, image.offset + image.length - kTail, bytes.last(kTail), image.part);
    if (codec == Codec::kPng) close_png_gap(bytes);
    try {
      return decoder.read_facts(bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadSample) throw;
    }
  }
  if (image.length > usable_memory() / 2) {
    fail(ErrorKind::kLimit, "its image has {}, more than can be held in memory",
         format_size(static_cast<double>(image.length)));
  }
  const std::lock_guard lock(one_whole_);
  const Memory whole(host_allocator(), image.length);
  const MutableBytes bytes(whole.data(), image.length);
  read_fully(*row.source, image.offset, bytes, image.part);
  return decoder.read_facts(bytes);
}

}  // namespace stoker
