// `stoker info`: summarises the contents of a data set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/exit_status.h"
#include "cli/job_watch.h"
#include "cli/json_output.h"
#include "cli/text_table.h"
#include "stoker/base/units.h"
#include "stoker/pack/data_info.h"
#include "stoker/runtime/open.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/tensor/token_type.h"

namespace stoker {
namespace {

struct InfoCommandOptions {
  std::vector<std::string> data;
  StoreOptions store;
  InfoOptions info;
  std::optional<TokenSamples> tokens;
  bool json = false;
};

/// [{"from", "to", "count"}, ...], without empty buckets at the beginning.
nlohmann::ordered_json histogram_json(const Histogram& histogram) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t bucket = 0; bucket < histogram.counts().size(); ++bucket) {
    const std::int64_t count = histogram.counts()[bucket];
    if (count == 0 && list.empty()) continue;
    list.push_back({{"from", std::uint64_t{1} << bucket}, {"to", (std::uint64_t{2} << bucket) - 1}, {"count", count}});
  }
  return list;
}

std::string histogram_text(const char* title, const Histogram& histogram, std::string (*label)(std::uint64_t)) {
  constexpr double kBar = 40;  // characters
  const std::vector<std::int64_t>& counts = histogram.counts();
  const auto first = std::find_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; });
  if (first == counts.end()) return {};
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  TextTable table({{title}, {"images", Align::kRight}, {""}});
  for (auto bucket = first; bucket != counts.end(); ++bucket) {
    const auto number = bucket - counts.begin();
    const auto length = static_cast<std::size_t>(kBar * static_cast<double>(*bucket) / most + 0.5);
    table.add_row({"from " + label(std::uint64_t{1} << number), format_count(static_cast<std::uint64_t>(*bucket)),
                   std::string(length, '#')});
  }
  return "\n" + table.text();
}

nlohmann::ordered_json image_json(const ImageFacts& facts) {
  return {{"codec", to_string(facts.codec)}, {"width", facts.width}, {"height", facts.height}};
}

nlohmann::ordered_json sample_json(const SampleDescription& sample) {
  auto fields = nlohmann::ordered_json::array();
  for (const FieldDescription& field : sample.fields) {
    auto& json = fields.emplace_back(nlohmann::ordered_json{
        {"name", field.name}, {"kind", to_string(field.kind)}, {"bytes", field.bytes}, {"shard", field.place}});
    json["offset"] = field.offset ? nlohmann::ordered_json(*field.offset) : nlohmann::ordered_json();
    if (field.image) {
      json["image"] = image_json(*field.image);
    } else {
      json["shown"] = field.shown;
      json["shortened"] = field.is_shortened;
    }
  }
  return {{"number", sample.number},
          {"key", sample.key},
          {"label", sample.label >= 0 ? nlohmann::ordered_json(sample.label) : nlohmann::ordered_json()},
          {"class", sample.class_name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(sample.class_name)},
          {"image", sample.image.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(sample.image)},
          {"fields", fields}};
}

/// What can be said of a field in one cell.
std::string field_text(const FieldDescription& field) {
  if (field.image)
    return fmt::format("{}, {} x {}", to_string(field.image->codec), field.image->width, field.image->height);
  return field.shown + (field.is_shortened ? " ..." : "");
}

std::string sample_text(const SampleDescription& sample) {
  std::string text = fmt::format("\nSample {}: '{}', ", sample.number, escaped(sample.key));
  if (sample.label < 0) {
    text += "without a label\n";
  } else {
    text += fmt::format("label {}{}\n", sample.label,
                        sample.class_name.empty() ? "" : fmt::format(" ('{}')", escaped(sample.class_name)));
  }
  TextTable table({{"field"}, {"bytes", Align::kRight}, {"kind"}, {"content"}, {"place"}});
  for (const FieldDescription& field : sample.fields) {
    const std::string place = field.offset ? fmt::format("{}, byte {}", field.place, *field.offset)
                                           : fmt::format("{}, not as one range", field.place);
    table.add_row({escaped(field.name) + (field.name == sample.image ? " (image)" : ""), format_count(field.bytes),
                   std::string(to_string(field.kind)), field_text(field), escaped(place)});
  }
  return text + table.text();
}

nlohmann::ordered_json info_json(const DataInfo& info) {
  nlohmann::ordered_json codecs = nlohmann::ordered_json::object();
  for (const auto& [codec, count] : info.codecs) codecs[std::string(to_string(codec))] = count;
  auto library = nlohmann::ordered_json::array();
  for (const auto& [reason, images] : info.left_to_libjpeg)
    library.push_back({{"reason", reason}, {"images", images.count}, {"first", images.first}});
  nlohmann::ordered_json json = {{"format", fmt::format("{}", fmt::join(info.formats, ", "))},
                                 {"samples", info.samples},
                                 {"shards", info.shards},
                                 {"indexed_shards", info.indexed},
                                 {"classes", info.classes},
                                 {"labelled", info.labelled},
                                 {"bytes", info.bytes},
                                 {"fields", info.fields},
                                 {"codecs", codecs},
                                 {"bits_per_pixel", info.bits_per_pixel()},
                                 {"own_decoder_share", info.own_decoder_share()},
                                 {"left_to_libjpeg", library},
                                 {"concealed", info.concealed},
                                 {"width_max", info.width_max},
                                 {"height_max", info.height_max},
                                 {"image_bytes", histogram_json(info.sizes)},
                                 {"short_side", histogram_json(info.short_sides)},
                                 {"problems", info.problems}};
  if (info.sample) json["sample"] = sample_json(*info.sample);
  return json;
}

