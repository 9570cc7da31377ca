#include "stoker/pack/synth/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/pack/ordered_producer.h"
#include "stoker/pack/synth/synth_image.h"
#include "stoker/pack/synth/synth_output.h"

namespace stoker {
namespace {

std::int64_t label_of(std::int64_t index, const SynthOptions& options) {
  // index * classes / count without the overflow that large sets would run into.
  const std::int64_t each = options.count / options.classes, larger = options.count % options.classes;
  const std::int64_t in_larger = larger * (each + 1);
  return index < in_larger ? index / (each + 1) : larger + (index - in_larger) / each;
}

/// Digits that make names of 0 ... count - 1 sort as their numbers.
int digits_for(std::int64_t count, int at_least) {
  return std::max(at_least, static_cast<int>(std::to_string(count - 1).size()));
}

std::vector<std::uint8_t> encoded_image(std::int64_t index, const SynthOptions& options) {
  const auto number = static_cast<std::uint64_t>(index);
  std::vector<std::uint8_t> encoded;
  if (options.kind == SynthKind::kTiny) {
    encode_png(make_tiny(options.seed, number, label_of(index, options)).view(), encoded);
  } else {
    const SynthImage image = make_photograph(options.seed, number, label_of(index, options));
    encode_jpeg(image.view(), image.encoding, encoded);
  }
  return encoded;
}

void check(const std::string& out, const SynthOptions& options) {
  if (out.empty()) fail(ErrorKind::kUsage, "the output for the data set has an empty name");
  if (options.count < 1) fail(ErrorKind::kUsage, "count must be at least 1, not {}", options.count);
  if (options.classes < 1 || options.classes > options.count) {
    fail(ErrorKind::kUsage, "classes must be between 1 and the count of {}, so that each has an image, not {}",
         options.count, options.classes);
  }
  if (options.threads != 0) check_threads(options.threads);
  if (options.format == SynthFormat::kFolder && out.ends_with(".tar")) {
    fail(ErrorKind::kUsage, "'{}' is named as a tar, but the format is folder; choose the format tar, or another name",
         out);
  }
}

}  // namespace

void synthesize(const std::string& out, const SynthOptions& options) {
  check(out, options);
  const std::unique_ptr<SynthOutput> output =
      options.format == SynthFormat::kTar ? make_tar_output(out) : make_folder_output(out);
  const int cores = usable_cores();
  std::int64_t claimed = 0;
  const auto claim = [&](const std::stop_token&) {
    return claimed < options.count ? std::optional(claimed++) : std::nullopt;
  };
  const auto make = [&](std::int64_t index) { return encoded_image(index, options); };
  OrderedProducer<std::int64_t, std::vector<std::uint8_t>> producer(options.threads ? options.threads : cores, claim,
                                                                    [&] { return make; });

  const int class_digits = digits_for(options.classes, 4), name_digits = digits_for(options.count, 7);
  for (std::int64_t index = 0; index < options.count; ++index) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) {
      fail(ErrorKind::kClosed, "stopped after {} of {}; nothing is left of '{}'", index,
           counted(options.count, "sample"), out);
    }
    const std::vector<std::uint8_t> image = *producer.next();
    const std::int64_t label = label_of(index, options);
    output->add({fmt::format("c{:0{}}", label, class_digits), fmt::format("{:0{}}", index, name_digits),
                 options.kind == SynthKind::kTiny ? "png" : "jpg", label, image});
    if (options.progress) options.progress(index + 1, options.count);
  }
  output->finish();
}

}  // namespace stoker
