#include "tests/store_server/object_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/storage/s3/signature.h"
#include "tests/store_server/xml_answer.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string tag_of(const struct stat& facts) {
  return fmt::format("\"{:x}-{:x}{:09x}-{:x}\"", facts.st_ino, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                     facts.st_size);
}

struct Listed {
  std::string key;
  struct stat facts;
};

/// The bucket's files with this prefix, in the order of their keys' bytes. Other folders are not walked: a listing
/// takes as long as it would in a bucket without them.
std::vector<Listed> files_below(const fs::path& bucket, std::string_view prefix, std::string_view after) {
  std::vector<Listed> found;
  const fs::path folders = prefix.substr(0, prefix.rfind('/') + 1);
  if (folders.is_absolute() || std::find(folders.begin(), folders.end(), "..") != folders.end()) return found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(bucket / folders, none)) {
    std::string key = entry.path().lexically_relative(bucket).generic_string();
    if (!entry.is_regular_file() || !key.starts_with(prefix) || key <= after) continue;
    Listed one{std::move(key), {}};
    if (::stat(entry.path().c_str(), &one.facts) == 0) found.push_back(std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const Listed& a, const Listed& b) { return a.key < b.key; });
  return found;
}

}  // namespace

Answer ObjectFolder::answer(const RequestHead& asked, std::string body) {
  const fs::path path(asked.path);
  if (std::find(path.begin(), path.end(), "..") != path.end()) return refusal("400 Bad Request", "InvalidURI");
  if (asked.writes()) return write(asked, std::move(body));
  if (asked.step() == "uploads") return uploads_.list(asked);
  if (asked.method != "GET" && asked.method != "HEAD") return refusal("405 Method Not Allowed", "MethodNotAllowed");
  Answer answer = asked.query.contains("list-type") ? listing(asked) : object(asked);
  if (asked.method == "HEAD") {
    answer.text.clear();
    answer.length = 0;
  }
  return answer;
}

Answer ObjectFolder::object(const RequestHead& asked) const {
  Answer answer;
  const fs::path path = folder_ / fs::path(asked.path).relative_path();
  answer.file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!answer.file || ::fstat(answer.file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return refusal("404 Not Found", "NoSuchKey");
  }
  const std::string tag = tag_at(path, facts), wanted = asked.field("if-match");
  if (!wanted.empty() && wanted != tag) return refusal("412 Precondition Failed", "PreconditionFailed");
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  answer.length = size;
  if (const auto range = parse_byte_range(asked.field("range"), size)) {
    if (range->length == 0) return refusal("416 Range Not Satisfiable", "InvalidRange");
    answer.status = "206 Partial Content";
    answer.first = range->first;
    answer.length = range->length;
    answer.fields["Content-Range"] =
        fmt::format("bytes {}-{}/{}", range->first, range->first + range->length - 1, size);
  }
  answer.fields["Content-Length"] = fmt::to_string(answer.length);
  answer.fields["Content-Type"] = "application/octet-stream";
  answer.fields["ETag"] = tag;
  answer.fields["Last-Modified"] = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(facts.st_mtime));
  answer.fields["Accept-Ranges"] = "bytes";
  return answer;
}

