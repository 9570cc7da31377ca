#include "stoker/storage/s3/s3_uploads.h"

#include <stop_token>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {
namespace {

constexpr std::size_t kPageMax = 16 << 20;  // a page has 1,000 uploads, with keys of 1 KB, escaped, at most
// Tidying up must not take long, least of all after a stop was asked for.
constexpr std::int64_t kRemovalNs = 10'000'000'000, kRemovalStoppingNs = 500'000'000;

}  // namespace

void S3Uploads::perform(HttpCall& call, const HttpObject& object, std::string_view doing, std::string_view name,
                        std::string* reply) const {
  HttpTransport& transport = objects_->transport();
  const std::shared_ptr<HttpHost> host = transport.host_of(object.url);
  const std::stop_token& stop = transport.options().stop;
  call.url = object.url;
  call.name = name;
  call.doing = doing;
  call.host = host.get();
  call.dialect = bucket_.get();
  call.keeps_fields = true;
  call.reply = reply;
  call.reply_max = kPageMax;
  for (bool is_stopping = stop.stop_requested();; is_stopping = true) {
    call.cleans_up = is_stopping;
    call.deadline_ns = now_ns() + (is_stopping ? kRemovalStoppingNs : kRemovalNs);
    transport.perform(call);
    if (is_stopping || !stop.stop_requested()) break;
  }
  if (call.error) std::rethrow_exception(call.error);
}

std::vector<OpenUpload> S3Uploads::list(const std::string& prefix) const {
  std::vector<OpenUpload> found;
  const std::string name = bucket_->location_of(prefix);
  UploadsPage page;
  do {
    if (!bucket_->lists_uploads()) return {};
    NamedTexts query{{"encoding-type", "url"}, {"prefix", prefix}, {"uploads", ""}};
    if (!page.next_key.empty()) query.emplace_back("key-marker", page.next_key);
    if (!page.next_id.empty()) query.emplace_back("upload-id-marker", page.next_id);
    HttpCall call;
    std::string reply;
    const std::exception_ptr failure =
        thrown_by([&] { perform(call, bucket_->object("", query), "list the uploads of", name, &reply); });
    if (failure && call.is_final) {
      bucket_->does_not_list_uploads();
      return found;
    }
    if (failure) std::rethrow_exception(failure);
    UploadsPage next = parse_uploads(reply, name);
    if (!next.next_key.empty() && next.next_key == page.next_key && next.next_id == page.next_id) {
      fail(ErrorKind::kIo,
           "cannot list the uploads of '{}': two of the store's answers go on in the same place, without end; check it",
           name);
    }
    page = std::move(next);
    found.insert(found.end(), page.uploads.begin(), page.uploads.end());
  } while (!page.next_key.empty());
  return found;
}

void S3Uploads::remove(const OpenUpload& upload) const {
  const std::string name = bucket_->location_of(upload.key);
  HttpCall call;
  call.method = HttpCall::Method::kDelete;
  try {
    perform(call, bucket_->object(upload.key, {{"uploadId", upload.id}}), "remove parts of", name);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
  }
}

void remove_or_warn(std::string_view name, const std::function<void()>& remove) noexcept {
  try {
    remove();
  } catch (const std::exception& error) {
    log(LogLevel::kWarning, "parts of '{}' may stay in the store, and are charged, until they are removed: {}", name,
        error.what());
  }
}

}  // namespace stoker
