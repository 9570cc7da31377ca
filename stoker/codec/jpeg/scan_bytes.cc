#include "stoker/codec/jpeg/scan_bytes.h"

#include <algorithm>
#include <cstring>

#include "stoker/codec/jpeg/markers.h"

namespace stoker {
namespace {

constexpr std::uint8_t kMark = 0xFF;
constexpr int kRestartNumbers = 8;

}  // namespace

UnstuffedEnd unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to) {
  while (from < end) {
    const auto* mark = static_cast<const std::uint8_t*>(std::memchr(from, kMark, static_cast<std::size_t>(end - from)));
    const auto plain = static_cast<std::size_t>((mark ? mark : end) - from);
    std::memcpy(to, from, plain);
    from += plain;
    to += plain;
    if (!mark || end - mark < 2 || mark[1] != 0) break;
    *to++ = kMark;
    from += 2;
  }
  return {from, to};
}

void ScanBytes::read(Bytes encoded, std::size_t begin, bool restarts) {
  restarts_.clear();
  const std::uint8_t* from = encoded.data() + begin;
  const std::uint8_t* const end = encoded.data() + encoded.size();
  data_ = memory_.bytes(encoded.size() - begin + kScanSlack);
  std::uint8_t* to = data_;
  for (;;) {
    const UnstuffedEnd copied = unstuff(from, end, to);
    from = copied.from;
    to = copied.to;
    const auto restart = static_cast<std::uint8_t>(kRestart0 + restarts_.size() % kRestartNumbers);
    if (!restarts || end - from < 2 || from[1] != restart) break;
    from += 2;
    restarts_.push_back(static_cast<std::uint32_t>(to - data_));
  }
  size_ = static_cast<std::size_t>(to - data_);
  std::memset(to, 0, kScanSlack);
  while (end - from > 2 && from[1] == kMark) ++from;  // filling
  ends_image_ = end - from >= 2 && from[1] == kEndOfImage;
}

std::size_t StuffedPlace::find(std::uint32_t unstuffed) {
  for (;;) {
    const bool mark = encoded_[at_] == kMark && at_ + 1 < encoded_.size();
    if (mark && encoded_[at_ + 1] != 0) {  // a restart marker, which is not a byte of the scan
      at_ += 2;
      continue;
    }
    if (unstuffed_ == unstuffed) return at_;
    if (mark) {
      at_ += 2;
      ++unstuffed_;
      continue;
    }
    const std::size_t wanted = std::min<std::size_t>(unstuffed - unstuffed_, encoded_.size() - at_);
    const void* const next = std::memchr(encoded_.data() + at_, kMark, wanted);
    const std::size_t plain =
        next ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - (encoded_.data() + at_)) : wanted;
    at_ += plain;
    unstuffed_ += static_cast<std::uint32_t>(plain);
  }
}

}  // namespace stoker
