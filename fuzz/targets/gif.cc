// The first frame of GIF images.
#include "stoker/codec/gif_decoder.h"

#include "fuzz/fuzz_target.h"
#include "fuzz/window_check.h"

namespace stoker {
namespace {

const AnnounceFuzzTarget kTarget({.name = "gif", .run = check_windows<GifDecoder>});

}  // namespace
}  // namespace stoker
