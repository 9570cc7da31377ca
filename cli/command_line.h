// The command line: the commands and the parsing of their arguments.
#pragma once

#include <string>

#include "cli/interrupts.h"

namespace stoker {

class Parser;

/// Parses the arguments and runs the command they name. Returns the exit status; throws Error if the command fails.
int run_command_line(int argc, char** argv, Interrupts& interrupts);

// Each adds its command, which runs at the end of parsing. `interrupts` must stay until then.
void add_run_command(Parser& app, Interrupts& interrupts);
void add_plan_command(Parser& app);
void add_view_command(Parser& app);
void add_pack_command(Parser& app, Interrupts& interrupts);
void add_index_command(Parser& app, Interrupts& interrupts);
void add_verify_command(Parser& app, Interrupts& interrupts);
void add_info_command(Parser& app, Interrupts& interrupts);
void add_synth_command(Parser& app, Interrupts& interrupts);
void add_cache_command(Parser& app);
void add_ops_command(Parser& app);
void add_tune_sim_command(Parser& app);
/// `typed`: the command line, for a report to show.
void add_doctor_command(Parser& app, Interrupts& interrupts, const std::string& typed);

}  // namespace stoker
