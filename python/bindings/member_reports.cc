// The reports of a loader whose batches other processes make: stoker.ray.Loader's.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "python/bindings/arguments.h"
#include "python/bindings/metrics_dict.h"
#include "python/bindings/module.h"
#include "stoker/runtime/report/member_reports.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace stoker::python {
namespace {

// A line for the log, of an epoch that had steps.
std::optional<std::string> end_epoch(MemberReports& self) {
  const std::optional<LoaderReport> report = self.end_epoch();
  return report && report->steps > 0 ? std::optional(report->line()) : std::nullopt;
}

LoaderReport report_of_members(const MemberReports& self, nb::handle epoch) {
  if (epoch.is_none()) return self.since_beginning();
  return self.of(integer_argument("epoch", epoch, 0, INT64_MAX));
}

}  // namespace

void bind_member_reports(nb::module_& module) {
  nb::class_<MemberReports>(module, "_MemberReports")
      .def(nb::init<>())
      .def(
          "update",
          [](MemberReports& self, std::int64_t member, const nb::dict& metrics) {
            self.update(member, metrics_of(metrics));
          },
          "member"_a, "metrics"_a)
      .def("leave", &MemberReports::leave, "member"_a)
      .def("begin_epoch", &MemberReports::begin_epoch, "epoch"_a)
      .def("end_epoch", &end_epoch)
      .def(
          "deliver",
          [](MemberReports& self, std::int64_t member, std::int64_t samples, std::int64_t wait_ns,
             std::int64_t period_ns) {
            self.deliver({member, samples, wait_ns, period_ns});
          },
          "member"_a, "samples"_a, "wait_ns"_a, "period_ns"_a)
      .def("step", &MemberReports::step, "ns"_a)
      .def("metrics", [](const MemberReports& self) { return metrics_dict(self.metrics()); })
      .def("report", &report_of_members, "epoch"_a.none());
}

}  // namespace stoker::python
