#include "stoker/pack/data_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/codec/own_decoder.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/labels.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/open/shard_opener.h"
#include "stoker/pack/repeated_keys.h"
#include "stoker/pack/sample_check.h"
#include "stoker/pack/sample_sweep.h"

namespace stoker {
namespace {

// More bad samples are counted, not named.
constexpr std::int64_t kNamedMax = 20;

class InfoJob {
 public:
  explicit InfoJob(const InfoOptions& options)
      : options_(options),
        opener_(options.stores, {.folder = options.index_folder, .images = options.fields.image},
                std::size_t{16} << 20) {}

  DataInfo run(const std::vector<std::string>& data) {
    Manifests manifests(options_.stores);
    std::vector<OpenedShard> shards;
    std::vector<Location> locations;  // of them
    std::int64_t total = 0;
    const std::vector<FoundShard> found = find_shards(data, options_.stores, manifests, options_.stop);
    add_problems(manifests.take_problems());
    for (const FoundShard& shard : found) {
      ++info_.shards;
      add_field_names({std::string(shard.format->name())}, info_.formats);
      go_on_after_damage(shard.location, [&] {
        stop_if_asked(options_.stop, shard.location.shown());
        shards.push_back(open(shard, manifests));
        locations.push_back(shard.location);
        total += shards.back().rows->size();
      });
      add_problems(manifests.take_problems());
    }
    choose_fields(shards);
    if (options_.sample) describe_example(shards, locations, total);
    if (options_.progress) options_.progress(0, total);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      go_on_after_damage(locations[i], [&] { add_shard(shards[i], first); });
      first += shards[i].rows->size();
      if (options_.progress) options_.progress(info_.samples, total);
    }
    if (info_.classes == 0) info_.classes = static_cast<std::int64_t>(labels_.size());
    if (bad_ > kNamedMax) info_.problems.push_back(fmt::format("{} more bad samples", bad_ - kNamedMax));
    return std::move(info_);
  }

 private:
  void add_problems(const std::vector<std::string>& problems) {
    info_.problems.insert(info_.problems.end(), problems.begin(), problems.end());
  }

  /// A shard that is broken is a problem of the data set; the others tell what they hold.
  template <typename Look>
  void go_on_after_damage(const Location& shard, const Look& look) {
    try {
      look();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kClosed) {
        fail(ErrorKind::kClosed, "stopped after {}", counted(info_.samples, "sample"));
      }
      if (!is_about_data(error.kind(), !shard.is_local())) throw;
      info_.problems.push_back(error.message());
    }
  }

  OpenedShard open(const FoundShard& shard, Manifests& manifests) {
    const Manifests::Found listed = manifests.find(shard.location);
    std::string contradiction;
    if (listed.shard) {
      contradiction = contradiction_of_bytes(*listed.shard, options_.stores.open(shard.location));
      if (!contradiction.empty()) info_.problems.push_back(contradiction);
    }
    OpenedShard opened = opener_.open(shard, options_.stop);
    if (listed.shard && contradiction.empty()) {
      const ShardRows& rows = *opened.rows;
      contradiction = contradiction_of_samples(*listed.shard, shard.location.shown(), rows.fingerprint(), rows.bytes());
      if (!contradiction.empty()) info_.problems.push_back(contradiction);
    }
    add_problems(opened.problems);
    const std::vector<std::string>& named = listed.manifest ? listed.manifest->classes : opened.classes;
    if (!named.empty()) info_.classes = static_cast<std::int64_t>(named.size());
    if (!named.empty()) class_names_ = named;
    return opened;
  }

  /// With a field of labels, of all shards: names are numbered together.
  void choose_fields(const std::vector<OpenedShard>& shards) {
    std::vector<std::string> names;
    for (const OpenedShard& shard : shards) add_field_names(shard.rows->field_names(), names);
    if (names.empty()) return;
    fields_ = resolved(options_.fields, names);
    if (fields_.label.empty()) return;
    FieldTexts texts(fields_.label);
    SampleRow row;
    for (const OpenedShard& shard : shards) {
      ShardStream stream(shard);
      while (stream.next(row)) {
        stop_if_asked(options_.stop, row.key);
        texts.add(row);
      }
    }
    Labels labels = labels_of_texts(texts.take(), class_names_, fields_.label);
    class_names_ = std::move(labels.classes);
    chosen_labels_ = std::move(labels.numbers);
    info_.classes = static_cast<std::int64_t>(class_names_.size());
  }

  /// `sample`: its number in the data set.
  std::int64_t label_of(const SampleRow& row, std::int64_t sample) const {
    return chosen_labels_.empty() ? row.label : chosen_labels_[static_cast<std::size_t>(sample)];
  }

  void describe_example(const std::vector<OpenedShard>& shards, const std::vector<Location>& locations,
                        std::int64_t total) {
    const std::int64_t number = *options_.sample;
    if (number >= total) fail(ErrorKind::kUsage, "there is no sample {}: the data set has {}", number, total);
    std::size_t shard = 0;
    std::int64_t row_number = number;
    while (row_number >= shards[shard].rows->size()) row_number -= shards[shard++].rows->size();
    go_on_after_damage(locations[shard], [&] {
      SampleRow row;
      shards[shard].rows->read(row_number, row);
      row.source = shards[shard].source.get();
      if (!fields_.image.empty()) row.choose_image(fields_.image);
      row.label = label_of(row, number);
      SampleDescription sample = describe_sample(row, locations[shard], options_.stores, options_.limits);
      sample.number = number;
      if (row.label >= 0 && row.label < static_cast<std::int64_t>(class_names_.size())) {
        sample.class_name = class_names_[static_cast<std::size_t>(row.label)];
      }
      info_.sample = std::move(sample);
    });
  }

