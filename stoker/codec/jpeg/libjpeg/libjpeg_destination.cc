#include "stoker/codec/jpeg/libjpeg/libjpeg_destination.h"

#include "stoker/base/error.h"
#include "stoker/codec/jpeg/libjpeg/libjpeg_errors.h"

namespace stoker {
namespace {

constexpr std::size_t kFirstBytes = 16384;

}  // namespace

void LibjpegDestination::resize(j_compress_ptr jpeg, std::size_t size) {
  const bool enough = thrown_by([&] { of(jpeg).out->resize(size); }) == nullptr;
  if (!enough) LibjpegErrors::of(reinterpret_cast<j_common_ptr>(jpeg)).give_up(ErrorKind::kMemory, "no memory is left");
}

void LibjpegDestination::attach(jpeg_compress_struct& jpeg) {
  jpeg.dest = &hooks_.base;
  hooks_.base.init_destination = [](j_compress_ptr object) {
    resize(object, kFirstBytes);
    object->dest->next_output_byte = of(object).out->data();
    object->dest->free_in_buffer = kFirstBytes;
  };
  hooks_.base.empty_output_buffer = [](j_compress_ptr object) -> boolean {
    const std::size_t written = of(object).out->size();  // the whole buffer, whatever free_in_buffer says
    resize(object, 2 * written);
    object->dest->next_output_byte = of(object).out->data() + written;
    object->dest->free_in_buffer = written;
    return TRUE;
  };
  hooks_.base.term_destination = [](j_compress_ptr object) {
    resize(object, of(object).out->size() - object->dest->free_in_buffer);
  };
}

}  // namespace stoker
