// How a file's name, in a folder or in a tar, splits into the sample's key and the field's name: at the first dot of
// the last component, as WebDataset does ("n01/img7.seg.png" is field "seg.png" of sample "n01/img7").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct MemberName {
  std::string_view key;    // views of the name that was split
  std::string_view field;  // as written; field names are compared in lower case
};

/// Nothing for names that belong to no sample: no dot in the last component, a hidden file, or nothing after the dot.
std::optional<MemberName> split_member_name(std::string_view path);

/// What follows the whole name of an image in its key where another image has the same name up to the first dot:
/// "n01/cd1.1.jpg/image". No other file has that key, since no folder has a file's name; and a tar's member
/// "n01/cd1.1.jpg/image.jpg" is split at the right dot.
inline constexpr std::string_view kKeyBelowName = "/image";

/// The key of a sample whose image is the file of that name, as in a folder: "n01/img7" of "n01/img7.jpg", and
/// "n01/cd1.1.jpg/image" of "n01/cd1.1.jpg".
std::string key_of_file(std::string_view name);

/// The keys that a sample may have of which this is the key, or the name of one of its files.
std::vector<std::string> keys_of_name(std::string_view name);

/// "a/b" of "./a/b", as `tar` writes the files of the folder that it stands in.
std::string_view without_this_folder(std::string_view name);

/// Whether a member's name is of those that describe the shard and belong to no sample, "__meta__/x": WebDataset
/// agrees.
bool is_about_the_shard(std::string_view member);

/// Whether a file of that name would lie outside of the folder that an archive is extracted into: "/a", "a/../b".
bool leads_elsewhere(std::string_view member);

/// Replaces `into` by `text` in lower case (ASCII only).
void assign_lower_case(std::string& into, std::string_view text);

/// Whether a name is this one but for its case (ASCII only).
bool is_called(std::string_view name, std::string_view lower_case);

/// Whether the last extension of a field's name is that of an image which Stoker reads, in either case: "jpg",
/// "seg.PNG".
bool is_image_field_name(std::string_view field);

/// "jpg, png, ...": for messages.
extern const std::string_view kImageExtensions;

}  // namespace stoker
