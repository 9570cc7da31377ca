#include "stoker/doctor/verdict/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/spelling.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr double kWhatIfCoresMost = 100'000;
constexpr int kCountMost = 1'000'000;
constexpr double kWhatIfStepMost = 86'400;

const std::vector<std::string> kWhatIfWords = {
    "cores",  "threads", "remote-cores",   "memory",   "disk",     "network", "gpu",   "gpus", "nodes",
    "layout", "cache",   "transfer-index", "io-depth", "prefetch", "batch",   "order", "step", "without"};

std::vector<std::string_view> what_if_words(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBetween = " ,\t\n";
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return words;
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

class WhatIfParser {
 public:
  WhatIfParser(const Facts& facts, const Catalogue& catalogue) : facts_(facts), catalogue_(catalogue) {}

  Configuration parse(std::string_view text) {
    for (const std::string_view word : what_if_words(text)) take(word);
    if (gpu_) take_gpu();
    return std::move(change_);
  }

 private:
  void take(std::string_view word) {
    const std::size_t equals = word.find('=');
    key_ = word.substr(0, equals);
    if (std::find(kWhatIfWords.begin(), kWhatIfWords.end(), key_) == kWhatIfWords.end()) {
      fail(ErrorKind::kUsage, "a what-if cannot change '{}'{}; it can change {}", key_,
           did_you_mean(key_, kWhatIfWords), fmt::join(kWhatIfWords, ", "));
    }
    if (equals == std::string_view::npos || equals + 1 == word.size()) {
      fail(ErrorKind::kUsage, "'{0}' needs a value; write {0}=VALUE", key_);
    }
    if (std::find(taken_.begin(), taken_.end(), key_) != taken_.end()) {
      fail(ErrorKind::kUsage, "'{}' is given twice", key_);
    }
    taken_.emplace_back(key_);
    value_ = word.substr(equals + 1);
    take_value();
  }

  void take_value() {
    if (key_ == "cores") change_.cores = number(kWhatIfCoresMost);
    if (key_ == "threads") change_.threads = count(1);
    if (key_ == "remote-cores") change_.remote_cores = number(kWhatIfCoresMost);
    if (key_ == "memory") change_.memory_bytes = size();
    if (key_ == "disk") change_.disk = catalogue_.disk(value_);
    if (key_ == "network") change_.network = catalogue_.network(value_);
    if (key_ == "gpu") gpu_ = catalogue_.gpu(value_);
    if (key_ == "gpus") change_.gpus = count(1, kNodeGpusMost);
    if (key_ == "nodes") change_.nodes = count(1);
    if (key_ == "layout") change_.layout = one_of({"packed", "loose"});
    if (key_ == "cache") change_.cache = one_of({"none", "ram", "disk", "decoded"});
    if (key_ == "transfer-index") change_.transfer_index = transfer_index();
    if (key_ == "io-depth") change_.io_depth = count(1);
    if (key_ == "prefetch") change_.prefetch = count(1);
    if (key_ == "batch") change_.batch = count(1);
    if (key_ == "order") change_.order = one_of({"global", "windowed", "none"});
    if (key_ == "step") change_.step_s = number(kWhatIfStepMost);
    if (key_ == "without") change_.without = stage();
  }

  double number(double most) const {
    const auto number = parse_number<double>(value_);
    if (!number || !(*number > 0) || *number > most) {
      fail(ErrorKind::kUsage, "{} must be a number above 0 and at most {}, not '{}'", key_, most, value_);
    }
    return *number;
  }

  int count(int least, int most = kCountMost) const {
    const auto number = parse_number<int>(value_);
    if (!number || *number < least || *number > most) {
      fail(ErrorKind::kUsage, "{} must be a whole number from {} to {}, not '{}'", key_, least, most, value_);
    }
    return *number;
  }

  std::uint64_t size() const {
    std::uint64_t bytes = 0;
    try {
      bytes = parse_size(value_);
    } catch (const Error& error) {
      throw error.with_context(key_);
    }
    if (bytes == 0) fail(ErrorKind::kUsage, "{} must be above 0, for instance 64GB", key_);
    return bytes;
  }

  std::string one_of(const std::vector<std::string>& words) const {
    if (std::find(words.begin(), words.end(), value_) != words.end()) return std::string(value_);
    fail(ErrorKind::kUsage, "{} cannot be '{}'{}; it is one of {}", key_, value_, did_you_mean(value_, words),
         fmt::join(words, ", "));
  }

  int transfer_index() const {
    if (facts_.copy.device.empty()) {
      fail(ErrorKind::kUsage, "transfer-index: there is no device in what was measured; name one with --device");
    }
    const int most = std::max(0, static_cast<int>(facts_.copy.bytes_per_sample.size()) - 1);
    const auto number = parse_number<int>(value_);
    if (!number || *number < 0 || *number > most) {
      fail(ErrorKind::kUsage, "transfer-index must be a whole number from 0 to {}, not '{}'", most, value_);
    }
    return *number;
  }

  std::string stage() const {
    std::vector<std::string> names;
    for (const StageFacts& stage : facts_.cpu.stages) {
      if (stage.kind != "decode") names.push_back(stage.name);
    }
    if (std::find(names.begin(), names.end(), value_) != names.end()) return std::string(value_);
    if (names.empty()) fail(ErrorKind::kUsage, "without: the recipe has no stage that it could leave out");
    fail(ErrorKind::kUsage, "the recipe has no stage '{}' that it could leave out{}; there are {}", value_,
         did_you_mean(value_, names), fmt::join(names, ", "));
  }

  // Its speed is against that of the GPU which the step is of.
  void take_gpu() {
    const GpuClass* own = own_gpu(facts_, catalogue_);
    if (!own && !change_.step_s) {
      fail(
          ErrorKind::kUsage,
          "gpu={0}: the GPU on which the step takes its time is not known; add the step's time on {0}, as step=SECONDS",
          gpu_->name);
    }
    change_.gpu = *gpu_;
    change_.gpu->speed_against = own ? gpu_->speed_against / own->speed_against : 1;
  }

  const Facts& facts_;
  const Catalogue& catalogue_;
  Configuration change_;
  std::vector<std::string> taken_;
  std::optional<GpuClass> gpu_;
  std::string_view key_, value_;
};

std::string what_if_size(std::uint64_t bytes) {
  constexpr std::uint64_t kGibiBytes = 1ull << 30, kGigaBytes = 1'000'000'000;
  if (bytes % kGibiBytes == 0) return fmt::format("{}GiB", bytes / kGibiBytes);
  if (bytes % kGigaBytes == 0) return fmt::format("{}GB", bytes / kGigaBytes);
  return fmt::format("{}", bytes);
}

}  // namespace

