// The arguments of Loader, as the table of options has them.
#pragma once

#include <cstdint>
#include <string>

#include "python/bindings/call_arguments.h"
#include "stoker/runtime/loader_option_table.h"

namespace stoker::python {

/// Data, recipe, and the options.
CallSignature loader_signature();
/// "def __init__(self, data: ..., recipe: ..., *, batch: int | None = None, ...) -> None", with the types of the stub
/// file.
std::string constructor_text();
/// "data: ...\nrecipe: ...\nbatch: ...", wrapped.
std::string options_help();
/// Throws kUsage for values that an option does not take.
LoaderOptions loader_options(const CallArguments& given);
/// Throws kUsage for what is not a number within the option's limits.
std::uint64_t integer_of(const LoaderOptionSpec& option, nanobind::handle value);

}  // namespace stoker::python
