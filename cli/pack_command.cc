// `stoker pack`: writes a data set as shards with indexes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/bad_samples.h"
#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/data_views.h"
#include "cli/job_watch.h"
#include "cli/json_output.h"
#include "cli/planned_job.h"
#include "cli/planned_text.h"
#include "cli/quarantine_list.h"
#include "stoker/base/units.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/pack_plan.h"
#include "stoker/pack/token_pack.h"
#include "stoker/runtime/open_stores.h"
#include "stoker/storage/shown_url.h"

namespace stoker {
namespace {

struct PackCommandOptions {
  std::vector<std::string> data;
  StoreOptions store;
  std::string to, quarantine;
  PackOptions pack;
  PlannedJobOptions planned;
  std::optional<TokenUnit> tokens;  // of texts
  std::string vocab;                // a number of words, or a list of them
  bool dry_run = false, json = false;
};

std::string size_text(std::uint64_t bytes) { return format_size(static_cast<double>(bytes)); }

TokenPackOptions token_options(const PackCommandOptions& options) {
  TokenPackOptions tokens{.unit = *options.tokens, .stores = options.pack.stores};
  const bool is_number = !options.vocab.empty() && options.vocab.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) {
    tokens.vocab = parse_integer<std::int64_t>("--vocab", options.vocab, {2});
  } else {
    tokens.vocab_file = options.vocab;
  }
  return tokens;
}

/// "; 2.50% of the tokens are <unk>"; nothing to say of a text without tokens.
std::string unknown_share(const TokenPackResult& result) {
  if (result.tokens == 0) return "";
  const double percent = 100.0 * static_cast<double>(result.unknown) / static_cast<double>(result.tokens);
  return fmt::format("; {:.2f}% of the tokens are {}", percent, kUnknownWord);
}

void run_token_pack(const PackCommandOptions& options, Interrupts& interrupts) {
  TokenPackOptions tokens = token_options(options);
  TokenPackResult result;
  double seconds = 0;
  {
    JobWatch watch(interrupts, "pack", "bytes");
    tokens.stop = watch.stop();
    add_remote_stores(tokens.stores, options.store, watch.stop());
    tokens.progress = watch.progress();
    result = pack_tokens(options.data, options.to, tokens);
    seconds = watch.seconds();
  }
  if (options.json) {
    return write_json({{"out", options.to},
                       {"documents", result.documents},
                       {"tokens", result.tokens},
                       {"words", result.words},
                       {"unknown", result.unknown},
                       {"bytes", result.bytes},
                       {"seconds", seconds}});
  }
  std::string text =
      fmt::format("{}/tokens.bin: {} of {}, {}, in {}\n", options.to, counted(result.tokens, "token"),
                  counted(result.documents, "document"), size_text(result.bytes), format_duration(seconds));
  if (result.words > 0) {
    text += fmt::format("{}/vocab.txt: {}{}\n", options.to, counted(result.words, "word"), unknown_share(result));
  }
  write_output(text);
}

/// What `work` makes of the options, watched; and the seconds that it took.
template <typename Work>
auto watched(const PackCommandOptions& options, Interrupts& interrupts, std::string_view doing, const Work& work) {
  PackOptions pack_options = options.pack;
  JobWatch watch(interrupts, doing, "samples");
  pack_options.stop = watch.stop();
  add_remote_stores(pack_options.stores, options.store, watch.stop());
  pack_options.progress = watch.progress();
  auto result = work(pack_options);
  return std::pair(std::move(result), watch.seconds());
}

void estimate(const PackCommandOptions& options, Interrupts& interrupts) {
  const PackEstimate estimate = watched(options, interrupts, "pack", [&](const PackOptions& pack) {
                                  return estimate_pack(options.data, options.to, pack);
                                }).first;
  if (options.json) {
    return write_json({{"dry_run", true},
                       {"samples", estimate.samples},
                       {"samples_tried", estimate.tried},
                       {"bytes", estimate.bytes},
                       {"seconds", estimate.seconds},
                       {"disk_free_bytes",
                        estimate.disk_free ? nlohmann::ordered_json(*estimate.disk_free) : nlohmann::ordered_json()}});
  }
  std::string text = fmt::format("{}: about {} for {}, in about {} plus the time to write it (estimated from {})",
                                 Location(options.to), size_text(estimate.bytes), counted(estimate.samples, "sample"),
                                 format_duration(estimate.seconds), counted(estimate.tried, "sample"));
  if (estimate.disk_free) {
    text += fmt::format("; {} of disk space are free there{}", size_text(*estimate.disk_free),
                        *estimate.disk_free < estimate.bytes ? ", which is too little" : "");
  }
  write_output(text + "\n");
}

void run_plan(const PackCommandOptions& options, Interrupts& interrupts) {
  const auto [plan, seconds] = watched(options, interrupts, "plan", [&](const PackOptions& pack) {
    return plan_pack(options.data, options.to, options.planned.plan, pack);
  });
  tell_plan(options.planned.plan, plan, seconds, options.json);
}

void run_tasks(const PackCommandOptions& options, Interrupts& interrupts) {
  const auto [result, seconds] = watched(options, interrupts, "pack", [&](const PackOptions& pack) {
    return pack_tasks(options.data, options.to, options.planned.plan, options.planned.tasks, pack);
  });
  if (options.json) {
    return write_json({{"tasks_done", result.done},
                       {"tasks_current", result.current},
                       {"samples", result.samples},
                       {"bytes", result.bytes},
                       {"seconds", seconds},
                       {"bad", bad_samples_json(result.bad)}});
  }
  std::string text = fmt::format("{} done: {}, {}, in {}", counted(result.done, "task"),
                                 counted(result.samples, "sample"), size_text(result.bytes), format_duration(seconds));
  if (result.current > 0) text += fmt::format(" ({} done before)", result.current);
  write_output(text + "\n" + bad_samples_text("Bad samples", result.bad));
}

void check_has_samples(const PackCommandOptions& options, const PackResult& result) {
  if (result.samples > 0) return;
  if (result.bad.empty()) {
    fail(ErrorKind::kData, "there are no samples to pack in {}, so no shard was written", shown_urls(options.data));
  }
  fail(ErrorKind::kData, "{}, so no shard was written; --bad-sample keep packs bytes as they are",
       result.bad.size() == 1 ? "the only sample is bad"
                              : fmt::format("all {} samples are bad", format_count(result.bad.size())));
}

void run_pack(const PackCommandOptions& options, Interrupts& interrupts) {
  if (options.tokens) return run_token_pack(options, interrupts);
  if (options.dry_run) return estimate(options, interrupts);
  const PlannedPart part = options.planned.part();
  if (part == PlannedPart::kPlan) return run_plan(options, interrupts);
  if (part == PlannedPart::kTasks) return run_tasks(options, interrupts);
  std::optional<QuarantineList> quarantine;
  if (!options.quarantine.empty()) quarantine.emplace(options.quarantine, options.to);
  const auto [result, seconds] = watched(options, interrupts, "pack", [&](const PackOptions& pack_options) {
    PackResult made = part == PlannedPart::kMerge
                          ? merge_pack(options.data, options.to, options.planned.plan, pack_options)
                          : pack(options.data, options.to, pack_options);
    if (quarantine) quarantine->write(made.bad);
    return made;
  });
  if (options.json) {
    write_json({{"out", options.to},
                {"samples", result.samples},
                {"shards", result.shards},
                {"resumed_shards", result.resumed},
                {"bytes", result.bytes},
                {"seconds", seconds},
                {"concealed", result.concealed},
                {"bad", bad_samples_json(result.bad)}});
    return check_has_samples(options, result);
  }
  std::string text =
      result.samples == 0
          ? std::string()
          : fmt::format("{}: {} in {}, {}, in {}{}\n", options.to, counted(result.samples, "sample"),
                        counted(result.shards, "shard"), size_text(result.bytes), format_duration(seconds),
                        result.resumed ? fmt::format(" ({} of them existed already)", result.resumed) : "");
  if (result.concealed > 0) {
    text += fmt::format("{} with damaged parts, which decoders conceal.\n", counted(result.concealed, "image"));
  }
  // A plan knows by itself what was to be done with them.
  const bool are_left_out = part == PlannedPart::kNone && options.pack.bad == BadSamplePolicy::kSkip;
  write_output(text + bad_samples_text(are_left_out ? "Bad samples, left out" : "Bad samples", result.bad));
  check_has_samples(options, result);
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) refuse_option("--classes", text, "a list of classes, separated by commas");
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "tar|tfrecord".
std::string format_names() {
  std::string names;
  for (const WritableFormat* format : writable_formats()) {
    if (!names.empty()) names += '|';
    names += format->name();
  }
  return names;
}

}  // namespace

