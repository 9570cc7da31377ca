// The order of keys within a folder.
#pragma once

#include <string_view>

#include "stoker/storage/folder.h"

namespace stoker {

/// Keys compare as bytes. Of two whose paths are the same up to here: below 0 if the first, whose next component is
/// `a`, sorts first. That may be the key's end, or be followed by a slash.
int compare_keys(std::string_view a, bool slash_after_a, std::string_view b, bool slash_after_b);

/// Entries of a folder, in the order in which the keys of the samples below them sort.
bool key_less(const Folder::Entry& a, const Folder::Entry& b);

}  // namespace stoker
