#include "stoker/storage/hf/hf_snapshot.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"

namespace stoker {
namespace {

// A page has 1,000 entries. The reply about a revision may list all files of the repository, where a mirror ignores
// that only the commit is asked for.
constexpr std::size_t kReplyBytesMax = 256 << 20;
constexpr int kPagesMax = 100'000;

std::exception_ptr refusal_of(const HfQuestion& question, std::string_view why) {
  return std::make_exception_ptr(
      Error(ErrorKind::kNotFound, fmt::format("cannot {} '{}': {}", question.doing, question.name, why)));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// One page of the listing of a folder.
std::vector<HfEntry> entries_in(const std::string& folder, std::string_view json) {
  std::vector<HfEntry> entries = parse_hf_tree(json);
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (const HfEntry& entry : entries) {
    if (!entry.path.starts_with(prefix)) fail(ErrorKind::kData, "the hub lists what is not in the folder");
  }
  return entries;
}

}  // namespace

HfAnswer<HfReply> ask_hub(HttpTransport& transport, const HfDialect& dialect, std::string_view url,
                          const HfQuestion& question, ResponseHead* head) {
  const std::shared_ptr<HttpHost> host = transport.host_of(url);
  HfReply reply;
  HttpCall call;
  call.url = url;
  call.name = question.name;
  call.doing = question.doing;
  call.host = host.get();
  call.dialect = &dialect;
  call.reply = &reply.text;
  call.reply_max = kReplyBytesMax;
  call.keeps_fields = true;
  transport.perform(call);
  if (head != nullptr) *head = call.head;
  if (!call.error) {
    reply.next = call.head.field("link");
    return {.value = std::move(reply)};
  }
  if (!call.is_final || call.head.status < 400) std::rethrow_exception(call.error);
  return {.refusal = call.error};
}

HfListing::HfListing(std::vector<HfEntry> entries) : entries_(std::move(entries)) {
  std::sort(entries_.begin(), entries_.end(), [](const HfEntry& a, const HfEntry& b) { return a.path < b.path; });
}

const HfEntry* HfListing::find(std::string_view path) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), path,
                       [](const HfEntry& entry, std::string_view wanted) { return entry.path < wanted; });
  return found != entries_.end() && found->path == path ? &*found : nullptr;
}

HfSnapshot::HfSnapshot(HfRepository repository, std::string commit, const HfAccess& access,
                       std::shared_ptr<HttpTransport> transport)
    : repository_(std::move(repository)),
      commit_(std::move(commit)),
      endpoint_(access.endpoint),
      dialect_(std::make_shared<HfDialect>(repository_, access)),
      transport_(std::move(transport)) {}

HfAnswer<HfEntry> HfSnapshot::find(const std::string& path, const HfQuestion& question) const {
  const auto listing = list(folder_of(path), false, question);
  if (!listing.value) return {.refusal = listing.refusal};
  const HfEntry* const entry = *listing.value ? (*listing.value)->find(path) : nullptr;
  if (entry == nullptr) return {.refusal = refusal_of(question, no_entry_in(repository_))};
  return {.value = *entry};
}

HfAnswer<std::shared_ptr<const HfListing>> HfSnapshot::list(const std::string& folder, bool recursive,
                                                            const HfQuestion& question) const {
  // In a forked child nothing is remembered, since the lock may be held for ever.
  if (recursive || !home_.here()) return ask(folder, recursive, question);
  const std::lock_guard lock(mutex_);
  if (const auto known = folders_.find(folder); known != folders_.end()) return {.value = known->second};
  auto answer = ask(folder, recursive, question);
  if (answer.value) folders_.emplace(folder, *answer.value);
  return answer;
}

HfAnswer<std::shared_ptr<const HfListing>> HfSnapshot::ask(const std::string& folder, bool recursive,
                                                           const HfQuestion& question) const {
  const std::string first = hf_tree_url(endpoint_, repository_, commit_, folder, recursive);
  std::vector<HfEntry> entries;
  std::string url = first;
  for (int pages = 0; pages < kPagesMax; ++pages) {
    ResponseHead head;
    const HfAnswer<HfReply> reply = ask_hub(*transport_, *dialect_, url, question, &head);
    if (!reply.value && pages == 0 && !folder.empty() && says_no_entry(head)) {
      return {.value = std::shared_ptr<const HfListing>()};
    }
    if (!reply.value) return {.refusal = reply.refusal};
    std::vector<HfEntry> page = parse_reply(question, [&] { return entries_in(folder, reply.value->text); });
    std::move(page.begin(), page.end(), std::back_inserter(entries));
    const std::optional<std::string> next = parse_reply(question, [&] { return parse_hf_next(reply.value->next); });
    if (!next) return {.value = std::make_shared<const HfListing>(std::move(entries))};
    url = first.substr(0, first.find('?')) + *next;
  }
  fail(ErrorKind::kLimit, "cannot {} '{}': the hub's listing has no end", question.doing, question.name);
}

std::unique_ptr<HttpSource> HfSnapshot::open(const HfEntry& file, std::string name) const {
  // The place where the hub keeps the content has tags of its own. What a commit names does not change.
  return std::make_unique<HttpSource>(HttpObject{.url = hf_file_url(endpoint_, repository_, commit_, file.path),
                                                 .name = std::move(name),
                                                 .dialect = dialect_,
                                                 .revision = file.tag.empty() ? commit_ : file.tag,
                                                 .keeps_redirect = true},
                                      ObjectVersion{.size = file.size}, transport_, parts_);
}

std::uint64_t HfSnapshot::number_of(std::string_view folder) const {
  return hash64(fmt::format("{} {} {} {}", repository_.kind_name(), repository_.name, commit_, folder));
}

}  // namespace stoker
