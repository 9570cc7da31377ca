#include "stoker/function/python/python_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/function/python/function_introduction.h"
#include "stoker/function/python/python_home.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kRoomAlignment = 64;
constexpr double kStartTimeoutS = 300;  // modules may take long to load, from a slow disk
constexpr int kCallsBetweenChecks = 64;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kRoomAlignment - 1) / kRoomAlignment * kRoomAlignment;
}

std::string extents_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape.extents(), ",")); }

// JSON has texts of Unicode alone, and names of folders are bytes.
Json in_hex(const std::vector<std::string>& names) {
  Json all = Json::array();
  for (const std::string& name : names) {
    all.push_back(fmt::format("{:02x}", fmt::join(std::vector<std::uint8_t>(name.begin(), name.end()), "")));
  }
  return all;
}

}  // namespace

PythonFunction::PythonFunction(FunctionSpec spec, std::vector<ValueMeaning> taken, std::stop_token stop)
    : spec_(std::move(spec)),
      meanings_(std::move(taken)),
      stop_(std::move(stop)),
      taken_(meanings_.size()),
      room_("stoker-function") {
  for (const GivenValue& given : spec_.gives) {
    given_begin_.push_back(given_end_);
    given_end_ += aligned(given.bytes());
  }
}

MutableBytes PythonFunction::take(std::size_t taken, DType dtype, const Shape& shape) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  Taken& value = taken_[taken];
  value.dtype = dtype;
  value.shape = shape;
  value.begin = end_;
  end_ += aligned(bytes);
  room_.reserve(end_ + given_end_);
  return {room_.data() + value.begin, bytes};
}

void PythonFunction::drop_scratch() {
  room_.clear();
  end_ = 0;
}

void PythonFunction::start() {
  if (!why_not_.empty()) fail(ErrorKind::kUsage, "{}", why_not_);
  Json introduction = introduction_of(spec_, meanings_);
  introduction["path"] = in_hex(python_home().path);
  const std::string description = introduction.dump();
  // The values of the sample stay where they are; after them comes what may be too long for a message.
  const std::size_t begin = end_ + given_end_;
  room_.reserve(begin + description.size() + spec_.payload.size());
  std::memcpy(room_.data() + begin, description.data(), description.size());
  std::memcpy(room_.data() + begin + description.size(), spec_.payload.data(), spec_.payload.size());
  process_ = std::make_unique<PythonProcess>(room_.descriptor());
  const Json first = {
      {"begin", begin}, {"description", description.size()}, {"payload", spec_.payload.size()}, {"size", room_.size()}};
  const Json answer = Json::parse(ask(first.dump(), kStartTimeoutS), nullptr, false);
  if (answer.is_object() && !answer.contains("error")) return;
  process_.reset();
  why_not_ = fmt::format(
      "function '{}' cannot be loaded: {}", spec_.name,
      answer.is_object() ? answer.value("error", std::string()) : "its process said nothing that makes sense");
  fail(ErrorKind::kUsage, "{}", why_not_);
}

std::string PythonFunction::message(const FunctionSeed& seed) {
  std::string values;
  for (const Taken& taken : taken_) {
    values += fmt::format("{}[\"{}\",{},{}]", values.empty() ? "" : ",", to_string(taken.dtype),
                          extents_text(taken.shape), taken.begin);
  }
  std::vector<std::size_t> given = given_begin_;
  for (std::size_t& begin : given) begin += end_;
  return fmt::format(R"({:08x}{:08x}{:08x}{:08x}{{"size":{},"values":[{}],"given":[{}]}})", seed[3], seed[2], seed[1],
                     seed[0], room_.size(), values, fmt::join(given, ","));
}

std::string PythonFunction::ask(const std::string& message, double timeout_s) {
  PythonProcess::Answer answer = process_->ask(message, timeout_s, stop_);
  if (answer.kind == PythonProcess::Answer::Kind::kMessage) return std::move(answer.text);
  process_.reset();
  const std::string why =
      answer.kind == PythonProcess::Answer::Kind::kTimeout
          ? fmt::format("function '{}' did not return within {} s; its process was ended", spec_.name, timeout_s)
          : fmt::format("the process of function '{}' {}", spec_.name, answer.text);
  // Each time costs seconds, and the sample is told of only when its batch is delivered.
  if (!std::exchange(has_told_, true)) log(LogLevel::kWarning, "{}", why);
  fail(ErrorKind::kBadSample, "{}", why);
}

void PythonFunction::call(const FunctionSeed& seed, const GivenPlaces& place) {
  forget_process_that_ended();
  if (!process_) start();
  copy_given(ask(message(seed), spec_.timeout_s), place);
  if (spec_.whole_batch || ++calls_ % kCallsBetweenChecks == 0) check_memory();
}

// It may be the system's doing, and says nothing of the sample that comes next.
void PythonFunction::forget_process_that_ended() {
  const std::optional<std::string> how = process_ ? process_->ended_meanwhile() : std::nullopt;
  if (!how) return;
  process_.reset();
  if (stop_.stop_requested()) fail(ErrorKind::kClosed, "the loader is closed");  // which ends its processes
  log(LogLevel::kWarning, "between two calls, the process of function '{}' {}; another one is started", spec_.name,
      *how);
}

void PythonFunction::copy_given(const std::string& answer, const GivenPlaces& place) {
  const Json given = Json::parse(answer, nullptr, false);
  if (given.is_object() && given.contains("error")) {
    fail(ErrorKind::kBadSample, "function '{}' {}", spec_.name, given["error"].get<std::string>());
  }
  if (!given.is_object() || !given.contains("ns") || given["rows"].size() != spec_.gives.size()) {
    process_.reset();
    fail(ErrorKind::kBadSample, "the process of function '{}' gave an answer that makes no sense", spec_.name);
  }
  inside_ns_ += given["ns"].get<std::int64_t>();
  for (std::size_t i = 0; i < spec_.gives.size(); ++i) {
    const GivenValue& value = spec_.gives[i];
    Shape shape = value.shape;
    if (value.is_ragged) {
      shape = {std::clamp<std::int64_t>(given["rows"][i].get<std::int64_t>(), 0, value.shape[0])};
      for (const std::int64_t extent : value.shape.extents().subspan(1)) shape.append(extent);
    }
    const MutableBytes out = place(i, shape);
    std::memcpy(out.data(), room_.data() + end_ + given_begin_[i], out.size());
  }
}

void PythonFunction::check_memory() {
  const std::uint64_t bytes = process_->own_memory();
  if (bytes <= spec_.memory_max) return;
  log(LogLevel::kWarning,
      "function '{}': its process has grown to {}, more than the {} that it may have, and is started anew; if it goes "
      "on "
      "growing, the function keeps what it makes",
      spec_.name, format_size(static_cast<double>(bytes)), format_size(static_cast<double>(spec_.memory_max)));
  process_.reset();
}

}  // namespace stoker
