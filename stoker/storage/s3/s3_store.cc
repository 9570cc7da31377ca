#include "stoker/storage/s3/s3_store.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/kind_of.h"
#include "stoker/storage/s3/s3_writer.h"

namespace stoker {
namespace {

/// Carries the lines of a small request, and keeps the document of a refusal.
class SmallDialect final : public HttpDialect {
 public:
  explicit SmallDialect(const NamedTexts& headers) : headers_(headers) {}

  void add_fields(const HttpCall& /*call*/, std::vector<std::string>& lines) const override {
    for (const auto& [name, value] : headers_) lines.push_back(fmt::format("{}: {}", name, value));
  }
  void explain(const HttpCall& /*call*/, const ResponseHead& /*head*/, std::string_view document,
               Verdict& /*verdict*/) const override {
    document_ = document;
  }
  const std::string& document() const { return document_; }

 private:
  const NamedTexts& headers_;
  mutable std::string document_;
};

HttpCall::Method method_of(std::string_view name) {
  if (name == "GET") return HttpCall::Method::kGet;
  return name == "PUT" ? HttpCall::Method::kPut : HttpCall::Method::kPost;
}

/// Asks a service for keys.
SmallReply ask(HttpTransport& transport, const SmallRequest& request) {
  constexpr std::size_t kReplyMax = 1 << 20;
  const std::string name = shown_url(request.url);
  const std::shared_ptr<HttpHost> host = transport.host_of(request.url);
  const SmallDialect dialect(request.headers);
  SmallReply reply;
  HttpCall call;
  call.method = method_of(request.method);
  call.url = request.url;
  call.name = name;
  call.doing = "get keys from";
  call.host = host.get();
  call.dialect = &dialect;
  call.body = as_bytes(request.body);
  call.reply = &reply.body;
  call.reply_max = kReplyMax;
  call.waits_for_room = false;  // the reads that are under way would take its time
  call.deadline_ns = now_ns() + std::chrono::nanoseconds(request.limit).count();
  transport.perform(call);
  if (call.error && !(call.is_final && call.head.status >= 400)) std::rethrow_exception(call.error);
  reply.status = call.head.status;
  if (call.error) reply.body = dialect.document();
  return reply;
}

/// A tag says all about the content; times differ between listings and answers about an object.
ObjectFacts facts_of(const FoundObject& found) {
  ObjectFacts facts = found.facts;
  if (!facts.tag.empty()) facts.modified = {};
  return facts;
}

constexpr std::string_view kWild = "*?[";
constexpr std::size_t kExpectedInFolder = 256;  // from which on their folder is listed

}  // namespace

S3Store::S3Store(std::string scheme, StoreOptions options, Environment environment,
                 std::shared_ptr<const HttpObjects> objects, bool is_sole_writer)
    : scheme_(std::move(scheme)),
      options_(std::move(options)),
      environment_(std::move(environment)),
      objects_(std::move(objects)),
      is_sole_writer_(is_sole_writer) {
  if (!options_.endpoint.empty()) checked_endpoint(options_.endpoint, "the store's endpoint");
}

S3Store::Place S3Store::place_of(const Location& at) const {
  const std::string_view text = std::string_view(at.text()).substr(scheme_.size() + 3);
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string name(text.substr(0, slash));
  if (name.empty()) fail(ErrorKind::kUsage, "'{}' names no bucket; write {}://bucket/key", at, scheme_);
  if (name.find('@') != std::string::npos) {
    fail(ErrorKind::kUsage, "a {}:// URL holds no keys: write '{}', and set {}", scheme_, at,
         scheme_ == "gs" ? "GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY"
                         : "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const S3Bucket>& bucket = buckets_[name];
  if (!bucket) bucket = make_bucket(name);
  return {.bucket = bucket, .key = std::string(text.substr(std::min(slash + 1, text.size())))};
}

std::shared_ptr<const S3Bucket> S3Store::make_bucket(const std::string& name) const {
  if (scheme_ == "gs") {
    const bool is_set = !options_.endpoint.empty();
    S3Endpoint endpoint = gs_endpoint(
        is_set ? Environment([this](std::string_view) { return std::optional(options_.endpoint); }) : environment_);
    return std::make_shared<S3Bucket>(scheme_, name, std::move(endpoint), credentials());
  }
  const AwsProfile profile = AwsProfile::load(environment_);
  return std::make_shared<S3Bucket>(scheme_, name, endpoint_of(name, profile), credentials());
}

S3Endpoint S3Store::endpoint_of(const std::string& bucket, const AwsProfile& profile) const {
  const Environment with_options = [this](std::string_view name) -> std::optional<std::string> {
    if (name == "AWS_ENDPOINT_URL_S3" && !options_.endpoint.empty()) return options_.endpoint;
    if (name == "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS" && !options_.endpoint.empty()) return std::nullopt;
    if (name == "AWS_REGION" && !options_.region.empty()) return options_.region;
    return environment_(name);
  };
  S3Endpoint endpoint = s3_endpoint(with_options, profile, bucket);
  const bool is_chosen = endpoint.is_custom || region_of(with_options, profile).has_value();
  return is_chosen ? endpoint
                   : s3_endpoint(
                         [&](std::string_view name) {
                           return name == "AWS_REGION" ? std::optional(region_of_bucket(bucket, endpoint))
                                                       : with_options(name);
                         },
                         profile, bucket);
}

/// AWS tells in which region a bucket is, also to users that may not read it.
std::string S3Store::region_of_bucket(const std::string& bucket, const S3Endpoint& endpoint) const {
  const std::string url = endpoint.url_of(bucket, ""), name = fmt::format("{}://{}", scheme_, bucket);
  const std::shared_ptr<HttpHost> host = objects_->transport().host_of(url);
  HttpCall call;
  call.method = HttpCall::Method::kHead;
  call.url = url;
  call.name = name;
  call.doing = "find the region of";
  call.host = host.get();
  call.follows_redirects = false;
  call.keeps_fields = true;
  objects_->transport().perform(call);
  if (call.error && !call.is_final) std::rethrow_exception(call.error);
  const std::string_view region = call.head.field("x-amz-bucket-region");
  return region.empty() ? endpoint.region : std::string(region);
}

std::shared_ptr<CurrentCredentials> S3Store::credentials() const {
  if (options_.anonymous || is_anonymous(environment_)) return nullptr;
  if (!credentials_) {
    CurrentCredentials::Find find;
    if (scheme_ == "gs") {
      find = [environment = environment_] { return find_gs_credentials(environment); };
    } else {
      const CredentialWorld world{
          .environment = environment_,
          .request = [objects = objects_](const SmallRequest& request) { return ask(objects->transport(), request); },
          .now = wall_time};
      // Others may have renewed the keys in the files.
      find = [world] { return find_credentials(world, AwsProfile::load(world.environment)); };
    }
    credentials_ = std::make_shared<CurrentCredentials>(
        std::move(find), wall_time, [objects = objects_] { return objects->transport().make_executor(); });
    credentials_->key();  // here, where a wait does no harm
  }
  return credentials_;
}

bool S3Store::is_folder(const Place& place, std::string_view doing) const {
  return look_at_folder(*objects_, *place.bucket, folder_prefix(place.key), 1, doing);
}

std::optional<ObjectFacts> S3Store::find(const Location& at) const {
  const Place place = place_of(at);
  std::exception_ptr refusal;
  const Presence known = objects_->presence(place.object());
  if (known == Presence::kAbsent) return std::nullopt;
  if (known == Presence::kFolder) return ObjectFacts{.mode = S_IFDIR};
  if (!place.key.empty() && place.key.back() != '/') {
    if (const auto found = objects_->find(place.object(), "look at", refusal)) return facts_of(*found);
    if (at.text().find('{') != std::string::npos) return std::nullopt;
  }
  // What may not be listed may still be read, object by object.
  bool folder = false;
  const std::exception_ptr failure = thrown_by([&] { folder = is_folder(place, "look at"); });
  if (!failure) return folder ? std::optional(ObjectFacts{.mode = S_IFDIR}) : std::nullopt;
  if (refusal) return std::nullopt;
  std::rethrow_exception(failure);
}

ObjectFacts S3Store::stat(const Location& at, std::string_view doing) const {
  const Place place = place_of(at);
  std::exception_ptr refusal;
  if (objects_->presence(place.object()) == Presence::kFolder) return {.mode = S_IFDIR};
  if (!place.key.empty() && place.key.back() != '/') {
    if (const auto found = objects_->find(place.object(), doing, refusal)) return facts_of(*found);
  }
  bool folder = false;
  const std::exception_ptr failure = thrown_by([&] { folder = is_folder(place, doing); });
  if (folder) return {.mode = S_IFDIR};
  // That there is no such object may be since there is no such bucket; that it may not be seen says more than that the
  // bucket may not be listed.
  if (failure && (!refusal || (kind_of(refusal) == ErrorKind::kNotFound && kind_of(failure) == ErrorKind::kNotFound)))
    std::rethrow_exception(failure);
  if (refusal) std::rethrow_exception(refusal);
  fail(ErrorKind::kNotFound, "cannot {} '{}': the bucket has nothing there", doing, at);
}

void S3Store::expect(std::span<const Location> objects) const {
  std::vector<HttpObject> expected;
  const std::exception_ptr ignored = thrown_by([&] {  // it is told where it is asked for by itself
    if (objects.size() >= kExpectedInFolder) list_their_folder(objects);
    for (const Location& at : objects) {
      const Place place = place_of(at);
      if (!place.key.empty() && place.key.back() != '/') expected.push_back(place.object());
    }
  });
  objects_->expect(expected);
}

void S3Store::expect_folder(const Location& folder, std::string_view file) const {
  const Place place = place_of(folder);
  if (!objects_->remembers() || objects_->presence(place.object()) != Presence::kUnknown) return;
  look_at_folder_with_file(*objects_, *place.bucket, place.key, file);
}

// A page of a listing tells of a thousand objects; but they may be few of the many that lie there.
void S3Store::list_their_folder(std::span<const Location> objects) const {
  const Place first = place_of(objects.front());
  const std::string prefix = first.key.substr(0, first.key.rfind('/') + 1);
  const std::exception_ptr ignored = thrown_by([&] {
    const bool are_known = std::all_of(objects.begin(), objects.end(), [&](const Location& at) {
      return objects_->presence(place_of(at).object()) != Presence::kUnknown;
    });
    if (are_known) return;
    look_at_folder(*objects_, *first.bucket, prefix, static_cast<int>(2 + objects.size() / 250), "list");
  });
}

std::unique_ptr<Folder> S3Store::list(const Location& folder) const {
  const Place place = place_of(folder);
  return std::make_unique<S3Folder>(objects_, place.bucket, folder_prefix(place.key));
}

std::vector<Location> S3Store::match(const Location& pattern) const {
  const Place place = place_of(pattern);
  const std::size_t wild = place.key.find_first_of(kWild);
  const bool is_deep = wild != std::string::npos && place.key.find('/', wild) != std::string::npos;
  std::vector<Location> matches;
  const auto take = [&](const std::string& key) {
    if (::fnmatch(place.key.c_str(), key.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) return false;
    matches.emplace_back(place.bucket->location_of(key));
    return true;
  };
  const Listing listing{.prefix = place.key.substr(0, wild), .delimiter = is_deep ? "" : "/"};
  list_pages(*objects_, *place.bucket, listing, [&](ListingPage& page) {
    for (const ListedObject& object : page.objects) {
      if (take(object.key)) objects_->remember(place.bucket->object(object.key), found_by(object));
    }
    for (std::string& folder : page.folders) {
      folder.pop_back();
      take(folder);
    }
    return true;
  });
  std::sort(matches.begin(), matches.end());
  return matches;
}

std::shared_ptr<Source> S3Store::open(const Location& at) const {
  const Place place = place_of(at);
  if (place.key.empty() || place.key.back() == '/') {
    fail(ErrorKind::kUsage, "'{}' is a folder, but a file is needed", at);
  }
  return objects_->open(place.object());
}

std::shared_ptr<Source> S3Store::open_folder(const Location& folder) const {
  const Place place = place_of(folder);
  return std::make_shared<S3FolderSource>(objects_, place.bucket, folder_prefix(place.key));
}

std::unique_ptr<ObjectWriter> S3Store::put(const Location& at) const {
  const Place place = place_of(at);
  if (place.key.empty() || place.key.back() == '/') fail(ErrorKind::kUsage, "'{}' names no object to write", at);
  return std::make_unique<S3Writer>(objects_, place.bucket, place.key, is_sole_writer_);
}

std::shared_ptr<const Store> S3Store::for_writer(std::string_view /*writer*/) const {
  return std::make_shared<S3Store>(scheme_, options_, environment_, objects_, false);
}

void S3Store::remove_unfinished(const Location& folder) const {
  const Place place = place_of(folder);
  const std::string prefix = folder_prefix(place.key);
  const S3Uploads uploads(objects_, place.bucket);
  remove_or_warn(folder.shown(), [&] {
    for (const OpenUpload& upload : uploads.list(prefix)) {
      if (upload.key.find('/', prefix.size()) == std::string::npos) uploads.remove(upload);
    }
  });
}

void S3Store::remove(const Location& at) const {
  const Place place = place_of(at);
  const HttpObject object = place.object();
  const std::shared_ptr<HttpHost> host = objects_->transport().host_of(object.url);
  HttpCall call;
  call.method = HttpCall::Method::kDelete;
  call.url = object.url;
  call.name = object.name;
  call.doing = "remove";
  call.host = host.get();
  call.dialect = place.bucket.get();
  call.keeps_fields = true;
  objects_->transport().perform(call);
  objects_->forget(object);
  if (call.error && call.head.status != 404) std::rethrow_exception(call.error);
}

}  // namespace stoker
