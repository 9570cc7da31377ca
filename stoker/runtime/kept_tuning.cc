#include "stoker/runtime/kept_tuning.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"
#include "stoker/base/executor.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/storage/atomic_file.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;  // of what the tuner's findings mean: another one's are left alone
constexpr std::uint64_t kBytesMax = 64 << 10;

Json json_of(const TuningKey& key) {
  return {{"version", kVersion},  {"machine", key.machine}, {"device", key.device}, {"data", key.data},
          {"recipe", key.recipe}, {"batch", key.batch},     {"world", key.world}};
}

std::string read_text(const std::string& path) {
  FileSource file(path, std::make_shared<InlineExecutor>());
  if (file.size() > kBytesMax) fail(ErrorKind::kData, "'{}' is no file of Stoker's", path);
  std::string text(file.size(), '\0');
  read_fully(file, 0, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

}  // namespace

KeptTuning::KeptTuning(const std::string& cache_folder, TuningKey key) : key_(std::move(key)) {
  if (cache_folder.empty()) return;
  path_ = fmt::format("{}/tuning/{}.json", cache_folder, to_hex(hash64(json_of(key_).dump())));
}

std::optional<KnobSetting> KeptTuning::load() const {
  std::error_code none;
  if (path_.empty() || !std::filesystem::exists(path_, none)) return std::nullopt;
  try {
    const Json kept = Json::parse(read_text(path_));
    if (kept.at("for") != json_of(key_)) return std::nullopt;
    const Json& knobs = kept.at("knobs");
    return KnobSetting{.threads = knobs.at("threads").get<int>(),
                       .transfer_index = knobs.at("transfer_index").get<int>(),
                       .prefetch = knobs.at("prefetch").get<int>(),
                       .io_depth = knobs.at("io_depth").get<int>()};
  } catch (const Error& error) {
    log(LogLevel::kDebug, "what was tuned before is not used: {}", error.message());
  } catch (const Json::exception&) {
    log(LogLevel::kDebug, "what was tuned before is not used: '{}' is damaged", path_);
  }
  return std::nullopt;
}

void KeptTuning::save(const KnobSetting& knobs) const {
  if (path_.empty()) return;
  const Json kept = {{"for", json_of(key_)},
                     {"knobs",
                      {{"threads", knobs.threads},
                       {"transfer_index", knobs.transfer_index},
                       {"prefetch", knobs.prefetch},
                       {"io_depth", knobs.io_depth}}}};
  try {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    write_whole_file(path_, as_bytes(kept.dump() + "\n"));
  } catch (const Error& error) {  // another rank of this host may be at it
    log(LogLevel::kDebug, "what was tuned is not kept: {}", error.message());
  } catch (const std::filesystem::filesystem_error& error) {
    log(LogLevel::kDebug, "what was tuned is not kept: {}", error.what());
  }
}

}  // namespace stoker