std::string info_text(const DataInfo& info) {
  if (info.samples == 0 && info.problems.empty()) return "There are no samples.\n";
  const auto count = [](std::int64_t value) { return format_count(static_cast<std::uint64_t>(value)); };
  std::string text = fmt::format("{} of {} in {}, {}; {} with an index\n", counted(info.samples, "sample"),
                                 counted(info.classes, "class"), counted(info.shards, "shard"),
                                 format_size(static_cast<double>(info.bytes)), counted(info.indexed, "shard"));
  text += fmt::format("Format: {}; fields: {}\n", fmt::join(info.formats, ", "),
                      info.fields.empty() ? "none" : escaped(fmt::format("{}", fmt::join(info.fields, ", "))));
  for (const auto& [codec, images] : info.codecs)
    text += fmt::format("{} {} {}\n", count(images), to_string(codec),
                        plural_of("image", static_cast<std::uint64_t>(images)));
  if (info.images > 0) {
    text += fmt::format("{:.2f} bits per pixel, {:.0f} pixels on average, sides up to {} x {}\n", info.bits_per_pixel(),
                        static_cast<double>(info.pixels) / static_cast<double>(info.images), info.width_max,
                        info.height_max);
    text += fmt::format("Stoker's own decoder takes {:.1f}% of the images\n", 100 * info.own_decoder_share());
  }
  for (const auto& [reason, images] : info.left_to_libjpeg) {
    text += fmt::format("{} left to libjpeg, which is slower: {}; the first is {}\n", count(images.count), reason,
                        escaped(images.first));
  }
  const auto pixels = [](std::uint64_t value) { return counted(value, "pixel"); };
  const auto bytes = [](std::uint64_t value) { return format_size(static_cast<double>(value)); };
  text += histogram_text("size", info.sizes, bytes) + histogram_text("short side", info.short_sides, pixels);
  if (info.concealed > 0)
    text += fmt::format("\n{} with damaged parts, which decoders conceal\n", counted(info.concealed, "image"));
  if (info.sample) text += sample_text(*info.sample);
  if (!info.problems.empty()) text += "\nProblems:\n";
  for (const std::string& problem : info.problems) text += "  " + escaped(problem) + "\n";
  return text;
}

// What files of tokens say without being read: where they lie, and how many tokens they have.
void run_token_info(const InfoCommandOptions& options, Interrupts& interrupts) {
  std::shared_ptr<const Dataset> data;
  {
    JobWatch watch(interrupts, "info", "files");
    data = open(options.data, watch.stop(),
                {.index_folder = options.info.index_folder, .store = options.store, .tokens = options.tokens});
  }
  const std::string& field = data->field_names().front();
  const std::uint64_t tokens = data->bytes() / size_of(parse_token_type(field.substr(field.rfind('.') + 1)));
  if (options.json) {
    return write_json({{"format", "tokens"},
                       {"samples", data->size()},
                       {"tokens", tokens},
                       {"bytes", data->bytes()},
                       {"fields", data->field_names()}});
  }
  const std::string samples = options.tokens->length ? fmt::format("{} of {}", counted(data->size(), "sequence"),
                                                                   counted(*options.tokens->length, "token"))
                                                     : counted(data->size(), "document");
  write_output(fmt::format("{} ({}), of {}\nField: {}\n", counted(tokens, "token"),
                           format_size(static_cast<double>(data->bytes())), samples, field));
}

void run_info(const InfoCommandOptions& options, Interrupts& interrupts) {
  InfoOptions info_options = options.info;
  DataInfo info;
  {
    JobWatch watch(interrupts, "info", "samples");
    info_options.stop = watch.stop();
    add_remote_stores(info_options.stores, options.store, watch.stop());
    info_options.progress = watch.progress();
    info = data_info(options.data, info_options);
  }
  if (options.json) {
    write_json(info_json(info));
  } else {
    write_output(info_text(info));
  }
  if (!info.problems.empty()) throw ExitStatus{kExitFailure};
}

}  // namespace

void add_info_command(Parser& app, Interrupts& interrupts) {
  Command* command = app.add_subcommand("info", "Summarise the contents of a data set");
  const auto options = std::make_shared<InfoCommandOptions>();
  add_data_argument(*command, options->data);
  add_text_option(*command, "--index-dir", options->info.index_folder, "Look for indexes in this folder first")
      ->option_text("DIR");
  add_integer_option(*command, "--sample", options->info.sample, {0}, "Also describe sample N, from 0");
  add_threads_option(*command, options->info.threads);
  add_job_options(*command, options->info.memory, options->info.limits);
  add_field_options(*command, options->info.fields);
  add_token_options(*command, options->tokens);
  add_store_options(*command, options->store);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker info packed");
  command->callback([options, command, &interrupts] {
    if (!options->tokens) return run_info(*options, interrupts);
    const std::string_view of_shards = options->tokens->field.empty() ? "" : "--index-dir";
    require_for_tokens(*command, {"--token-type", "--token-field", "--streams", "--document-seed", of_shards});
    run_token_info(*options, interrupts);
  });
}

}  // namespace stoker
