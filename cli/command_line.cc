#include "cli/command_line.h"

#include "cli/parser.h"

namespace stoker {

int run_command_line(int argc, char** argv, Interrupts& interrupts) {
  Parser app("stoker", "Turns data sets of images into training batches, the same batches on every machine.",
             STOKER_VERSION);
  app.footer(
      "Exit status: 0 done, 1 failure, 2 bad usage, 130 interrupted.\nSTOKER_ISA forces an instruction set (avx3, "
      "avx2, sse4, scalar); STOKER_LOG=debug|info|warning|error sets the detail of the log.");
  add_run_command(app, interrupts);
  add_plan_command(app);
  add_view_command(app);
  add_pack_command(app, interrupts);
  add_index_command(app, interrupts);
  add_verify_command(app, interrupts);
  add_info_command(app, interrupts);
  add_synth_command(app, interrupts);
  add_cache_command(app);
  add_ops_command(app);
  add_tune_sim_command(app);
  return app.parse(argc, argv);
}

}  // namespace stoker
