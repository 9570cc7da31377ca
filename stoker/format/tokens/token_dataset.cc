#include "stoker/format/tokens/token_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/random.h"
#include "stoker/base/units.h"
#include "stoker/format/tokens/token_columns.h"
#include "stoker/storage/arranged_source.h"

namespace stoker {
namespace {

constexpr std::int64_t kTokensMost = std::int64_t{1} << 27;  // of a sample

/// The documents of a file in another order, drawn by the seed and the file's number.
void shuffle_documents(TokenFile& file, std::uint64_t seed, std::uint64_t number) {
  const std::vector<std::uint64_t> begins = std::exchange(file.documents, {});
  std::vector<std::uint64_t> order(begins.size() - 1);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  Random random(seed, 0, number, random_stream("tokens", "documents", 0));
  for (std::uint64_t left = order.size(); left > 1; --left) std::swap(order[random.below(left)], order[left - 1]);
  const auto stretches = std::make_shared<StretchOrder>();
  stretches->reserve(order.size());
  const std::uint64_t size = size_of(file.type);
  for (const std::uint64_t document : order) {
    stretches->add(file.offset + begins[document] * size, (begins[document + 1] - begins[document]) * size);
  }
  file.source = std::make_shared<ArrangedSource>(std::move(file.source), stretches);
  file.offset = 0;
  file.tokens = stretches->length() / size;
}

class TokenDataset final : public Dataset {
 public:
  TokenDataset(std::vector<TokenFile> files, TrafficMeters meters, bool is_direct, const TokenSamples& options)
      : files_(std::move(files)),
        meters_(std::move(meters)),
        is_direct_(is_direct),
        length_(options.length.value_or(0)),
        streams_(options.streams),
        document_seed_(options.document_seed) {
    field_names_ = {fmt::format("tokens.{}", to_string(files_.front().type))};
    for (const TokenFile& file : files_) {
      prefixes_.push_back(file.key_prefix);
      first_samples_.push_back(first_samples_.back() + samples_of(file));
    }
    if (first_samples_.back() == 0) {
      const TokenFile& longest = *std::ranges::max_element(files_, {}, &TokenFile::tokens);
      fail(ErrorKind::kData, "'{}'{} has too few tokens for a sequence of {} and the one after it: {}",
           longest.source->name(),
           files_.size() == 1 ? "" : fmt::format(", the longest of {},", counted(files_.size(), "file")), length_,
           longest.tokens);
    }
    if (streams_ > 0) {
      if (first_samples_.back() < streams_) {
        fail(ErrorKind::kUsage, "there are {} sequences, too few for {} streams", first_samples_.back(), streams_);
      }
      stream_length_ = first_samples_.back() / streams_;
    }
  }

  std::int64_t size() const override { return streams_ > 0 ? streams_ * stream_length_ : first_samples_.back(); }
  const std::vector<std::string>& classes() const override { return classes_; }
  const std::vector<std::string>& field_names() const override { return field_names_; }
  void prepare(std::span<const std::int64_t>) const override {}

  void read(std::int64_t sample, SampleRow& into) const override {
    assert(sample >= 0 && sample < size());
    const std::int64_t number = streams_ > 0 ? sample % streams_ * stream_length_ + sample / streams_ : sample;
    const auto next = std::upper_bound(first_samples_.begin(), first_samples_.end(), number);
    const auto at = static_cast<std::size_t>(next - first_samples_.begin()) - 1;
    const TokenFile& file = files_[at];
    const auto in_file = static_cast<std::uint64_t>(number - first_samples_[at]);
    std::uint64_t begin, count;
    if (length_ > 0) {
      begin = in_file * static_cast<std::uint64_t>(length_);
      count = static_cast<std::uint64_t>(length_) + 1;
    } else {
      begin = file.documents[in_file];
      count = file.documents[in_file + 1] - begin;
    }
    into.clear();
    into.key.assign(prefixes_[at]);
    fmt::format_to(std::back_inserter(into.key), "{:08}", in_file);
    into.source = file.source.get();
    into.fields.push_back({.name = field_names_.front(),
                           .part = {},
                           .offset = file.offset + begin * size_of(file.type),
                           .length = count * size_of(file.type)});
  }

  std::vector<std::int64_t> shard_samples() const override {
    if (streams_ > 0) return {size()};
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < files_.size(); ++i) counts.push_back(first_samples_[i + 1] - first_samples_[i]);
    return counts;
  }

  std::uint64_t bytes() const override {
    std::uint64_t sum = 0;
    for (const TokenFile& file : files_) sum += file.tokens * size_of(file.type);
    return sum;
  }

