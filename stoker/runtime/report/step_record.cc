#include "stoker/runtime/report/step_record.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"
#include "stoker/base/executor.h"
#include "stoker/base/hash.h"
#include "stoker/base/json_values.h"
#include "stoker/base/log.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

constexpr int kStepRecordVersion = 1;  // of the format: files of other versions are ignored
constexpr std::uint64_t kStepRecordBytesMax = 64 << 10;

std::string step_record_json(const StepRecord& record) {
  const nlohmann::ordered_json json = {{"version", kStepRecordVersion}, {"median_s", record.median_s},
                                       {"low_s", record.low_s},         {"high_s", record.high_s},
                                       {"count", record.count},         {"batch", record.batch},
                                       {"world", record.world},         {"how", record.how},
                                       {"machine", record.machine},     {"recorded_s", record.recorded_s}};
  return json.dump(2) + "\n";
}

/// Nothing for a text that step_record_json() does not write.
std::optional<StepRecord> parse_step_record(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("version") != kStepRecordVersion) return std::nullopt;
    StepRecord record;
    json.at("median_s").get_to(record.median_s);
    json.at("low_s").get_to(record.low_s);
    json.at("high_s").get_to(record.high_s);
    record.count = whole_number<decltype(record.count)>(json.at("count"));
    record.batch = whole_number<decltype(record.batch)>(json.at("batch"));
    record.world = whole_number<decltype(record.world)>(json.at("world"));
    json.at("how").get_to(record.how);
    json.at("machine").get_to(record.machine);
    json.at("recorded_s").get_to(record.recorded_s);
    const bool sensible = record.low_s > 0 && record.low_s <= record.median_s && record.median_s <= record.high_s &&
                          record.count > 0 && record.batch > 0 && record.world > 0;
    return sensible ? std::optional(record) : std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

KeptStep::KeptStep(const std::string& cache_folder, const StepKey& key) {
  if (cache_folder.empty()) return;
  path_ = fmt::format("{}/steps/{}-{}.json", cache_folder, to_hex(key.data), to_hex(key.recipe));
}

std::optional<StepRecord> KeptStep::load() const {
  std::error_code none;
  if (path_.empty() || !std::filesystem::exists(path_, none)) return std::nullopt;
  try {
    FileSource file(path_, std::make_shared<InlineExecutor>());
    if (file.size() <= kStepRecordBytesMax) {
      if (std::optional<StepRecord> record = parse_step_record(read_whole(file))) return record;
    }
    log(LogLevel::kInfo, "the recorded step is not used: '{}' is damaged, or of another version", path_);
  } catch (const Error& error) {
    log(LogLevel::kInfo, "the recorded step is not used: {}", error.message());
  }
  return std::nullopt;
}

void KeptStep::save(const StepRecord& record) const {
  if (path_.empty()) return;
  try {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    write_whole_file(path_, as_bytes(step_record_json(record)));
  } catch (const Error& error) {  // another rank of this host may be writing it
    log(LogLevel::kDebug, "the step is not kept: {}", error.message());
  } catch (const std::filesystem::filesystem_error& error) {
    log(LogLevel::kDebug, "the step is not kept: {}", error.what());
  }
}

}  // namespace stoker
