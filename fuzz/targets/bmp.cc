// BMP images.
#include "stoker/codec/bmp_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "bmp", .run = check_windows<BmpDecoder>});

}  // namespace
}  // namespace stoker
