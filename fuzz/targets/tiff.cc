// TIFF images.
#include "stoker/codec/tiff/tiff_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "tiff", .run = check_windows<TiffDecoder>});

}  // namespace
}  // namespace stoker
