// Which field of a sample an error is about, where a sample has several images.
#pragma once

#include <utility>

#include "stoker/base/error.h"
#include "stoker/plan/plan.h"

namespace stoker {

/// What `work` returns. A kBadSample that it throws names the view's field, unless that is the sample's image.
template <typename Work>
decltype(auto) in_field(const Plan& plan, const ViewPlan& view, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    const std::string& field = plan.fields()[static_cast<std::size_t>(view.field)];
    if (error.kind() != ErrorKind::kBadSample || field == "image") throw;
    throw error.with_context("'" + field + "'");
  }
}

}  // namespace stoker
