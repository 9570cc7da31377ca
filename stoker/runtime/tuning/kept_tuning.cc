#include "stoker/runtime/tuning/kept_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
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

constexpr int kVersion = 1;  // of the format: files of other versions are ignored
constexpr std::uint64_t kBytesMax = 64 << 10;

std::string text_of(const TuningKey& key) {
  return fmt::format("stoker tuning {}\nmachine {}\ndevice {}\ndata {}\nrecipe {}\nbatch {}\nranks {}\n", kVersion,
                     key.machine, key.device, to_hex(key.data), to_hex(key.recipe), key.batch, key.world);
}

constexpr std::pair<std::string_view, int KnobSetting::*> kKnobs[] = {{"threads", &KnobSetting::threads},
                                                                      {"transfer_index", &KnobSetting::transfer_index},
                                                                      {"prefetch", &KnobSetting::prefetch},
                                                                      {"io_depth", &KnobSetting::io_depth}};

std::string text_of(const KnobSetting& knobs) {
  std::string text;
  for (const auto& [name, knob] : kKnobs) text += fmt::format("{} {}\n", name, knobs.*knob);
  return text;
}

/// Nullopt for text that text_of() does not write.
std::optional<KnobSetting> parse_knobs(std::string_view text) {
  KnobSetting knobs;
  for (const auto& [name, knob] : kKnobs) {
    if (!text.starts_with(name)) return std::nullopt;
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), knobs.*knob);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(std::min(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
  }
  return knobs;
}

std::string read_text(const std::string& path) {
  FileSource file(path, std::make_shared<InlineExecutor>());
  if (file.size() > kBytesMax) fail(ErrorKind::kData, "'{}' is not a file of Stoker", path);
  return read_whole(file);
}

}  // namespace

KeptTuning::KeptTuning(const std::string& cache_folder, const TuningKey& key) : head_(text_of(key)) {
  if (!cache_folder.empty()) path_ = fmt::format("{}/tuning/{}.txt", cache_folder, to_hex(hash64(head_)));
}

std::optional<KnobSetting> KeptTuning::load() const {
  std::error_code none;
  if (path_.empty() || !std::filesystem::exists(path_, none)) return std::nullopt;
  try {
    const std::string text = read_text(path_);
    if (text.starts_with(head_)) {
      if (const auto knobs = parse_knobs(std::string_view(text).substr(head_.size()))) return knobs;
    }
    log(LogLevel::kDebug, "the kept tuning is not used: '{}' is damaged, or belongs to another setup", path_);
  } catch (const Error& error) {
    log(LogLevel::kDebug, "the kept tuning is not used: {}", error.message());
  }
  return std::nullopt;
}

void KeptTuning::save(const KnobSetting& knobs) const {
  if (path_.empty()) return;
  try {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    write_whole_file(path_, as_bytes(head_ + text_of(knobs)));
  } catch (const Error& error) {  // another rank of this host may be writing it
    log(LogLevel::kDebug, "the tuning is not kept: {}", error.message());
  } catch (const std::filesystem::filesystem_error& error) {
    log(LogLevel::kDebug, "the tuning is not kept: {}", error.what());
  }
}

}  // namespace stoker
