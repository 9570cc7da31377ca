#include "stoker/pack/job_plan.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/pack/checked_line.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr int kPlanVersion = 1;
constexpr std::string_view kMagic = "StokPlan";
constexpr std::uint64_t kTrailerBytes = 24;
constexpr std::uint64_t kHeadBytesMax = std::uint64_t{1} << 30;

std::string read_text(Source& source, std::uint64_t begin, std::uint64_t length) {
  std::string text(length, '\0');
  read_fully(source, begin, MutableBytes(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return text;
}

[[noreturn]] void fail_damaged(const Location& at) {
  fail(ErrorKind::kData, "'{}' is not a plan, or is damaged; make it anew", at);
}

/// The head as it was written, if it is whole.
std::string head_of(Source& source, const Location& at, std::uint64_t& begin) {
  const std::uint64_t size = source.size();
  if (size < kTrailerBytes) fail_damaged(at);
  const std::string trailer = read_text(source, size - kTrailerBytes, kTrailerBytes);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(trailer.data());
  const auto length = load_little_endian<std::uint64_t>(bytes);
  const bool is_plan = std::string_view(trailer).substr(16) == kMagic;
  if (!is_plan || length > kHeadBytesMax || length > size - kTrailerBytes) fail_damaged(at);
  begin = size - kTrailerBytes - length;
  std::string head = read_text(source, begin, length);
  if (hash64(head) != load_little_endian<std::uint64_t>(bytes + 8)) fail_damaged(at);
  return head;
}

}  // namespace

JobPlan::JobPlan(std::shared_ptr<Source> opened, Location at, std::string_view command)
    : at_(std::move(at)), source_(std::move(opened)) {
  std::uint64_t head_begin = 0;
  const std::string head = head_of(*source_, at_, head_begin);
  id_ = to_hex(hash64(head));
  std::string made_for;
  try {
    const Json json = parse_whole_json(head);
    if (json.at("stoker_plan") != kPlanVersion) {
      fail(ErrorKind::kData, "'{}' is a plan of another version of Stoker; make it anew", at_);
    }
    made_for = json.at("command");
    choices_ = json.at("choices");
    std::uint64_t begin = 0;
    for (const Json& entry : json.at("tasks")) {
      tasks_.push_back(
          {.name = from_json_text(entry.at(0)), .samples = entry.at(1), .bytes = entry.at(2), .mark = entry.at(3)});
      const Place& place = places_.emplace_back(Place{begin, entry.at(4), entry.at(5)});
      if (place.length > head_begin - begin) fail_damaged(at_);
      begin += place.length;
    }
  } catch (const Json::exception&) {
    fail_damaged(at_);
  }
  if (made_for != command) {
    fail(ErrorKind::kUsage, "'{}' is a plan for `stoker {}`, not for `stoker {}`", at_, made_for, command);
  }
}

std::string JobPlan::frozen(std::size_t task) const {
  const Place& place = places_.at(task);
  std::string text = read_text(*source_, place.begin, place.length);
  if (hash64(text) != place.hash) fail_damaged(at_);
  return text;
}

JobPlanWriter::JobPlanWriter(const Stores& stores, Location at, std::string_view command)
    : stores_(stores), at_(std::move(at)), command_(command), object_(stores.put(at_)) {}

void JobPlanWriter::add(const PlannedTask& task, std::string_view frozen) {
  object_->write(as_bytes(frozen));
  tasks_.push_back({to_json_text(task.name), task.samples, task.bytes, task.mark, frozen.size(), hash64(frozen)});
}

std::string JobPlanWriter::finish(const Json& choices) {
  const Json json = {{"stoker_plan", kPlanVersion}, {"command", command_}, {"choices", choices}, {"tasks", tasks_}};
  const std::string head = json.dump();
  if (head.size() > kHeadBytesMax) {
    fail(ErrorKind::kLimit, "a plan of {} would be longer than 1 GiB; choose larger shards",
         counted(tasks_.size(), "task"));
  }
  std::string id = to_hex(hash64(head));
  if (stores_.find(at_)) {
    if (JobPlan(stores_, at_, command_).id() == id) return id;
    fail(ErrorKind::kUsage, "'{}' is a plan of other data or with other options; choose another name, or remove it",
         at_);
  }
  std::vector<std::uint8_t> trailer;
  append_little_endian<std::uint64_t>(trailer, head.size());
  append_little_endian<std::uint64_t>(trailer, hash64(head));
  trailer.insert(trailer.end(), kMagic.begin(), kMagic.end());
  object_->write(as_bytes(head));
  object_->write(trailer);
  object_->commit();
  return id;
}

}  // namespace stoker
