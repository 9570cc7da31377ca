// Plans of jobs (`pack --plan`), and the rows that they have of each task.
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

#include "fuzz/fuzz_target.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/pack/job_plan.h"
#include "stoker/pack/planned_rows.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTrailerBytes = 24;

void run(Bytes input) {
  const auto source = std::make_shared<MemorySource>("fuzzed.plan", std::vector(input.begin(), input.end()));
  std::unique_ptr<JobPlan> plan;
  const auto open = [&] { plan = std::make_unique<JobPlan>(source, "fuzzed.plan", "pack"); };
  if (!accepts({ErrorKind::kData, ErrorKind::kUsage}, open)) return;
  PlannedData loose;
  loose.field_names = {"jpg", "json"};
  loose.sources = {source};
  for (std::size_t task = 0; task < plan->tasks().size(); ++task) {
    accepts({ErrorKind::kData}, [&] {
      const std::string frozen = plan->frozen(task);
      PlannedRows rows(loose, frozen);
      std::size_t count = 0;
      for (SampleRow row; rows.next(row); ++count) {
        require_that(row.source == source.get(), "a row has a source");
        for (const SampleField& field : row.fields)
          require_that(field.part.size() <= frozen.size(), "a path is the plan's");
      }
      require_that(count == rows.numbers().size(), "each number has a row");
    });
  }
}

/// Of the rows of each task, and of the head.
void repair(std::vector<std::uint8_t>& input) {
  if (input.size() < kTrailerBytes) return;
  const std::size_t trailer = input.size() - kTrailerBytes;
  const auto length = load_little_endian<std::uint64_t>(input.data() + trailer);
  if (length > trailer) return;
  const std::size_t begin = trailer - static_cast<std::size_t>(length);
  Json head = Json::parse(input.begin() + static_cast<std::ptrdiff_t>(begin),
                          input.begin() + static_cast<std::ptrdiff_t>(trailer), nullptr, false);
  if (head.is_object() && head.contains("tasks") && head["tasks"].is_array()) {
    std::size_t at = 0;
    for (Json& task : head["tasks"]) {
      const bool is_task = task.is_array() && task.size() == 6 && task[4].is_number_unsigned();
      if (!is_task || task[4].get<std::uint64_t>() > begin - at) break;
      const auto bytes = static_cast<std::size_t>(task[4].get<std::uint64_t>());
      task[5] = hash64(Bytes(input).subspan(at, bytes));
      at += bytes;
    }
    const std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    input.resize(begin);
    input.insert(input.end(), text.begin(), text.end());
    std::vector<std::uint8_t> end;
    append_little_endian<std::uint64_t>(end, text.size());
    append_little_endian<std::uint64_t>(end, hash64(text));
    input.insert(input.end(), end.begin(), end.end());
    constexpr std::string_view kMagic = "StokPlan";
    input.insert(input.end(), kMagic.begin(), kMagic.end());
    return;
  }
  store_little_endian<std::uint64_t>(input.data() + trailer + 8, hash64(Bytes(input).subspan(begin, length)));
}

const AnnounceFuzzTarget kTarget({.name = "job_plan", .run = run, .repair = repair});

}  // namespace
}  // namespace stoker
