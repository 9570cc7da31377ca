// `stoker cache`: what a cache on a disk holds, and removing it.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/json_output.h"
#include "cli/parser.h"
#include "cli/run_report.h"
#include "cli/text_table.h"
#include "stoker/base/units.h"
#include "stoker/storage/cache/cache_folder.h"

namespace stoker {
namespace {

struct CacheCommandOptions {
  std::string action, folder;
  bool json = false;
};

std::string size_text(std::uint64_t bytes) { return format_size(static_cast<double>(bytes)); }

void show_cache(const CacheCommandOptions& options) {
  const CacheFolder::Info info = CacheFolder::info(options.folder);
  if (options.json) {
    auto data = nlohmann::ordered_json::array();
    for (const CacheFolder::GroupFacts& group : info.groups) {
      data.push_back({{"folder", group.shown},
                      {"objects", group.objects},
                      {"bytes", group.object_bytes},
                      {"cached_bytes", group.cached_bytes}});
    }
    return write_json({{"disk_bytes", info.disk_bytes}, {"data", data}, {"totals", cache_json(info.totals)}});
  }
  std::string text = fmt::format("{} on disk\n", size_text(info.disk_bytes));
  if (!info.groups.empty()) {
    TextTable table({{"data"}, {"objects", Align::kRight}, {"size", Align::kRight}, {"cached", Align::kRight}});
    for (const CacheFolder::GroupFacts& group : info.groups) {
      table.add_row(
          {group.shown, format_count(group.objects), size_text(group.object_bytes), size_text(group.cached_bytes)});
    }
    text += "\n" + table.text();
  }
  write_output(text);
}

void clear_cache(const CacheCommandOptions& options) {
  const std::uint64_t freed = CacheFolder::clear(options.folder);
  if (options.json) return write_json({{"freed_bytes", freed}});
  write_output(fmt::format("{} freed\n", size_text(freed)));
}

}  // namespace

void add_cache_command(Parser& app) {
  Command* command = app.add_subcommand("cache", "Show or empty a cache on a disk (run --cache disk=DIR:SIZE)");
  const auto options = std::make_shared<CacheCommandOptions>();
  command
      ->add_option(
          "ACTION",
          [options](const std::string& text) {
            if (text != "info" && text != "clear") refuse("ACTION", fmt::format("'{}' is not info or clear", text));
            options->action = text;
          },
          "info: what it holds; clear: remove that, also while runs use it, which fill it again")
      ->required()
      ->option_text("info|clear");
  command
      ->add_option(
          "DIR", [options](const std::string& text) { options->folder = text; }, "The cache's folder")
      ->required();
  add_json_flag(*command, options->json);
  set_example(*command, "stoker cache info /nvme/cache");
  command->callback([options] { options->action == "info" ? show_cache(*options) : clear_cache(*options); });
}

}  // namespace stoker
