#include "tests/store_server/uploads.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>

#include "stoker/base/parse_number.h"
#include "stoker/storage/s3/replies.h"
#include "tests/store_server/xml_answer.h"

namespace stoker {
namespace {

constexpr std::size_t kPartLeast = 5 << 20;  // but for the last: S3's limit

std::vector<unsigned char> md5(std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(content.data(), content.size(), digest.data(), &length, EVP_md5(), nullptr) != 1) return {};
  return {digest.begin(), digest.begin() + length};
}

std::string hex(const std::vector<unsigned char>& bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

}  // namespace

std::string content_tag(std::string_view content) { return fmt::format("\"{}\"", hex(md5(content))); }

Answer Uploads::begin(const RequestHead& asked) {
  const std::string id = fmt::format("upload/{}+=", ++begun_);
  uploads_[{asked.path, id}].begun = std::time(nullptr);
  return xml_answer(fmt::format(
      "<InitiateMultipartUploadResult><UploadId>{}</UploadId></InitiateMultipartUploadResult>", xml_escaped(id)));
}

Answer Uploads::take_part(const RequestHead& asked, std::string body) {
  const auto upload = uploads_.find(key_of(asked));
  if (upload == uploads_.end()) return refusal("404 Not Found", "NoSuchUpload");
  const auto number = parse_number<int>(asked.queried("partNumber"));
  if (!number || *number < 1 || *number > 10'000) return refusal("400 Bad Request", "InvalidArgument");
  Answer answer = Answer::of_status("200 OK");
  answer.fields["ETag"] = content_tag(body);
  upload->second.parts[*number] = {std::move(body), answer.fields["ETag"]};
  return answer;
}

std::optional<Uploads::Whole> Uploads::complete(const RequestHead& asked, std::string_view list, Answer& answer) {
  const auto upload = uploads_.find(key_of(asked));
  answer = refusal("404 Not Found", "NoSuchUpload");
  if (upload == uploads_.end()) return std::nullopt;
  std::vector<std::string> tags;
  std::string sums;
  Whole whole;
  for (const auto& [number, part] : upload->second.parts) {
    answer = refusal("400 Bad Request", "EntityTooSmall");
    if (tags.size() + 1 < upload->second.parts.size() && part.content.size() < kPartLeast) return std::nullopt;
    const std::vector<unsigned char> sum = md5(part.content);
    sums.append(sum.begin(), sum.end());
    whole.content += part.content;
    tags.push_back(part.tag);
  }
  answer = refusal("400 Bad Request", "InvalidPart");
  if (list != completed_upload(tags)) return std::nullopt;
  uploads_.erase(upload);
  whole.tag = fmt::format("\"{}-{}\"", hex(md5(sums)), tags.size());
  answer = xml_answer(fmt::format("<CompleteMultipartUploadResult><ETag>{}</ETag></CompleteMultipartUploadResult>",
                                  xml_escaped(whole.tag)));
  return whole;
}

Answer Uploads::abort(const RequestHead& asked) {
  if (uploads_.erase(key_of(asked)) == 0) return refusal("404 Not Found", "NoSuchUpload");
  return Answer::of_status("204 No Content");
}

Answer Uploads::list(const RequestHead& asked) const {
  const std::string prefix = asked.queried("prefix"), bucket = asked.path.substr(0, asked.path.find('/', 1)) + "/";
  const std::size_t most = parse_number<std::size_t>(asked.queried("max-uploads")).value_or(1000);
  const Key after{bucket + asked.queried("key-marker"), asked.queried("upload-id-marker")};
  std::string listed, next;
  std::size_t count = 0;
  for (const auto& [key, upload] : uploads_) {
    const auto& [path, id] = key;
    if (!path.starts_with(bucket + prefix) || key <= after) continue;
    if (count++ == most) {
      listed += fmt::format("<IsTruncated>true</IsTruncated>{}", next);
      break;
    }
    const std::string name = percent_encoded(path.substr(bucket.size()));
    next = fmt::format("<NextKeyMarker>{}</NextKeyMarker><NextUploadIdMarker>{}</NextUploadIdMarker>", name,
                       xml_escaped(id));
    listed += fmt::format(
        "<Upload><Key>{}</Key><UploadId>{}</UploadId><Initiated>{:%Y-%m-%dT%H:%M:%S}.000Z</Initiated></Upload>", name,
        xml_escaped(id), fmt::gmtime(upload.begun));
  }
  return xml_answer(fmt::format(
      "<ListMultipartUploadsResult><EncodingType>url</EncodingType>{}</ListMultipartUploadsResult>", listed));
}

}  // namespace stoker
