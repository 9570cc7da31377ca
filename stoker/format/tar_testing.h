// Tars made byte by byte, for files that no tool would write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/error.h"
#include "stoker/format/sample_table.h"

namespace stoker {

/// One ustar header (its checksum right) followed by `content` padded to a record. Type '0' is a regular file.
std::string tar_member(std::string_view name, std::string_view content, char type = '0', std::string_view link = {});

/// Two records of zeros.
std::string tar_end();

/// The samples of a tar.
SampleTable scan_tar(Source& source);

/// The bytes of a file.
std::string read_file(const std::string& path);

}  // namespace stoker
