#include "stoker/runtime/report/output_paths.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "stoker/base/error.h"
#include "stoker/storage/location.h"

namespace stoker {

void check_outputs_differ(std::initializer_list<OutputPath> outputs) {
  std::map<std::filesystem::path, std::string_view> options;
  for (const OutputPath& output : outputs) {
    require_local(output.path, output.option);
    std::error_code error;
    const bool is_file =
        !std::filesystem::exists(output.path, error) || std::filesystem::is_regular_file(output.path, error);
    if (output.path.empty() || !is_file) continue;
    std::filesystem::path place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(output.path, error), error);
    if (error) place = output.path;
    const auto [other, is_new] = options.try_emplace(place, output.option);
    if (is_new) continue;
    fail(ErrorKind::kUsage, "{} and {} are the same file, '{}'; give each a file of its own", other->second,
         output.option, output.path);
  }
}

}  // namespace stoker
