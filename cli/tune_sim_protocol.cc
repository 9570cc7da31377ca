#include "cli/tune_sim_protocol.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "stoker/base/error.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

using Values = nlohmann::json;

constexpr Word<StageSide> kSideWords[] = {{StageSide::kCpu, "cpu"}, {StageSide::kDevice, "device"}};

Values parse_object(std::string_view line) {
  Values object = Values::parse(line, nullptr, false);
  if (!object.is_object()) fail(ErrorKind::kUsage, "this is not a JSON object");
  return object;
}

const Values& member(const Values& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) fail(ErrorKind::kUsage, "'{}' is missing", name);
  return *at;
}

double number(const Values& object, const char* name, double least = 0) {
  const Values& value = member(object, name);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < least) {
    fail(ErrorKind::kUsage, "'{}' must be a number, {} or more", name, least);
  }
  return value.get<double>();
}

int integer(const Values& object, const char* name, int least) {
  const double value = number(object, name, least);
  if (value != std::floor(value) || value > std::numeric_limits<int>::max()) {
    fail(ErrorKind::kUsage, "'{}' must be an integer", name);
  }
  return static_cast<int>(value);
}

std::string text(const Values& object, const char* name) {
  const Values& value = member(object, name);
  if (!value.is_string()) fail(ErrorKind::kUsage, "'{}' must be text", name);
  return value.get<std::string>();
}

const Values& list(const Values& object, const char* name) {
  const Values& value = member(object, name);
  if (!value.is_array()) fail(ErrorKind::kUsage, "'{}' must be a list", name);
  for (const Values& each : value) {
    if (!each.is_object()) fail(ErrorKind::kUsage, "'{}' must be a list of objects", name);
  }
  return value;
}

TunedStage parse_stage(const Values& object) {
  TunedStage stage;
  stage.name = text(object, "name");
  stage.cpu_s = number(object, "cpu_s");
  if (object.contains("device_s") && !object["device_s"].is_null()) stage.device_s = number(object, "device_s");
  stage.bytes_out = number(object, "bytes_out");
  return stage;
}

}  // namespace

TunedWorkload parse_workload(std::string_view line) {
  const Values object = parse_object(line);
  TunedWorkload workload;
  workload.cores = integer(object, "cores", 1);
  workload.memory_bytes = static_cast<std::uint64_t>(number(object, "memory_bytes"));
  for (const Values& stage : list(object, "stages")) workload.stages.push_back(parse_stage(stage));
  workload.batch = integer(object, "batch", 1);
  workload.prefetch_max = integer(object, "prefetch_max", 1);
  workload.io_depth_max = integer(object, "io_depth_max", 1);
  return workload;
}

TunerWindow parse_window(std::string_view line) {
  const Values object = parse_object(line);
  TunerWindow window;
  window.samples = static_cast<std::int64_t>(number(object, "samples"));
  window.seconds = number(object, "seconds");
  window.wait_s = number(object, "wait_s");
  window.step_s = number(object, "step_s");
  for (const Values& stage : list(object, "stages")) {
    window.stages.push_back({text(stage, "name"), value_of(kSideWords, text(stage, "side"), "not a side of a machine"),
                             number(stage, "seconds")});
  }
  return window;
}

std::string knobs_line(const KnobSetting& knobs, std::string_view why) {
  nlohmann::ordered_json object;
  object["threads"] = knobs.threads;
  object["transfer_index"] = knobs.transfer_index;
  object["prefetch"] = knobs.prefetch;
  object["io_depth"] = knobs.io_depth;
  object["why"] = why;
  return json_line(object);
}

}  // namespace stoker
