// The options of a loader on the command line, as the table of options has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/parser.h"
#include "stoker/plan/recipe.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {

constexpr int kDefaultBatch = 256;

/// What the help says of that option: a sentence, with the default.
std::string option_help(std::string_view name);

/// Adds the option of that name; `loader` must outlive the parsing. The doc is for commands to which the option means
/// something of their own; the table's by default.
Option* add_loader_option(Command& command, LoaderOptions& loader, std::string_view name, const std::string& doc = {});

/// Adds those that a run which is only planned has, too: all but --device and what is written or served of a run.
/// `given` gets those that are given, as the words of a command line, but for --batch and --global-batch.
void add_planned_loader_options(Command& command, LoaderOptions& loader, std::vector<std::string>& given);

/// Adds all that the command line has.
void add_loader_options(Command& command, LoaderOptions& loader);

/// Adds --batch, which set_default_batch() sets where it is not given.
Option* add_batch_option(Command& command, LoaderOptions& loader);

/// Where neither --batch nor --global-batch is given, the batch is that large, or as much smaller as it takes for each
/// of its samples to come as often as the recipe or --batch-repeats says.
void set_default_batch(LoaderOptions& loader, const Recipe& recipe, int batch = kDefaultBatch);

}  // namespace stoker
