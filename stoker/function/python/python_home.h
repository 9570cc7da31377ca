// Which Python runs functions of the user's, and how it is prepared for them. Threads: any.
#pragma once

#include <string>
#include <vector>

namespace stoker {

struct PythonHome {
  std::string executable = "python3";
  std::vector<std::string> path{};  // where modules are looked for before anywhere else
};

/// Of processes that start from now on. Before that: the variable STOKER_PYTHON, else python3.
void set_python_home(PythonHome home);
PythonHome python_home();

}  // namespace stoker
