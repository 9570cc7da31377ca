// Decoders run per sample: in the steady state, none of their own memory may come and go. Memory that the codec
// libraries take for themselves (with malloc) is not counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "stoker/codec/image_decoder.h"
#include "stoker/codec/jpeg_testing.h"
#include "stoker/codec/png_testing.h"

namespace {

std::atomic<long> allocations = 0;

void* counted(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* not_null(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t size) { return not_null(counted(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new(std::size_t size, std::align_val_t a) { return not_null(counted(size, bytes_of(a))); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(size, bytes_of(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace stoker {
namespace {

TEST(AnyImageDecoder, AllocatesNothingOfItsOwnOnceItHasSeenTheSizes) {
  const std::vector<std::vector<std::uint8_t>> files = {
      encode_test_jpeg({.name = "420", .horizontal = 2, .vertical = 2}, make_test_image(70, 50, 3)),
      encode_test_jpeg({.name = "cmyk", .components = 4}, make_test_image(61, 47, 4)),
      encode_test_jpeg({.name = "prog", .progressive = true}, make_test_image(66, 51, 3)),
      make_test_png({}, 60, 50).bytes,
  };
  AnyImageDecoder decoder;
  long before = 0;
  for (int round = 0; round < 5; ++round) {
    if (round == 1) before = allocations;
    for (const auto& file : files) {
      const ImageFacts facts = decoder.read_facts(file);
      decoder.decode_rgb(file, facts, {0, 0, facts.width, facts.height});
      decoder.decode_rgb(file, facts, {9, 7, 30, 20});
    }
  }
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace stoker
