#include "python/bindings/metrics_dict.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

nb::str name_of(std::size_t metric) {
  const std::string_view name = metric_table()[metric].name;
  return nb::str(name.data(), name.size());
}

}  // namespace

nb::dict metrics_dict(const Metrics& metrics) {
  nb::dict values;
  for (std::size_t i = 0; i < kMetrics; ++i) values[name_of(i)] = metrics.values[i];
  return values;
}

Metrics metrics_of(const nb::dict& values) {
  Metrics metrics{};
  for (std::size_t i = 0; i < kMetrics; ++i) metrics.values[i] = nb::cast<std::int64_t>(values[name_of(i)]);
  return metrics;
}

}  // namespace stoker::python
