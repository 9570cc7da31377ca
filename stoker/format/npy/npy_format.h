// Arrays of numpy by row: the first axis of an array (.npy), or of all arrays of an archive (.npz), counts samples. No
// table of rows is kept: where a row lies is arithmetic, and each gets the header that makes it an array by itself.
#pragma once

#include <memory>
#include <stop_token>

#include "stoker/format/shard_format.h"

namespace stoker {

/// Arrays are not found in folders by their names: there they are fields of samples.
class NpyFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "npy"; }
  /// By the extensions "npy" and "npz", or the first bytes of an array.
  bool recognises(const ShardCandidate& shard) const override;
  /// Throws kData naming the file for arrays that are damaged, not of numbers, or stored column by column, and as
  /// ZipDirectory does; kUsage for an archive whose arrays have different lengths.
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  bool may_hold_sets() const override { return true; }
  std::unique_ptr<ShardScan> scan_set(Source& shard, std::string_view images,
                                      const std::stop_token& stop) const override;
};

}  // namespace stoker
