// `stoker tune-sim`: runs the tuner alone. The program that drives it plays the machine: it reports each window and
// reads the knobs for the next.

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/tune_sim_protocol.h"
#include "stoker/base/error.h"
#include "stoker/tuner/tuner.h"

namespace stoker {
namespace {

void tune_sim() {
  std::optional<Tuner> tuner;
  std::string line;
  for (std::int64_t number = 1; std::getline(std::cin, line); ++number) {
    try {
      if (tuner) {
        tuner->see(parse_window(line));
      } else {
        tuner.emplace(parse_workload(line));
      }
    } catch (const Error& error) {
      throw error.with_context("line " + std::to_string(number));
    }
    write_output(knobs_line(tuner->knobs(), tuner->why()));
  }
  if (!tuner) fail(ErrorKind::kUsage, "standard input is empty: its first line must describe the workload");
}

}  // namespace

void add_tune_sim_command(Parser& app) {
  Command* command = app.add_subcommand(
      "tune-sim", "Run the tuner alone: read the workload and the windows from standard input, print knobs");
  set_example(*command, "stoker tune-sim < windows.jsonl");
  command->callback([] { tune_sim(); });
}

}  // namespace stoker