  /// `sample`: the number of its first in the data set.
  void add_shard(const OpenedShard& shard, std::int64_t sample) {
    name_repeated_keys(shard);
    const auto* index = dynamic_cast<const ShardIndex*>(shard.rows.get());
    // What a scan left in the cache says where samples lie, and nothing of their images.
    const bool is_indexed = index != nullptr && index->trailer().has_checksums;
    if (is_indexed) ++info_.indexed;
    add_field_names(shard.rows->field_names(), info_.fields);
    ShardStream stream(shard, fields_.image);
    if (is_indexed && fields_.image.empty()) {
      SampleRow row;
      while (stream.next(row)) {
        add(row, label_of(row, sample++), row.soundness == Soundness::kBad ? bad_in_index(row) : "");
      }
      return;
    }
    const SweepOptions sweeping{
        .threads = options_.threads, .stop = options_.stop, .memory = options_.memory, .bad_if_unread = true};
    const bool of_images = !fields_.image.empty() || expects_images(shard.rows->field_names());
    SampleSweep sweep(stream, sweeping, [&] {
      return [of_images, decoder = std::make_shared<AnyImageDecoder>(options_.limits)](SweptSample& swept) {
        look(swept, *decoder, of_images);
      };
    });
    while (const SweptSample* swept = sweep.next()) add(swept->row, label_of(swept->row, sample++), swept->bad);
  }

  void name_repeated_keys(const OpenedShard& shard) {
    const RepeatedKeys found = find_repeated_keys(*shard.rows, shard.source->name(), options_.stop);
    if (found.count > 0) info_.problems.push_back(found.sentence(shard.source->name(), *shard.rows));
  }

  static std::string bad_in_index(const SampleRow& row) {
    return row.image_field() ? "it was bad when the index was made" : lacks_image(row);
  }

  /// At the header of the sample's image.
  static void look(SweptSample& sample, ImageDecoder& decoder, bool of_images) {
    SampleRow& row = sample.row;
    row.facts.reset();
    const SampleField* image = row.image_field();
    if (!image) {
      if (of_images && !holds_array(row, sample.fields)) sample.bad = lacks_image(row);
      return;
    }
    const Bytes bytes = sample.fields[static_cast<std::size_t>(image - row.fields.data())];
    try {
      row.facts = decoder.read_facts(bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadSample && error.kind() != ErrorKind::kLimit) throw;
      if (is_array(bytes, bytes.size())) return;
      row.soundness = Soundness::kBad;
      sample.bad = error.message();
    }
  }

  void add(const SampleRow& row, std::int64_t label, const std::string& bad) {
    stop_if_asked(options_.stop, row.key);
    ++info_.samples;
    info_.bytes += row.bytes();
    if (label >= 0) {
      ++info_.labelled;
      labels_.insert(label);
    }
    const SampleField* image = row.image_field();
    if (!bad.empty() && ++bad_ <= kNamedMax) info_.problems.push_back(fmt::format("{}: {}", describe(row), bad));
    if (row.soundness == Soundness::kConcealed) ++info_.concealed;
    if (!image || !row.facts) return;
    const ImageFacts& facts = *row.facts;
    ++info_.images;
    ++info_.codecs[facts.codec];
    info_.image_bytes += image->length;
    info_.pixels += static_cast<std::uint64_t>(facts.width) * static_cast<std::uint64_t>(facts.height);
    count_decoder(row, facts);
    info_.sizes.add(image->length);
    info_.short_sides.add(static_cast<std::uint64_t>(std::min(facts.width, facts.height)));
    info_.width_max = std::max(info_.width_max, facts.width);
    info_.height_max = std::max(info_.height_max, facts.height);
  }

  void count_decoder(const SampleRow& row, const ImageFacts& facts) {
    std::string_view reason = unsuited_because(facts);
    if (reason.empty() && row.soundness == Soundness::kConcealed) reason = "damaged parts, which decoders conceal";
    if (reason.empty()) {
      if (suits_own_decoder(facts)) ++info_.own_decoder;
      return;
    }
    LibraryImages& images = info_.left_to_libjpeg[std::string(reason)];
    if (images.count++ == 0) images.first = describe(row);
  }

  const InfoOptions& options_;
  const ShardOpener opener_;
  DataInfo info_;
  FieldChoice fields_;  // as fields are called
  std::vector<std::int64_t> chosen_labels_;
  std::vector<std::string> class_names_;
  std::set<std::int64_t> labels_;
  std::int64_t bad_ = 0;
};

}  // namespace

void Histogram::add(std::uint64_t value) {
  const auto bucket = static_cast<std::size_t>(std::bit_width(value | 1) - 1);
  if (counts_.size() <= bucket) counts_.resize(bucket + 1);
  ++counts_[bucket];
}

DataInfo data_info(const std::vector<std::string>& data, const InfoOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return InfoJob(options).run(data);
}

}  // namespace stoker
