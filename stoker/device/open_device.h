// Opens devices by name.
#pragma once

#include <memory>
#include <string_view>

namespace stoker {

class Device;

/// By its name, "cuda:0", "emulated:execute" or "emulated:NAME". Throws kUsage for one that there is not, saying which
/// there are, and kNotFound for a GPU that is not here. Null for "cpu": there is none. Threads: any.
std::shared_ptr<Device> open_device(std::string_view name);

}  // namespace stoker
