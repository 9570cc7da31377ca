#include "stoker/pack/task_records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/units.h"
#include "stoker/pack/checked_line.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

Location folder_of(const JobPlan& plan) { return plan.location() + ".done"; }

/// A lock has no end that could be waited for together with a request to stop.
constexpr std::chrono::milliseconds kLookAgain{100};

void wait_unless_stopped(const std::stop_token& stop, std::size_t task) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  if (woken.wait_for(lock, stop, kLookAgain, [&] { return stop.stop_requested(); })) {
    fail(ErrorKind::kClosed, "stopped while another process was doing task {}", task);
  }
}

}  // namespace

TaskRecords::TaskRecords(const Stores& stores, const JobPlan& plan)
    : stores_(stores), plan_(plan), folder_(folder_of(plan)) {}

Location TaskRecords::place_of(std::size_t task) const { return folder_ / fmt::format("{:06}.json", task); }

std::optional<Json> TaskRecords::find(std::size_t task) const {
  const Location place = place_of(task);
  if (!stores_.find(place)) return std::nullopt;
  std::string text = read_whole(*stores_.open(place));
  if (text.empty() || text.back() != '\n') return std::nullopt;
  text.pop_back();
  std::optional<Json> record = json_of_line(text);
  if (!record || record->value("plan", "") != plan_.id() || record->value("task", std::size_t{0}) != task) {
    return std::nullopt;
  }
  return record->at("result");
}

void TaskRecords::put(std::size_t task, const Json& result) const {
  stores_.create_folder(folder_);
  put_whole(stores_, place_of(task),
            as_bytes(checked_line({{"plan", plan_.id()}, {"task", task}, {"result", result}})));
}

std::vector<Json> TaskRecords::all() const {
  std::vector<Json> results;
  std::vector<std::size_t> missing;
  for (std::size_t task = 0; task < plan_.tasks().size(); ++task) {
    if (std::optional<Json> result = find(task)) {
      results.push_back(std::move(*result));
    } else {
      missing.push_back(task);
    }
  }
  if (missing.empty()) return results;
  fail(ErrorKind::kUsage, "{} of {} {} not done: {}; do {} first", counted(missing.size(), "task"),
       plan_.tasks().size(), missing.size() == 1 ? "is" : "are", listed_tasks(missing),
       missing.size() == 1 ? "it" : "them");
}

std::vector<std::size_t> TaskRecords::chosen(const std::vector<TaskRange>& ranges) const {
  const std::size_t count = plan_.tasks().size();
  std::set<std::size_t> tasks;
  for (const TaskRange& range : ranges) {
    if (range.last >= count) {
      fail(ErrorKind::kUsage, "there is no task {} in '{}', which has {}", range.last, plan_.location(),
           count == 0 ? std::string("none") : fmt::format("0 to {}", count - 1));
    }
    for (std::size_t task = range.first; task <= range.last; ++task) tasks.insert(task);
  }
  return {tasks.begin(), tasks.end()};
}

TaskTurn::TaskTurn(const JobPlan& plan, std::size_t task, const std::stop_token& stop) {
  const Location folder = folder_of(plan);
  if (!folder.is_local()) return;
  Stores().create_folder(folder);
  path_ = (folder / fmt::format("{:06}.lock", task)).text();
  for (;; wait_unless_stopped(stop, task)) {
    FileDescriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file) fail_system("create", path_, errno);
    if (!lock_exclusively(file)) continue;
    if (!is_named(file, path_)) continue;  // another process has just ended its turn
    lock_ = std::move(file);
    return;
  }
}

TaskTurn::~TaskTurn() {
  if (lock_) ::unlink(path_.c_str());
}

std::string writer_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unnamed";
  return to_hex(hash64(std::string_view(name.data()))).substr(0, 8);
}

std::string listed_tasks(const std::vector<std::size_t>& tasks) {
  constexpr std::size_t kNamedMax = 8;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t end = i + 1;
    while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
    names.push_back(end - i < 3 ? std::to_string(tasks[i]) : fmt::format("{} to {}", tasks[i], tasks[end - 1]));
    i += end - i < 3 ? 1 : end - i;
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kNamedMax) return text + ", and more";
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace stoker
