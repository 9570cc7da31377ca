// JPEG 2000 images.
#include "stoker/codec/jpeg2000/jpeg2000_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "jpeg2000", .run = check_windows<Jpeg2000Decoder>});

}  // namespace
}  // namespace stoker
