// Opens a data set, with the threads that read it. Threads: any.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/field_choice.h"
#include "stoker/format/tokens/token_dataset.h"
#include "stoker/storage/store_options.h"

namespace stoker {

/// How shards are read; loose files of a folder are always read by pread.
enum class IoKind {
  kAuto,   // io_uring where it works, else pread
  kUring,  // fails with kIo where io_uring does not work
  kPread,
};

/// "auto", "uring", "pread".
std::string_view to_string(IoKind kind);
IoKind parse_io(std::string_view name);  // throws kUsage

struct OpenOptions {
  IoKind io = IoKind::kAuto;
  bool direct = false;         // read the samples of shards past the page cache (O_DIRECT)
  bool use_indexes = true;     // otherwise every shard is scanned, and nothing is kept
  std::string index_folder{};  // where to look for indexes first
  StoreOptions store{};
  FieldChoice fields{};                  // that hold images and labels, where the usual ones are not meant
  std::optional<TokenSamples> tokens{};  // DATA are tokens, of which samples are made in this way
};

/// Opens DATA: a folder, a shard, a text file of paths, a glob or brace pattern, or URLs of shards. Its reads run on
/// threads that live as long as the data set; Source::io_name() names the interface. Throws Error that names the
/// mistake, and kClosed when asked to `stop`.
std::shared_ptr<const Dataset> open(const std::string& data, const std::stop_token& stop = {},
                                    const OpenOptions& options = {});
std::shared_ptr<const Dataset> open(const std::vector<std::string>& data, const std::stop_token& stop = {},
                                    const OpenOptions& options = {});

}  // namespace stoker
