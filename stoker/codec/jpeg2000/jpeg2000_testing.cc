#include "stoker/codec/jpeg2000/jpeg2000_testing.h"

#include <openjpeg.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

namespace stoker {
namespace {

void require_coded(bool holds) {
  if (!holds) std::abort();
}

/// What openjpeg writes.
struct CodedFile {
  std::vector<std::uint8_t> bytes;
  std::size_t at = 0;

  static OPJ_SIZE_T write(void* from, OPJ_SIZE_T count, void* self) {
    auto& file = *static_cast<CodedFile*>(self);
    file.bytes.resize(std::max(file.bytes.size(), file.at + count));
    std::memcpy(file.bytes.data() + file.at, from, count);
    file.at += count;
    return count;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    auto& file = *static_cast<CodedFile*>(self);
    file.at += static_cast<std::size_t>(count);
    file.bytes.resize(std::max(file.bytes.size(), file.at));
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    static_cast<CodedFile*>(self)->at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }
};

opj_image_t* make_image(const TestJpeg2000& options, unsigned seed) {
  std::vector<opj_image_cmptparm_t> components(static_cast<std::size_t>(options.components));
  const auto left = static_cast<OPJ_UINT32>(options.left), top = static_cast<OPJ_UINT32>(options.top);
  const OPJ_UINT32 right = left + static_cast<OPJ_UINT32>(options.width),
                   bottom = top + static_cast<OPJ_UINT32>(options.height);
  for (std::size_t c = 0; c < components.size(); ++c) {
    const auto step = static_cast<OPJ_UINT32>(c == 1 || c == 2 ? options.chroma : 1);
    components[c] = {};
    components[c].dx = components[c].dy = step;
    components[c].w = (right + step - 1) / step - (left + step - 1) / step;
    components[c].h = (bottom + step - 1) / step - (top + step - 1) / step;
    components[c].prec = static_cast<OPJ_UINT32>(options.bits);
    components[c].sgnd = options.is_signed;
  }
  opj_image_t* const image = opj_image_create(static_cast<OPJ_UINT32>(options.components), components.data(),
                                              options.components < 3 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
  require_coded(image != nullptr);
  image->x0 = left, image->y0 = top, image->x1 = right, image->y1 = bottom;
  std::mt19937 random(seed);
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (std::size_t i = 0; i < std::size_t{components[c].w} * components[c].h; ++i) {
      image->comps[c].data[i] =
          static_cast<OPJ_INT32>(random() % (1u << options.bits)) - (options.is_signed ? 1 << (options.bits - 1) : 0);
    }
  }
  return image;
}

opj_cparameters_t parameters_of(const TestJpeg2000& options) {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = options.layers;
  parameters.cp_disto_alloc = 1;
  for (int i = 0; i < options.layers; ++i) {
    parameters.tcp_rates[i] = static_cast<float>(i + 1 < options.layers ? 4 * (options.layers - i)
                                                 : options.lossy        ? 3
                                                                        : 0);
  }
  parameters.irreversible = options.lossy;
  parameters.numresolution = options.resolutions;
  parameters.prog_order = static_cast<OPJ_PROG_ORDER>(options.progression);
  parameters.cblockw_init = parameters.cblockh_init = options.block;
  parameters.image_offset_x0 = options.left, parameters.image_offset_y0 = options.top;
  if (options.tile) {
    parameters.tile_size_on = OPJ_TRUE;
    parameters.cp_tdx = parameters.cp_tdy = options.tile;
  }
  if (options.precinct) {
    parameters.csty |= 1;
    parameters.res_spec = 1;
    parameters.prcw_init[0] = parameters.prch_init[0] = options.precinct;
  }
  parameters.tcp_mct = options.components >= 3 && options.chroma == 1;
  return parameters;
}

}  // namespace

EncodedJpeg2000 make_test_jpeg2000(const TestJpeg2000& options, unsigned seed) {
  opj_image_t* const image = make_image(options, seed);
  EncodedJpeg2000 encoded{{}, {.width = options.width, .height = options.height, .channels = 3, .pixels = {}}};
  for (int i = 0; options.chroma == 1 && i < options.width * options.height; ++i) {
    for (int c = 0; c < 3; ++c) {
      const int value =
          image->comps[options.components < 3 ? 0 : c].data[i] + (options.is_signed ? 1 << (options.bits - 1) : 0);
      const int byte = options.bits < 8 ? value * 255 / ((1 << options.bits) - 1) : value >> (options.bits - 8);
      encoded.rgb.pixels.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  opj_codec_t* const codec = opj_create_compress(options.boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_cparameters_t parameters = parameters_of(options);
  require_coded(opj_setup_encoder(codec, &parameters, image) == OPJ_TRUE);
  CodedFile file;
  opj_stream_t* const stream = opj_stream_default_create(OPJ_FALSE);
  opj_stream_set_user_data(stream, &file, nullptr);
  opj_stream_set_write_function(stream, CodedFile::write);
  opj_stream_set_skip_function(stream, CodedFile::skip);
  opj_stream_set_seek_function(stream, CodedFile::seek);
  require_coded(opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
                opj_end_compress(codec, stream));
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  encoded.bytes = std::move(file.bytes);
  return encoded;
}

}  // namespace stoker