/// ListObjectsV2, of a bucket by its path.
Answer ObjectFolder::listing(const RequestHead& asked) const {
  const fs::path bucket = (folder_ / fs::path(asked.path).relative_path()) / "";
  if (!fs::is_directory(bucket)) return refusal("404 Not Found", "NoSuchBucket");
  const std::string prefix = asked.queried("prefix"), delimiter = asked.queried("delimiter");
  const std::string token = asked.queried("continuation-token"), start = asked.queried("start-after");
  const std::size_t most = parse_number<std::size_t>(asked.queried("max-keys")).value_or(1000);
  const auto shown = [&](const std::string& key) {
    return asked.queried("encoding-type") == "url" ? percent_encoded(key) : xml_escaped(key);
  };
  std::string contents, last;
  std::set<std::string> folders;
  std::size_t count = 0;
  bool truncated = false;
  for (const Listed& one : files_below(bucket.parent_path(), prefix, std::max(token, start))) {
    const std::size_t end = delimiter.empty() ? std::string::npos : one.key.find(delimiter, prefix.size());
    const std::string folder = end == std::string::npos ? "" : one.key.substr(0, end + delimiter.size());
    const bool known = !folder.empty() && (folders.contains(folder) || token.starts_with(folder));
    if (!known && count == most) {
      truncated = true;
      break;
    }
    last = one.key;
    if (known) continue;
    ++count;
    if (!folder.empty()) {
      folders.insert(folder);
      continue;
    }
    contents += fmt::format(
        "<Contents><Key>{}</Key><LastModified>{:%Y-%m-%dT%H:%M:%S}.000Z</LastModified><ETag>{}</ETag><Size>{}</Size>"
        "<StorageClass>STANDARD</StorageClass></Contents>",
        shown(one.key), fmt::gmtime(one.facts.st_mtime), xml_escaped(tag_at(bucket / one.key, one.facts)),
        one.facts.st_size);
  }
  for (const std::string& folder : folders) {
    contents += fmt::format("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", shown(folder));
  }
  if (truncated) contents += fmt::format("<NextContinuationToken>{}</NextContinuationToken>", xml_escaped(last));
  return xml_answer(fmt::format(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>{}</Name>"
      "<Prefix>{}</Prefix><KeyCount>{}</KeyCount><MaxKeys>{}</MaxKeys><IsTruncated>{}</IsTruncated>{}"
      "</ListBucketResult>",
      xml_escaped(bucket.parent_path().filename().string()), shown(prefix), count, most, truncated, contents));
}

Answer ObjectFolder::write(const RequestHead& asked, std::string body) {
  const fs::path path = folder_ / fs::path(asked.path).relative_path();
  if (!fs::is_directory(folder_ / *fs::path(asked.path).relative_path().begin())) {
    return refusal("404 Not Found", "NoSuchBucket");
  }
  const std::string digest = asked.field("x-amz-content-sha256");
  if (digest.size() == 64 && digest != sha256_hex(as_bytes(body))) {
    return refusal("400 Bad Request", "XAmzContentSHA256Mismatch");
  }
  const std::string_view step = asked.step();
  if (step == "initiate") return uploads_.begin(asked);
  if (step == "part") return uploads_.take_part(asked, std::move(body));
  if (step == "abort") return uploads_.abort(asked);
  Answer answer = Answer::of_status("204 No Content");
  if (step == "put") {
    answer = Answer::of_status("200 OK");
    answer.fields["ETag"] = content_tag(body);
    put(path, body, answer.fields["ETag"]);
  } else if (step == "complete") {
    if (const auto whole = uploads_.complete(asked, body, answer)) put(path, whole->content, whole->tag);
  } else if (step == "delete") {
    fs::remove(path);
  } else {
    return refusal("405 Method Not Allowed", "MethodNotAllowed");
  }
  return answer;
}

/// Outside of all buckets until it is whole: a listing must not show what is half written.
void ObjectFolder::put(const fs::path& path, std::string_view content, std::string tag) {
  const fs::path written = folder_ / ".written";
  {
    const FileDescriptor file(::open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) fail_system("create", written.string(), errno);
    write_fully(file, as_bytes(content), written.string());
  }
  fs::create_directories(path.parent_path());
  fs::rename(written, path);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) tags_[path] = {tag_of(facts), std::move(tag)};
}

/// What was written here has the tag that stores give it, until a test puts another file in its place.
std::string ObjectFolder::tag_at(const fs::path& path, const struct stat& facts) const {
  std::string tag = tag_of(facts);
  const auto written = tags_.find(path);
  return written != tags_.end() && written->second.first == tag ? written->second.second : tag;
}

}  // namespace stoker
