#include "stoker/base/streamed_copy.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstring>

namespace stoker {

#ifdef __SSE2__

namespace {

constexpr std::size_t kLine = 64;  // of a cache: whole lines are not fetched
constexpr std::size_t kShort = 4096;

void stream_line(const std::uint8_t* from, std::uint8_t* to) {
  const auto* source = reinterpret_cast<const __m128i*>(from);
  auto* place = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(place, a);
  _mm_stream_si128(place + 1, b);
  _mm_stream_si128(place + 2, c);
  _mm_stream_si128(place + 3, d);
}

}  // namespace

void streamed_copy(Bytes from, std::uint8_t* to) {
  const std::uint8_t* source = from.data();
  std::size_t left = from.size();
  const auto copy = [&](std::size_t size) {
    if (size > 0) std::memcpy(to, source, size);
    source += size, to += size, left -= size;
  };
  if (left < kShort) return copy(left);
  copy((kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  for (; left >= kLine; source += kLine, to += kLine, left -= kLine) stream_line(source, to);
  _mm_sfence();  // other threads see it once they see what this one writes next
  copy(left);
}

#else

void streamed_copy(Bytes from, std::uint8_t* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

#endif

}  // namespace stoker
