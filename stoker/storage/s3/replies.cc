#include "stoker/storage/s3/replies.h"

#include <fmt/format.h>

#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/s3/iso_time.h"

namespace stoker {
namespace {

/// The root of a reply, whatever its namespace; an empty node if the text is something else.
pugi::xml_node root_of(pugi::xml_document& document, std::string_view xml, std::string_view name) {
  if (!document.load_buffer(xml.data(), xml.size())) return {};
  const pugi::xml_node root = document.document_element();
  return std::string_view(root.name()) == name ? root : pugi::xml_node();
}

/// The text of a key in a listing that escapes keys as URLs do; nothing for a wrong escape.
std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      plain += ' ';
    } else if (text[at] == '%') {
      const auto byte = text.size() - at > 2 ? parse_number<unsigned char>(text.substr(at + 1, 2), 16) : std::nullopt;
      if (!byte) return std::nullopt;
      plain += static_cast<char>(*byte);
      at += 2;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

/// A tag as a header has it: some stores leave its quotes out of their listings.
std::string quoted(std::string tag) {
  if (tag.empty() || tag.starts_with("W/") || tag.find('"') != std::string::npos) return tag;
  return fmt::format("\"{}\"", tag);
}

/// Reads the elements of a page.
class PageReader {
 public:
  PageReader(const pugi::xml_node& root, std::string_view name)
      : name_(name), escaped_(std::string_view(root.child_value("EncodingType")) == "url") {}

  std::string key(const pugi::xml_node& parent, const char* element) const {
    const std::string_view text = parent.child_value(element);
    auto key = escaped_ ? unescaped(text) : std::optional(std::string(text));
    if (!key || key->empty()) fail_here(element);
    return *std::move(key);
  }

  ListedObject object(const pugi::xml_node& node) const {
    const auto size = parse_number<std::uint64_t>(node.child_value("Size"));
    if (!size) fail_here("Size");
    ListedObject object{key(node, "Key"), *size, quoted(node.child_value("ETag"))};
    // Some stores leave the time out; none is needed.
    if (const auto time = parse_iso_time(node.child_value("LastModified"))) {
      object.modified.tv_sec = time->time_since_epoch().count();
    }
    return object;
  }

 private:
  [[noreturn]] void fail_here(std::string_view element) const {
    fail(ErrorKind::kIo, "cannot list '{}': the store's answer has no valid <{}>", name_, element);
  }

  std::string_view name_;
  bool escaped_;
};

}  // namespace

ListingPage parse_listing(std::string_view xml, std::string_view name) {
  pugi::xml_document document;
  const pugi::xml_node root = root_of(document, xml, "ListBucketResult");
  if (!root) fail(ErrorKind::kIo, "cannot list '{}': the store's answer is not a listing", name);
  const PageReader reader(root, name);
  ListingPage page;
  for (const pugi::xml_node& node : root.children("Contents")) page.objects.push_back(reader.object(node));
  for (const pugi::xml_node& node : root.children("CommonPrefixes")) page.folders.push_back(reader.key(node, "Prefix"));
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next = root.child_value("NextContinuationToken");
    if (page.next.empty()) fail(ErrorKind::kIo, "cannot list '{}': the store's answer is cut off", name);
  }
  return page;
}

std::string parse_upload(std::string_view xml, std::string_view name) {
  pugi::xml_document document;
  std::string upload = root_of(document, xml, "InitiateMultipartUploadResult").child_value("UploadId");
  if (upload.empty()) fail(ErrorKind::kIo, "cannot write '{}': the store's answer has no <UploadId>", name);
  return upload;
}

UploadsPage parse_uploads(std::string_view xml, std::string_view name) {
  pugi::xml_document document;
  const pugi::xml_node root = root_of(document, xml, "ListMultipartUploadsResult");
  if (!root) fail(ErrorKind::kIo, "cannot list the uploads of '{}': the store's answer is not a listing", name);
  const PageReader reader(root, name);
  UploadsPage page;
  for (const pugi::xml_node& node : root.children("Upload")) {
    page.uploads.push_back({reader.key(node, "Key"), node.child_value("UploadId")});
  }
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.next_key = reader.key(root, "NextKeyMarker");
    page.next_id = root.child_value("NextUploadIdMarker");
  }
  return page;
}

Refusal parse_refusal(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node root = root_of(document, xml, "Error");
  return {root.child_value("Code"), root.child_value("Message"), root.child_value("Region")};
}

std::string completed_upload(const std::vector<std::string>& tags) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  int number = 0;
  for (const std::string& tag : tags) {
    pugi::xml_node part = root.append_child("Part");
    part.append_child("PartNumber").text() = ++number;
    part.append_child("ETag").text() = tag.c_str();
  }
  std::ostringstream text;
  document.save(text, "", pugi::format_raw | pugi::format_no_declaration);
  return std::move(text).str();
}

}  // namespace stoker
