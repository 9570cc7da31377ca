#include "stoker/codec/raw_decoder.h"

#include "stoker/codec/npy.h"

namespace stoker {

ImageFacts RawDecoder::read_facts(Bytes encoded) {
  const NpyPixels pixels = read_npy_header(encoded);
  return {.codec = Codec::kRaw, .width = pixels.width, .height = pixels.height, .components = pixels.channels};
}

ImageView RawDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const NpyPixels pixels = read_npy_header(encoded);
  check_decode_request(facts, pixels.width, pixels.height, window);
  ImageView view = interleaved_view(encoded.data() + pixels.data_offset, pixels.width, pixels.height, pixels.channels);
  if (pixels.channels == 1) view.channel_stride = 0;  // a grey is all three colours
  view.channels = 3;
  return view.crop(window);
}

}  // namespace stoker
