// A job that many processes do, each a part of it. What is to be done is frozen in one object, the plan, and divided
// into tasks, which any process that reaches the data can do, in any order, several times, and at the same time. The
// same data and options give the same plan, byte for byte.
//
// The object has what is frozen for each task, one after the other; the head, which is JSON; and a trailer of 24 bytes:
// the head's length and its hash as little-endian numbers, and "StokPlan".
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/storage/stores.h"

namespace stoker {

struct PlannedTask {
  std::string name;          // of the shard that it makes, or looks at
  std::int64_t samples = 0;  // where the plan knows
  std::uint64_t bytes = 0;   // that it reads, about
  std::uint64_t mark = 0;    // of what it must find there; the job's
};

/// Threads: any.
class JobPlan {
 public:
  /// `command`: "pack". Throws kNotFound, kIo, kData for what is damaged or not a plan, kUsage for another command's.
  JobPlan(const Stores& stores, const Location& at, std::string_view command) : JobPlan(stores.open(at), at, command) {}
  /// The same of what was opened; `at` is for messages.
  JobPlan(std::shared_ptr<Source> opened, Location at, std::string_view command);

  const Location& location() const { return at_; }
  /// Sixteen hexadecimal digits, which another plan does not have.
  const std::string& id() const { return id_; }
  /// What is the same for all tasks.
  const nlohmann::json& choices() const { return choices_; }
  const std::vector<PlannedTask>& tasks() const { return tasks_; }
  /// What is frozen for a task. Throws what reading throws, and kData if it is damaged.
  std::string frozen(std::size_t task) const;

 private:
  struct Place {
    std::uint64_t begin, length, hash;
  };

  Location at_;
  std::shared_ptr<Source> source_;
  std::string id_;
  nlohmann::json choices_;
  std::vector<PlannedTask> tasks_;
  std::vector<Place> places_;
};

/// What `read` makes of JSON that this version of Stoker wrote: the plan's choices, or a record of its tasks. Throws
/// kData where the JSON says other things.
template <typename Read>
auto as_of_this_version(const JobPlan& plan, const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::kData, "'{}' is not a plan of this version of Stoker; make it anew", plan.location());
  }
}

/// Threads: one at a time.
class JobPlanWriter {
 public:
  /// Throws kIo, kNotFound. The stores must outlive it.
  JobPlanWriter(const Stores& stores, Location at, std::string_view command);

  void add(const PlannedTask& task, std::string_view frozen);
  /// Returns its id. A plan that is there already stays if it is the same; throws kUsage if it is another.
  std::string finish(const nlohmann::json& choices);

 private:
  const Stores& stores_;
  const Location at_;
  const std::string command_;
  const std::unique_ptr<ObjectWriter> object_;
  nlohmann::json tasks_ = nlohmann::json::array();
};

}  // namespace stoker
