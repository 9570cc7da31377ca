// The checks that every source makes on a request, with the same messages.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/storage/source.h"

namespace stoker {

/// Throws kNotFound when a source that is a single object is asked for a part.
void require_no_part(std::string_view name, std::string_view part);

/// Throws kData when bytes [offset, offset + length) are not all inside an object of `size` bytes.
void require_range_inside(std::string_view name, std::uint64_t size, std::uint64_t offset, std::uint64_t length);

/// Throws kIo when the request's deadline has passed, kClosed when it was stopped: to be asked before it is submitted,
/// and whenever it has waited.
void require_wanted(std::string_view name, const ReadRequest& request);

}  // namespace stoker
