// The command line: which commands there are, and how their arguments are read.
#pragma once

#include "cli/interrupts.h"

namespace CLI {
class App;
}

namespace stoker {

/// Parses the arguments and runs the command they name. Returns the exit status; throws Error where a command failed.
int run_command_line(int argc, char** argv, Interrupts& interrupts);

// Each adds its command, which runs at the end of parsing. `interrupts` must stay until then.
void add_run_command(CLI::App& app, Interrupts& interrupts);
void add_plan_command(CLI::App& app);
void add_view_command(CLI::App& app);
void add_pack_command(CLI::App& app, Interrupts& interrupts);
void add_index_command(CLI::App& app, Interrupts& interrupts);
void add_verify_command(CLI::App& app, Interrupts& interrupts);
void add_info_command(CLI::App& app, Interrupts& interrupts);
void add_synth_command(CLI::App& app, Interrupts& interrupts);
void add_ops_command(CLI::App& app);
void add_tune_sim_command(CLI::App& app);

}  // namespace stoker
