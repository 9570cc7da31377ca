// The part of a plan that is about rows of which each sample has its own number: boxes, what belongs to them, texts.
#include <algorithm>
#include <cassert>

#include "stoker/base/error.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

// Throws kUsage for a fill that its type does not have, and kLimit.
void check_padding(const ViewPlan& view) {
  const RowPadding& padding = *view.row_padding;
  if (is_number_of(view.plain_type(), padding.fill)) return;
  fail(ErrorKind::kUsage, "view '{}': its values are {}, so fill cannot be {}", view.name, to_string(view.plain_type()),
       padding.fill);
}

}  // namespace

/// What follows the operator that makes rows: nothing, or pad_to.
void Plan::compile_rows(const View& view, std::string_view why, ViewPlan& plan) const {
  const std::span<const OperatorCall> others = std::span(view.operators).subspan(1);
  if (others.empty()) return;
  const bool pads = std::holds_alternative<RowsFunction>(find_operator(others.front().name).function);
  if (!pads || others.size() > 1) {
    fail(ErrorKind::kUsage, "view '{}': {} cannot follow {}: {}", view.name,
         pads ? others[1].name : others.front().name, view.operators.front().name, why);
  }
  pad(view, others.front(), plan);
}

/// By pad_to, which is a view's last operator.
void Plan::pad(const View& view, const OperatorCall& call, ViewPlan& plan) const {
  if (const FunctionSpec* const taker = recipe_.function_taking(view.name)) {
    fail(ErrorKind::kUsage, "view '{}': function '{}' takes as many rows as a sample has: leave out {}", view.name,
         taker->name, call.name);
  }
  std::get<RowsFunction>(find_operator(call.name).function)(call, plan.row_padding.emplace());
  check_padding(plan);
}

/// Of a function's rows, which are filled up.
void Plan::compile_given(ViewPlan& plan) {
  if (!plan.given.fill) return;
  plan.row_padding = RowPadding{.rows = plan.given.shape[0], .fill = *plan.given.fill};
  check_padding(plan);
}

/// `output` has a shape of as many rows as a sample may have.
OutputSpec Plan::in_rows(const ViewPlan& view, OutputSpec output) {
  output.arrangement = &ragged_arrangement();
  if (!view.row_padding) return output;
  output.arrangement = &padded_arrangement();
  output.row_padding = view.row_padding;
  const std::int64_t rows = view.row_padding->rows;
  output.row_padding->room = view.row_padding->cuts ? std::max(rows, output.shape[0]) : rows;
  Shape shape{rows};
  for (std::size_t axis = 1; axis < output.shape.rank(); ++axis) shape.append(output.shape[axis]);
  output.shape = shape;
  return output;
}

}  // namespace stoker
