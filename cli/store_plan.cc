#include "cli/store_plan.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/text_table.h"
#include "stoker/base/units.h"
#include "stoker/order/order_options.h"

namespace stoker {
namespace {

std::string rate_text(double per_s) { return format_count(static_cast<std::uint64_t>(std::llround(per_s))); }

std::string order_name(const OrderExpectation& order) {
  if (order.order != OrderKind::kWindowed) return std::string(to_string(order.order));
  return fmt::format("windowed, {} of {}", counted(order.lanes, "lane"), counted(order.window, "sample"));
}

std::string measured_text(const StoreRates& rates) {
  return fmt::format(
      "The store answers after {:.3g} ms (99 in 100 requests: {:.3g} ms). One connection brings {}/s, all together "
      "{}/s; the store answers {} small requests a second, with {} under way at a time. A gap of up to {} between two "
      "reads is faster to read than to skip. Measuring this took {} and {}.\n",
      1e3 * rates.first_byte_s_p50, 1e3 * rates.first_byte_s_p99, format_size(rates.connection_bytes_per_s),
      format_size(rates.link_bytes_per_s), rate_text(rates.requests_per_s), rates.requests_at_once,
      format_size(static_cast<double>(rates.gap_worth_reading)), counted(rates.requests, "request"),
      format_size(static_cast<double>(rates.bytes)));
}

std::string expected_text(const StoreAdvice& advice) {
  TextTable table({{"order"},
                   {"requests a sample", Align::kRight},
                   {"bytes a sample", Align::kRight},
                   {"of the store, samples/s", Align::kRight},
                   {"expected of `run`", Align::kRight}});
  for (const OrderExpectation& order : advice.orders) {
    table.add_row({order_name(order), fmt::format("{:.3g}", order.reads.requests), format_size(order.reads.bytes),
                   rate_text(order.store_samples_per_s()), rate_text(order.samples_per_s())});
  }
  return table.text();
}

std::string verdict_text(const StoreAdvice& advice) {
  const OrderExpectation& order = advice.orders[advice.recommended];
  const std::string threads = fmt::format("{} can process {} samples/s", counted(advice.threads, "thread"),
                                          rate_text(advice.cpu_samples_per_s));
  if (!order.store_limits()) {
    return fmt::format("The store is not the bottleneck: {}, and it gives {}.\n", threads,
                       rate_text(order.store_samples_per_s()));
  }
  return fmt::format("The store is the bottleneck: {}, and it gives {} at most.\n", threads,
                     rate_text(order.store_samples_per_s()));
}

std::string recommended_text(const StoreAdvice& advice) {
  const OrderExpectation& order = advice.orders[advice.recommended];
  const OrderExpectation& global = advice.orders.front();
  std::string text;
  if (advice.loose) {
    text += fmt::format(
        "Recommended: pack the files with `stoker pack`. Each sample is a request of its own now, {} samples/s at "
        "most.\n",
        rate_text(order.store_samples_per_s()));
  } else if (order.order == OrderKind::kWindowed) {
    text += fmt::format(
        "Recommended: --order windowed --window {} --lanes {}, if the samples of a shard are mixed. It needs {:.3g} "
        "requests a sample instead of {:.3g}, so that {} samples/s are expected instead of {}.\n",
        order.window, order.lanes, order.reads.requests, global.reads.requests, rate_text(order.samples_per_s()),
        rate_text(global.samples_per_s()));
  } else {
    text += fmt::format("Recommended: --order global, which should give {} samples/s{}.\n",
                        rate_text(order.samples_per_s()),
                        advice.orders.size() == 1
                            ? std::string()
                            : fmt::format("; {} should give {}, which is hardly more", order_name(advice.orders[1]),
                                          rate_text(advice.orders[1].samples_per_s())));
  }
  return text + fmt::format(
                    "Recommended: shards of {} or more{}. Opening one then takes less than a hundredth of the time to "
                    "read it{}.\n",
                    format_size(static_cast<double>(advice.shard_bytes)),
                    advice.loose ? std::string()
                                 : fmt::format(" (now {})", format_size(static_cast<double>(advice.shard_bytes_now))),
                    order.order == OrderKind::kWindowed ? ", and a window lies in one or two" : "");
}

}  // namespace

std::string store_plan_text(const StoreAdvice& advice) {
  return fmt::format("{}\n{}{}{}\n", measured_text(advice.rates), expected_text(advice), verdict_text(advice),
                     recommended_text(advice));
}

nlohmann::ordered_json store_plan_json(const StoreAdvice& advice) {
  const StoreRates& rates = advice.rates;
  nlohmann::ordered_json json = {{"first_byte_ms_p50", 1e3 * rates.first_byte_s_p50},
                                 {"first_byte_ms_p99", 1e3 * rates.first_byte_s_p99},
                                 {"connection_bytes_per_s", rates.connection_bytes_per_s},
                                 {"link_bytes_per_s", rates.link_bytes_per_s},
                                 {"requests_per_s", rates.requests_per_s},
                                 {"requests_at_once", rates.requests_at_once},
                                 {"gap_worth_reading", rates.gap_worth_reading},
                                 {"bytes", rates.bytes},
                                 {"requests", rates.requests},
                                 {"threads", advice.threads},
                                 {"cpu_samples_per_s", advice.cpu_samples_per_s},
                                 {"bottleneck", advice.orders[advice.recommended].store_limits() ? "store" : "cpu"}};
  const auto order_json = [](const OrderExpectation& order) {
    nlohmann::ordered_json one = {{"order", to_string(order.order)}};
    const bool is_windowed = order.order == OrderKind::kWindowed;
    one["window"] = is_windowed ? nlohmann::ordered_json(order.window) : nlohmann::ordered_json(nullptr);
    one["lanes"] = is_windowed ? nlohmann::ordered_json(order.lanes) : nlohmann::ordered_json(nullptr);
    one["samples_per_s"] = order.samples_per_s();
    return one;
  };
  json["orders"] = nlohmann::ordered_json::array();
  for (const OrderExpectation& order : advice.orders) {
    nlohmann::ordered_json one = order_json(order);
    one["store_samples_per_s"] = order.store_samples_per_s();
    one["requests_per_sample"] = order.reads.requests;
    one["bytes_per_sample"] = order.reads.bytes;
    json["orders"].push_back(one);
  }
  json["recommended"] = order_json(advice.orders[advice.recommended]);
  json["recommended"]["pack"] = advice.loose;
  json["recommended"]["shard_bytes"] = advice.shard_bytes;
  json["recommended"]["shard_bytes_now"] = advice.shard_bytes_now;
  return json;
}

}  // namespace stoker
