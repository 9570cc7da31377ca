#include "cli/command_line.h"

#include <string>
#include <vector>

#include "cli/build_facts.h"
#include "cli/command_text.h"
#include "cli/parser.h"

namespace stoker {

int run_command_line(int argc, char** argv, Interrupts& interrupts) {
  Parser app("stoker", "Turns data sets of images into training batches, the same batches on every machine.",
             build_facts);
  app.footer(
      "Exit status: 0 done, 1 failure, 2 bad usage, 130 interrupted; of doctor: 0 fed, 1 starved, 2 not "
      "measurable.\nSTOKER_ISA forces an instruction set (avx3, "
      "avx2, sse4, neon, scalar); STOKER_LOG=debug|info|warning|error sets the detail of the log.");
  add_run_command(app, interrupts);
  add_plan_command(app);
  std::vector<std::string> typed(argv, argv + argc);
  if (!typed.empty()) typed[0] = "stoker";  // wherever it lies
  add_doctor_command(app, interrupts, command_text(typed));
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
