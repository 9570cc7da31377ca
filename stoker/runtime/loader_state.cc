#include "stoker/runtime/loader_state.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateVersion = 1;

Json order_json(const OrderOptions& order) {
  Json json = {{"kind", to_string(order.kind)},
               {"seed", order.seed},
               {"global_batch", order.global_batch},
               {"tail", to_string(order.tail)}};
  if (order.kind == OrderKind::kWindowed) {
    json["window"] = order.window;
    json["lanes"] = order.lanes;
  }
  if (order.repeats != 1) json["repeats"] = order.repeats;
  return json;
}

Json identity_json(const LoaderIdentity& identity) {
  return {{"stoker_state", kStateVersion}, {"semantics", identity.semantics},   {"data", to_hex(identity.data)},
          {"samples", identity.samples},   {"recipe", to_hex(identity.recipe)}, {"order", order_json(identity.order)}};
}

/// What people call what is compared.
constexpr std::array<std::pair<const char*, const char*>, 12> kNames = {{{"/stoker_state", "the state's version"},
                                                                         {"/semantics", "the semantics version"},
                                                                         {"/data", "the data set's fingerprint"},
                                                                         {"/samples", "the number of samples"},
                                                                         {"/recipe", "the recipe's hash"},
                                                                         {"/order/kind", "the order"},
                                                                         {"/order/seed", "the seed"},
                                                                         {"/order/global_batch", "the global batch"},
                                                                         {"/order/tail", "the tail"},
                                                                         {"/order/window", "the window"},
                                                                         {"/order/lanes", "the lanes"},
                                                                         {"/order/repeats", "the repeats"}}};

std::string text_at(const Json& json, const char* place) {
  const Json::json_pointer pointer(place);
  if (!json.contains(pointer)) return "none";
  const Json& value = json.at(pointer);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::int64_t count_at(const Json& json, const char* name) {
  const auto value = json.find(name);
  if (value == json.end() || !value->is_number_integer() || *value < 0) {
    fail(ErrorKind::kUsage, "the state is damaged: its '{}' is no count", name);
  }
  return value->get<std::int64_t>();
}

}  // namespace

LoaderState::LoaderState(const LoaderIdentity& identity) : head_(identity_json(identity).dump()) { head_.pop_back(); }

std::string LoaderState::to_json(const LoaderPosition& position) const {
  return fmt::format("{},\"epoch\":{},\"batch\":{}}}", head_, position.epoch, position.batch);
}

LoaderPosition LoaderState::parse(std::string_view json) const {
  const Json theirs = Json::parse(json, nullptr, false);
  if (!theirs.is_object() || !theirs.contains("stoker_state")) {
    fail(ErrorKind::kUsage, "this is no state of a Stoker loader");
  }
  const Json ours = Json::parse(head_ + "}");
  std::string differences;
  for (const auto& [place, name] : kNames) {
    const std::string there = text_at(theirs, place), here = text_at(ours, place);
    if (there == here) continue;
    differences += fmt::format("{}{} was {} and is now {}", differences.empty() ? "" : ", ", name, there, here);
  }
  if (!differences.empty()) {
    fail(ErrorKind::kUsage, "the state is not of this loader: {}; resume with the data and options it was taken with",
         differences);
  }
  return {count_at(theirs, "epoch"), count_at(theirs, "batch")};
}

}  // namespace stoker