  TrafficMeters meters() const override { return meters_; }
  bool is_direct() const override { return is_direct_; }
  std::int64_t streams() const override { return streams_; }
  std::vector<std::uint64_t> field_sizes(std::string_view field) const override {
    if (length_ == 0 || field != field_names_.front()) return {};
    return {(static_cast<std::uint64_t>(length_) + 1) * size_of(files_.front().type)};
  }

  std::uint64_t fingerprint() const override {
    std::string all = fmt::format("tokens {} {} {}\n", field_names_.front(), length_, streams_);
    if (document_seed_) all += fmt::format("documents {}\n", *document_seed_);
    for (std::size_t i = 0; i < files_.size(); ++i) all += fmt::format("{} {}\n", prefixes_[i], files_[i].tokens);
    return hash64(all);
  }

 private:
  std::int64_t samples_of(const TokenFile& file) const {
    if (length_ == 0) return std::ssize(file.documents) - 1;
    return file.tokens == 0 ? 0 : static_cast<std::int64_t>((file.tokens - 1) / static_cast<std::uint64_t>(length_));
  }

  std::vector<TokenFile> files_;
  TrafficMeters meters_;
  bool is_direct_;
  std::int64_t length_, streams_, stream_length_ = 0;
  std::optional<std::uint64_t> document_seed_;
  std::vector<std::string> field_names_, classes_, prefixes_;
  std::vector<std::int64_t> first_samples_{0};  // of each file, and all last
};

void check(const TokenSamples& options) {
  if (options.length && (*options.length < 1 || *options.length > kTokensMost)) {
    fail(ErrorKind::kUsage, "length is {}, but must be at least 1 and at most {}", *options.length, kTokensMost);
  }
  if (options.streams < 0 || (options.streams > 0 && !options.length)) {
    fail(ErrorKind::kUsage, "streams are made of sequences: name their length, and at least one stream");
  }
  if (options.document_seed && !options.length) {
    fail(ErrorKind::kUsage, "a document_seed is for sequences, whose documents it shuffles: name their length");
  }
}

bool needs_documents(const TokenSamples& options) { return !options.length || options.document_seed; }

std::shared_ptr<const Dataset> samples_of(std::vector<TokenFile> files, TrafficMeters meters, bool is_direct,
                                          const TokenSamples& options) {
  if (options.document_seed) {
    for (std::size_t i = 0; i < files.size(); ++i) shuffle_documents(files[i], *options.document_seed, i);
  }
  return std::make_shared<TokenDataset>(std::move(files), std::move(meters), is_direct, options);
}

}  // namespace

std::shared_ptr<const Dataset> open_tokens(const std::vector<Location>& named, const Stores& stores,
                                           const TokenSamples& options, const std::stop_token& stop) {
  if (named.empty()) fail(ErrorKind::kUsage, "no file of tokens was named");
  check(options);
  stores.expect(named);
  std::vector<Location> files;
  for (const Location& at : named) {
    for (Location& file : find_token_files(stores, at, options.type)) files.push_back(std::move(file));
  }
  stores.expect(files);
  std::vector<TokenFile> opened;
  TrafficMeters meters;
  for (const Location& at : files) {
    if (stop.stop_requested()) fail(ErrorKind::kClosed, "stopped while files of tokens were opened");
    if (auto meter = stores.of(at).meter()) add_meters({std::move(meter)}, meters);
    opened.push_back(open_token_file(stores, at, options.type, needs_documents(options)));
    const TokenFile& file = opened.back();
    if (file.type != opened.front().type) {
      fail(ErrorKind::kData, "'{}' has tokens of type {}, and '{}' of type {}", opened.front().source->name(),
           to_string(opened.front().type), file.source->name(), to_string(file.type));
    }
    if (needs_documents(options) && file.documents.size() < 2) {
      fail(ErrorKind::kUsage, "'{}' does not say where documents begin, as an .idx and the rows of an array do; {}",
           file.source->name(), options.length ? "leave out document_seed" : "name a length of sequences");
    }
  }
  return samples_of(std::move(opened), std::move(meters), stores.is_direct(), options);
}

std::shared_ptr<const Dataset> open_tokens_of(const std::shared_ptr<const Dataset>& data, const TokenSamples& options,
                                              const std::stop_token& stop) {
  check(options);
  return samples_of(open_token_columns(data, options.field, options.type, needs_documents(options), stop),
                    data->meters(), data->is_direct(), options);
}

}  // namespace stoker
