#include "stoker/doctor/report/figure_table.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "stoker/base/units.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

std::string bytes_rate(double value) { return format_size(value) + "/s"; }
std::string per_s(double value) { return number_text(value) + "/s"; }
std::string milliseconds(double value) { return fmt::format("{:.3g} ms", 1e3 * value); }
std::string milliseconds_each_megabyte(double value) { return milliseconds(1e6 * value); }

class FigureRows {
 public:
  using Text = std::string (*)(double);

  void add(std::string_view name, const Figure& figure, Text text) {
    if (!figure.known()) return;
    rows_.push_back({{{std::string(name)},
                      {text(figure.median)},
                      {fmt::format("{} to {}", text(figure.low), text(figure.high))},
                      {count_text(figure.count)},
                      {figure.caveat}}});
  }

  std::vector<PageTable::Row> take() { return std::move(rows_); }

 private:
  std::vector<PageTable::Row> rows_;
};

void add_storage(FigureRows& rows, const StorageFacts& storage) {
  rows.add("storage, in order, cold", storage.cold_bytes_per_s, bytes_rate);
  rows.add("storage, in order, warm", storage.warm_bytes_per_s, bytes_rate);
  const auto add = [&](const std::vector<ReadFacts>& reads, std::string_view how) {
    for (const ReadFacts& each : reads) {
      const std::string size = format_size(static_cast<double>(each.bytes));
      rows.add(fmt::format("reads of {}, {} at once, {}", size, each.depth, how), each.reads_per_s, per_s);
      rows.add(fmt::format("time of a read of {}, {} at once, {}", size, each.depth, how), each.latency_s,
               milliseconds);
    }
  };
  add(storage.cold, "cold");
  add(storage.warm, "warm");
  rows.add("files opened, cold", storage.cold_opens_per_s, per_s);
  rows.add("files opened, warm", storage.warm_opens_per_s, per_s);
}

void add_store(FigureRows& rows, const StoreFacts& store) {
  rows.add("time to an answer's first byte", store.first_byte_s, milliseconds);
  rows.add("one connection", store.connection_bytes_per_s, bytes_rate);
  rows.add("all connections", store.link_bytes_per_s, bytes_rate);
  rows.add("requests", store.requests_per_s, per_s);
  rows.add("a core's time for a request", store.cpu_s_per_request, milliseconds);
  rows.add("a core's time for a megabyte", store.cpu_s_per_byte, milliseconds_each_megabyte);
}

}  // namespace

PageTable figure_table(const Facts& facts) {
  FigureRows rows;
  if (facts.storage) add_storage(rows, *facts.storage);
  if (facts.store) add_store(rows, *facts.store);
  for (const CpuFacts::Scaling& scaling : facts.cpu.scaling) {
    rows.add(fmt::format("samples of {}, data in memory", counted(scaling.threads, "thread")), scaling.samples_per_s,
             per_s);
  }
  rows.add("memory copied, all cores", facts.memory.copy_bytes_per_s, bytes_rate);
  rows.add("copy to the device, pinned", facts.copy.pinned_bytes_per_s, bytes_rate);
  rows.add("copy to the device, pageable", facts.copy.pageable_bytes_per_s, bytes_rate);
  rows.add("the training's step", facts.step.seconds, milliseconds);
  return {{{"figure", ""}, {"median"}, {"half of the tries"}, {"tries"}, {"caveat", ""}}, rows.take()};
}

}  // namespace stoker