void add_pack_command(Parser& app, Interrupts& interrupts) {
  Command* command = app.add_subcommand("pack", "Write a data set as shards with indexes");
  const auto options = std::make_shared<PackCommandOptions>();
  PackOptions& pack = options->pack;
  add_text_option(*command, "SRC", options->data.emplace_back(),
                  "Data to pack: a folder, shards of any format, a list, a pattern, a URL")
      ->required()
      ->option_text(" ");
  add_text_option(*command, "DST", options->to, "Folder to create; a pack that was stopped in it resumes")
      ->required()
      ->option_text(" ");
  add_field_options(*command, pack.fields);
  add_sample_choice_options(*command, pack.subset, pack.labels);
  add_parsed_option(
      *command, "--format", pack.format, [](const std::string& text) { return &writable_format(text); },
      fmt::format("Format of the shards; {}", pack.format->name()))
      ->option_text(format_names());
  add_parsed_option(*command, "--shard-size", pack.shard_bytes, parse_size, "Size of a shard; 256MiB")
      ->option_text("SIZE");
  add_threads_option(*command, pack.threads);
  add_job_options(*command, pack.memory, pack.limits);
  add_integer_option(*command, "--resize-short", pack.transform.resize_short, {1},
                     "Shrink images so that the short side has at most N pixels");
  add_parsed_option(
      *command, "--quality", pack.transform.quality,
      [](const std::string& text) {
        return std::optional(parse_integer<int>("--quality", text, {1, 100}));
      },
      fmt::format("Encode images as JPEGs of quality Q; {} for those that shrink", kDefaultQuality))
      ->option_text("Q");
  command->add_flag("--raw", pack.transform.raw, "Store decoded pixels, as npy arrays");
  add_parsed_option(*command, "--classes", pack.classes, split_list,
                    "Pack only these classes, by name or number, separated by commas, and renumber them")
      ->option_text("LIST");
  add_parsed_option(
      *command, "--shuffle", pack.shuffle,
      [](const std::string& text) { return std::optional(parse_integer<std::uint64_t>("--shuffle", text, {0})); },
      "Shuffle all samples with this seed")
      ->option_text("SEED");
  add_parsed_option(*command, "--bad-sample", pack.bad, parse_pack_policy,
                    "Leave bad samples out, keep their bytes, or stop; skip")
      ->option_text("skip|keep|fail");
  add_text_option(*command, "--quarantine", options->quarantine, "Write the list of bad samples to a file")
      ->option_text("FILE");
  Option* const tokens = add_parsed_option(
      *command, "--tokens", options->tokens,
      [](const std::string& text) { return std::optional(parse_token_unit(text)); },
      "Read SRC as text, and write its words or bytes as tokens to DST/tokens.bin with an index");
  tokens->option_text("words|bytes");
  add_text_option(
      *command, "--vocab", options->vocab,
      "Use the N most frequent words, one of which is <unk>, for all others; or the vocab.txt of an earlier pack")
      ->option_text("N|FILE")
      ->needs(tokens);
  command->add_flag("--dry-run", options->dry_run, "Only estimate the bytes and the time it would take");
  add_planned_job_options(*command, options->planned);
  add_store_options(*command, options->store);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker pack imagenet/train packed --shuffle 7");
  command->callback([options, command, &interrupts] {
    const PlannedPart part = options->planned.part();
    if (part == PlannedPart::kPlan) require_not_with_plan(*command, {"--tokens", "--dry-run", "--quarantine"});
    if (part == PlannedPart::kTasks) require_left_to_plan(*command, {});
    if (part == PlannedPart::kMerge) require_left_to_plan(*command, {"--quarantine"});
    if (options->tokens) require_for_tokens(*command, {"--vocab"});
    run_pack(*options, interrupts);
  });
}

}  // namespace stoker
