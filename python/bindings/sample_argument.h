// A sample that Python gives: an image's bytes, or a dict of them by field, as a data set's samples are.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker::python {

/// The contents of something like bytes. What may change meanwhile is copied, for decoders look at bytes twice.
class HeldBytes {
 public:
  HeldBytes(std::string_view name, nanobind::handle value);
  HeldBytes(HeldBytes&&) = default;  // of a vector, whose bytes stay where they are

  Bytes bytes() const { return bytes_; }

 private:
  nanobind::object owner_;
  std::vector<std::uint8_t> copy_;
  Bytes bytes_;
};

/// A sample's fields of these names, in this order; optional ones that it lacks without bytes. Bytes alone are the only
/// one that is not optional. Throws kUsage and kNotFound.
std::vector<HeldBytes> sample_fields(const std::vector<std::string>& names, const std::vector<std::string>& optional,
                                     nanobind::handle data);

/// The label given, else that of a dict, else -1.
std::int64_t sample_label(nanobind::handle given, nanobind::handle data);

}  // namespace stoker::python
