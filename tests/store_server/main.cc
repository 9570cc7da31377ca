// The program of the server: it prints its port, and runs until it is ended. `GET /counts` tells what it did, as JSON,
// `GET /requests` what was asked for: a line each; `GET
// /faults?kind=KIND&share=PART&step=STEP&after=REQUESTS&most=FAULTS` has it make these mistakes from now on.

#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "tests/store_server/store_server.h"

namespace stoker {
namespace {

constexpr std::string_view kUsage =
    "usage: store_server FOLDER [--listen ADDRESS] [--latency SECONDS [--sigma S]] [--rate BYTES_PER_S] [--link "
    "BYTES_PER_S]\n"
    "       [--share PART --faults KIND,KIND... [--after REQUESTS]] [--seed N] [--refuse 'STATUS REASON'\n"
    "       [--refuse-step STEP] [--refuse-code CODE]]";

template <typename Number>
Number number_of(std::string_view text) {
  const auto number = parse_number<Number>(text);
  if (!number) fail(ErrorKind::kUsage, "'{}' is not a number", text);
  return *number;
}

std::vector<Fault> faults_of(std::string_view text) {
  std::vector<Fault> faults;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(',');
    const auto fault = find_fault(text.substr(0, end));
    if (!fault) fail(ErrorKind::kUsage, "there is no fault '{}'", text.substr(0, end));
    faults.push_back(*fault);
    if (end == std::string_view::npos) break;
  }
  return faults;
}

StoreServerOptions options_of(int count, char** arguments) {
  StoreServerOptions options;
  const std::map<std::string_view, std::function<void(std::string_view)>> known = {
      {"--listen", [&](std::string_view text) { options.address = text; }},
      {"--latency", [&](std::string_view text) { options.latency_s = number_of<double>(text); }},
      {"--sigma", [&](std::string_view text) { options.latency_sigma = number_of<double>(text); }},
      {"--rate", [&](std::string_view text) { options.bytes_per_s = number_of<double>(text); }},
      {"--link", [&](std::string_view text) { options.link_bytes_per_s = number_of<double>(text); }},
      {"--share", [&](std::string_view text) { options.faults.share = number_of<double>(text); }},
      {"--faults", [&](std::string_view text) { options.faults.kinds = faults_of(text); }},
      {"--after", [&](std::string_view text) { options.faults.after = number_of<std::uint64_t>(text); }},
      {"--seed", [&](std::string_view text) { options.faults.seed = number_of<std::uint64_t>(text); }},
      {"--refuse", [&](std::string_view text) { options.refused_with = text; }},
      {"--refuse-step", [&](std::string_view text) { options.refused_step = text; }},
      {"--refuse-code", [&](std::string_view text) { options.refused_code = text; }},
  };
  if (count < 2 || count % 2 != 0) fail(ErrorKind::kUsage, "{}", kUsage);
  options.folder = arguments[1];
  for (int i = 2; i < count; i += 2) {
    const auto option = known.find(arguments[i]);
    if (option == known.end()) fail(ErrorKind::kUsage, "there is no option '{}'\n{}", arguments[i], kUsage);
    option->second(arguments[i + 1]);
  }
  return options;
}

void serve(int count, char** arguments) {
  ::signal(SIGPIPE, SIG_IGN);  // sendfile() has no flag that keeps it away
  StoreServer server(options_of(count, arguments));
  fmt::print("{}\n", server.port());
  std::fflush(stdout);
  server.run();
}

}  // namespace
}  // namespace stoker

int main(int count, char** arguments) {
  try {
    stoker::serve(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "store_server: {}\n", error.what());
    return 2;
  }
}
