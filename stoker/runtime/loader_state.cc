#include "stoker/runtime/loader_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/json_values.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateVersion = 1;

// Names and numbers only, put together by hand: nlohmann's objects need memory to be destroyed, and end the program
// when there is none, while a state may be asked for at any time.
std::string order_json(const OrderOptions& order) {
  std::string json = fmt::format(R"({{"kind":"{}","seed":{},"global_batch":{},"tail":"{}")", to_string(order.kind),
                                 order.seed, order.global_batch, to_string(order.tail));
  if (order.kind == OrderKind::kWindowed) {
    const std::vector<std::int64_t>& shards = *order.shard_samples;
    const Bytes sizes(reinterpret_cast<const std::uint8_t*>(shards.data()), shards.size() * sizeof(shards[0]));
    json += fmt::format(R"(,"window":{},"lanes":{},"shards":"{}")", order.window, order.lanes, to_hex(hash64(sizes)));
  }
  if (order.repeats != 1) json += fmt::format(R"(,"repeats":{})", order.repeats);
  if (order.batch_repeats != 1) json += fmt::format(R"(,"batch_repeats":{})", order.batch_repeats);
  return json + "}";
}

/// Without its end.
std::string identity_json(const LoaderIdentity& identity) {
  std::string json = fmt::format(
      R"({{"stoker_state":{},"semantics":{},"data":"{}","samples":{},"recipe":"{}","order":{})", kStateVersion,
      identity.semantics, to_hex(identity.data), identity.samples, to_hex(identity.recipe), order_json(identity.order));
  if (identity.nvjpeg) json += R"(,"nvjpeg":true)";
  if (!identity.own_random.empty()) json += fmt::format(R"(,"own_random":"{}")", identity.own_random);
  return json;
}

/// What is compared: what people call it, and what it is where it is not named.
struct Compared {
  const char *place, *name, *unnamed = "none";
};
constexpr Compared kCompared[] = {{"/stoker_state", "the state's version"},
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
                                  {"/order/shards", "the division into shards"},
                                  {"/order/repeats", "repeats", "1"},
                                  {"/order/batch_repeats", "batch_repeats", "1"},
                                  {"/nvjpeg", "nvjpeg, whose pixels differ,", "false"},
                                  {"/own_random", "the function with random numbers of its own", "none"}};

std::string text_of(const Json& json, const Compared& compared) {
  const Json::json_pointer pointer(compared.place);
  if (!json.contains(pointer)) return compared.unnamed;
  const Json& value = json.at(pointer);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::int64_t count_at(const Json& json, const char* name) {
  const auto value = json.find(name);
  const std::optional<std::int64_t> count = value == json.end() ? std::nullopt : as_whole_number<std::int64_t>(*value);
  if (!count || *count < 0) fail(ErrorKind::kUsage, "the state is damaged: its '{}' is not a count", name);
  return *count;
}

Json parsed_state(std::string_view json) {
  Json state = Json::parse(json, nullptr, false);
  if (!state.is_object() || !state.contains("stoker_state")) {
    fail(ErrorKind::kUsage, "this is not a state of a Stoker loader");
  }
  return state;
}

LoaderPosition position_in(const Json& state) { return {count_at(state, "epoch"), count_at(state, "batch")}; }

}  // namespace

LoaderState::LoaderState(const LoaderIdentity& identity) : head_(identity_json(identity)) {}

std::string LoaderState::to_json(const LoaderPosition& position) const {
  return fmt::format(R"({},"epoch":{},"batch":{}}})", head_, position.epoch, position.batch);
}

LoaderPosition position_of_state(std::string_view json) { return position_in(parsed_state(json)); }

LoaderPosition LoaderState::parse(std::string_view json) const {
  const Json theirs = parsed_state(json);
  const Json ours = Json::parse(head_ + "}");
  std::string differences;
  for (const Compared& compared : kCompared) {
    const std::string there = text_of(theirs, compared), here = text_of(ours, compared);
    if (there == here) continue;
    differences +=
        fmt::format("{}{} was {} and is now {}", differences.empty() ? "" : ", ", compared.name, there, here);
  }
  if (!differences.empty()) {
    fail(ErrorKind::kUsage,
         "the state is not of this loader: {}; resume with the data and options that it was taken with", differences);
  }
  return position_in(theirs);
}

}  // namespace stoker
