// `stoker view`: draws a contact sheet of a recipe's results.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bad_samples.h"
#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/contact_sheet.h"
#include "cli/json_output.h"
#include "cli/loader_options.h"
#include "cli/operator_sheet.h"
#include "cli/own_pictures.h"
#include "cli/progress.h"
#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/image_encoder.h"
#include "stoker/ops/argument_text.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/runtime/samples/sample_reader.h"
#include "stoker/runtime/samples/sample_trials.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/tensor/orientation.h"

namespace stoker {
namespace {

constexpr int kSamplesMax = 100, kDrawsMax = 20;  // the sheet is held in memory: 200 MB then
constexpr int kCountUsual = 8;
constexpr int kOwnPicturesMin = 4;  // an operator of the batch mixes as many

struct ViewOptions {
  std::vector<std::string> data;
  std::string recipe, shown_operator, out;
  std::optional<int> count;
  int draws = 4;
  LoaderOptions loader;
  OpenOptions open;
  bool json = false;
};

std::size_t first_image_view(const Plan& plan, const std::string& recipe) {
  const std::vector<ViewPlan>& views = plan.views();
  const auto found =
      std::find_if(views.begin(), views.end(), [](const ViewPlan& v) { return v.kind == ViewKind::kImage; });
  if (found == views.end()) fail(ErrorKind::kUsage, "{}: no view of the recipe makes an image", recipe);
  return static_cast<std::size_t>(found - views.begin());
}

// The whole image that the recipe starts from.
RgbImage original(Bytes encoded, const DecodeOptions& options, const DecodeLimits& limits) {
  AnyImageDecoder decoder(limits);
  const ImageFacts facts = decoder.read_facts(encoded);
  const ImageView stored = decoder.decode_rgb(encoded, facts, {0, 0, facts.width, facts.height});
  return RgbImage(oriented(stored, options.apply_orientation ? facts.orientation : Orientation{1}));
}

// "image: 224 x 224 pixels, f32, nchw: random_resized_crop(size=[224]), ..."
std::string details(const Plan& plan, std::size_t output) {
  const ViewPlan& view = plan.views()[output];
  const bool planes_first = view.image.format.layout == Layout::kNchw;
  std::vector<std::string> operators;
  for (const OperatorCall& call : plan.recipe().views()[output].operators) operators.push_back(brief(check_call(call)));
  std::string size = "of the original size";
  if (const std::optional<ImageSize> fixed = view.image.geometry.output_size()) {
    const std::string_view up_to = view.image.geometry.size_varies() ? "up to " : "";
    size = fmt::format("{}{} x {} pixels", up_to, fixed->width, fixed->height);
  }
  return fmt::format("{}: {}, {}, {}: {}", view.name, size, to_string(view.image.format.dtype),
                     planes_first ? "nchw" : "nhwc", fmt::join(operators, ", "));
}

// "n01440764/img7, class 3", with the class's name if the key does not begin with it.
std::string caption(const Dataset& dataset, std::int64_t sample) {
  std::string key = escaped(dataset.key(sample));
  const std::int64_t label = dataset.label(sample);
  if (label < 0) return key;
  const auto number = static_cast<std::size_t>(label);
  const std::string name = number < dataset.classes().size() ? escaped(dataset.classes()[number]) : "";
  const bool told = name.empty() || key.starts_with(name + "/");
  return told ? fmt::format("{}, class {}", key, label) : fmt::format("{}, class {} ({})", key, label, name);
}

struct Sheet {
  RgbImage image;
  TriedSamples samples;  // shown and skipped
};

// The first column shows the samples as they are, the others their output in each epoch of a run with this seed.
Sheet draw_sheet(const Dataset& dataset, const Plan& plan, const ViewOptions& options) {
  const std::size_t output = first_image_view(plan, options.recipe);
  const ViewPlan& view = plan.views()[output];
  SampleReader reader(dataset, plan);
  CpuExecutor executor(plan, options.loader.limits);
  const auto picture = [&](const SampleInput& input) {
    return original(input.fields[static_cast<std::size_t>(view.field)], view.image.decode, options.loader.limits);
  };
  const auto try_sample = [&](std::int64_t sample, std::int64_t position) {
    const SampleInput input = reader.input(
        sample, {.seed = options.loader.seed, .epoch = 0, .position = static_cast<std::uint64_t>(position)});
    run_one(executor, input);
    picture(input);
    return true;
  };
  TriedSamples tried = try_samples(dataset,
                                   {.seed = options.loader.seed,
                                    .count = options.count.value_or(kCountUsual),
                                    .bad_sample = options.loader.bad_sample},
                                   try_sample);
  const std::vector<std::int64_t>& samples = tried.good;
  std::vector<std::string> titles = {"original"};
  std::vector<std::vector<std::int64_t>> positions;
  for (int epoch = 0; epoch < options.draws; ++epoch) {
    titles.push_back(fmt::format("epoch {}", epoch));
    positions.push_back(positions_of(samples, dataset, options.loader.seed, epoch));
  }
  ContactSheet sheet(static_cast<int>(samples.size()), fmt::format("{}, seed {}", options.recipe, options.loader.seed),
                     details(plan, output), titles);
  Progress progress("view", "pictures", static_cast<std::int64_t>(samples.size() * titles.size()));
  std::int64_t drawn = 0;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    on_sample(dataset, samples[row], [&] {
      sheet.put(static_cast<int>(row), 0, picture(reader.input(samples[row], {})));
      sheet.put_caption(static_cast<int>(row), caption(dataset, samples[row]));
      progress.update(++drawn);
      for (std::size_t epoch = 0; epoch < positions.size(); ++epoch) {
        const auto position = static_cast<std::uint64_t>(positions[epoch][row]);
        // As if each sample were a batch, so that the sheet shows what is drawn for batches, too.
        const SampleDraw draw{options.loader.seed, epoch, position, position};
        const std::vector<SampleOutput> outputs = run_one(executor, reader.input(samples[row], draw));
        sheet.put(static_cast<int>(row), static_cast<int>(epoch) + 1, displayed(outputs[output], view.image));
        progress.update(++drawn);
      }
    });
  }
  return {sheet.image(), std::move(tried)};
}

bool ends_in_png(const std::string& path) {
  constexpr std::string_view kSuffix = ".png";
  const auto same = [](char a, char b) { return (a | 0x20) == b || a == b; };
  return path.size() > kSuffix.size() && std::equal(kSuffix.rbegin(), kSuffix.rend(), path.rbegin(),
                                                    [&](char suffix, char letter) { return same(letter, suffix); });
}

void write_sheet(const std::string& path, const RgbImage& sheet) {
  std::vector<std::uint8_t> png;
  encode_png(sheet.view(), png);
  AtomicFile file(path);
  file.write(png);
  file.commit();
}

/// One row says enough of an operator, and two of one that mixes samples.
int usual_count(const OperatorSpec& spec) { return is_of_batch(spec) ? 2 : 1; }

void view_operator(const ViewOptions& options) {
  const OperatorSpec& spec = find_operator(options.shown_operator);
  std::optional<OwnPictures> own;
  if (options.data.empty()) own.emplace(std::max(options.count.value_or(usual_count(spec)), kOwnPicturesMin));
  const std::shared_ptr<const Dataset> dataset = own ? own->dataset() : open_samples(options.data, options.open);
  const auto usual = own ? usual_count(spec) : std::min<std::int64_t>(kCountUsual, dataset->size());
  const int count = options.count.value_or(static_cast<int>(usual));
  const RgbImage sheet = operator_sheet(spec, dataset, count, options.loader.seed);
  write_sheet(options.out, sheet);
  if (options.json) {
    return write_json({{"out", options.out},
                       {"operator", spec.name},
                       {"samples", count},
                       {"examples", examples_of(spec)},
                       {"width", sheet.width},
                       {"height", sheet.height}});
  }
  write_output(fmt::format("{}: {} by {}, {} x {} pixels\n", options.out, spec.name,
                           counted(examples_of(spec).size(), "example"), sheet.width, sheet.height));
}

void view_recipe(const ViewOptions& options) {
  const Plan plan(Recipe::load(options.recipe));
  const std::shared_ptr<const Dataset> dataset = open_samples(options.data, options.open);
  const Sheet sheet = draw_sheet(*dataset, plan, options);
  write_sheet(options.out, sheet.image);

  if (options.json) {
    return write_json({{"out", options.out},
                       {"samples", sheet.samples.good.size()},
                       {"draws", options.draws},
                       {"width", sheet.image.width},
                       {"height", sheet.image.height},
                       {"bad_samples", sheet.samples.bad.size()},
                       {"bad", bad_samples_json(sheet.samples.bad)}});
  }
  write_output(fmt::format("{}: {}, {} each, {} x {} pixels\n", options.out,
                           counted(sheet.samples.good.size(), "sample"), counted(options.draws, "draw"),
                           sheet.image.width, sheet.image.height) +
               bad_samples_text("Bad samples, skipped", sheet.samples.bad));
}

}  // namespace

