// What S3 answers in XML: listings, uploads in parts, and refusals.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct ListedObject {
  std::string key;  // from the bucket's root
  std::uint64_t size = 0;
  std::string tag;  // with its quotes, as a header has it
  timespec modified{};
};

/// One page of a listing: what begins with a prefix, up to the next "/".
struct ListingPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> folders;  // with the "/" at their end
  std::string next;                  // what to ask the next page with; empty after the last page
};

/// Throws kIo, with `name`, for a text that is not such a page.
ListingPage parse_listing(std::string_view xml, std::string_view name);

/// The identity of an upload that was begun. Throws kIo, with `name`, for a text without one.
std::string parse_upload(std::string_view xml, std::string_view name);

/// An upload in parts that was begun, and neither completed nor given up.
struct OpenUpload {
  std::string key;  // of the object
  std::string id;
};

/// One page of such a listing.
struct UploadsPage {
  std::vector<OpenUpload> uploads;
  std::string next_key, next_id;  // what to ask the next page with; empty after the last page
};

/// Throws kIo, with `name`, for a text that is not such a page.
UploadsPage parse_uploads(std::string_view xml, std::string_view name);

/// Why a request was refused; empty where the reply does not say.
struct Refusal {
  std::string code;     // "NoSuchKey"
  std::string message;  // in the store's words
  std::string region;   // where the bucket is
};

/// Never fails.
Refusal parse_refusal(std::string_view xml);

/// The text that completes an upload: its parts' tags, in order.
std::string completed_upload(const std::vector<std::string>& tags);

}  // namespace stoker