const GpuClass* own_gpu(const Facts& facts, const Catalogue& catalogue) {
  if (const GpuClass* gpu = catalogue.gpu_within(facts.step.source)) return gpu;
  if (const GpuClass* gpu = catalogue.gpu_within(facts.copy.device)) return gpu;
  return facts.machine.gpus.empty() ? nullptr : catalogue.gpu_within(facts.machine.gpus.front().name);
}

Configuration parse_what_if(std::string_view text, const Facts& facts, const Catalogue& catalogue) {
  return WhatIfParser(facts, catalogue).parse(text);
}

std::string what_if_text(const Configuration& change) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view key, const auto& value) {
    if (value) words.push_back(fmt::format("{}={}", key, *value));
  };
  const auto add_name = [&](std::string_view key, const auto& value) {
    if (value) words.push_back(fmt::format("{}={}", key, value->name));
  };
  add("cores", change.cores);
  add("threads", change.threads);
  add("remote-cores", change.remote_cores);
  if (change.memory_bytes) words.push_back("memory=" + what_if_size(*change.memory_bytes));
  add_name("disk", change.disk);
  add_name("network", change.network);
  add_name("gpu", change.gpu);
  add("gpus", change.gpus);
  add("nodes", change.nodes);
  add("layout", change.layout);
  add("cache", change.cache);
  add("transfer-index", change.transfer_index);
  add("io-depth", change.io_depth);
  add("prefetch", change.prefetch);
  add("batch", change.batch);
  add("order", change.order);
  add("step", change.step_s);
  add("without", change.without);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace stoker