void add_view_command(Parser& app) {
  Command* command =
      app.add_subcommand("view", "Draw a contact sheet of what a recipe, or an operator, does to the pixels");
  const auto options = std::make_shared<ViewOptions>();
  add_optional_data_argument(*command, options->data, "without, --operator draws on pictures of its own");
  Option* const recipe = add_optional_recipe(*command, options->recipe);
  add_text_option(*command, "--operator", options->shown_operator,
                  "Draw an operator instead of a recipe, with arguments from weak to strong")
      ->option_text("NAME")
      ->excludes(recipe);
  const auto png = [](const std::string& path) {
    if (!ends_in_png(path)) refuse_option("--out", path, "the name of a PNG: it must end in .png");
    return path;
  };
  add_parsed_option(*command, "--out", options->out, png, "Required; PNG to write")
      ->required()
      ->option_text("FILE.png");
  add_integer_option(*command, "--count", options->count, {1, kSamplesMax},
                     "Samples, one row each; 8, or 1 or 2 without DATA");
  add_integer_option(*command, "--draws", options->draws, {0, kDrawsMax}, "Epochs to draw, one column each; 4");
  for (const char* const name : {"seed", "pixels_max", "bad_sample"}) {
    add_loader_option(*command, options->loader, name);
  }
  add_field_options(*command, options->open.fields);
  add_store_options(*command, options->open.store);
  add_json_flag(*command, options->json);
  set_example(*command, "stoker view imagenet/train --recipe imagenet-train --out sheet.png");
  command->callback([options] {
    if (!options->shown_operator.empty()) return view_operator(*options);
    if (options->recipe.empty()) refuse("view", "one of --recipe and --operator is required");
    if (options->data.empty()) refuse("view", "DATA is required with --recipe");
    view_recipe(*options);
  });
}

}  // namespace stoker
