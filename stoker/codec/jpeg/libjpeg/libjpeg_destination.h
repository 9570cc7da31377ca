// The destination of libjpeg's encoder: a vector that grows, so that nothing is copied, or leaks when libjpeg gives up
// halfway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

namespace stoker {

class LibjpegDestination {
 public:
  /// `out` must outlive this; its contents are replaced.
  explicit LibjpegDestination(std::vector<std::uint8_t>& out) : hooks_{{}, &out} {}
  LibjpegDestination(const LibjpegDestination&) = delete;
  LibjpegDestination& operator=(const LibjpegDestination&) = delete;

  /// Before jpeg_start_compress; the encoder's error manager must be a LibjpegErrors.
  void attach(jpeg_compress_struct& jpeg);

 private:
  struct Hooks {
    jpeg_destination_mgr base;  // first: libjpeg's pointer to it is a pointer to the whole
    std::vector<std::uint8_t>* out;
  };
  static Hooks& of(j_compress_ptr jpeg) { return *reinterpret_cast<Hooks*>(jpeg->dest); }
  static void resize(j_compress_ptr jpeg, std::size_t size);

  Hooks hooks_;
};

}  // namespace stoker
