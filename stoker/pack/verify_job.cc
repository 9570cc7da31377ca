#include "stoker/pack/verify_job.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/format/field_texts.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/open/shard_opener.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/repeated_keys.h"
#include "stoker/pack/sample_check.h"
#include "stoker/pack/sample_sweep.h"
#include "stoker/pack/whole_hash.h"

namespace stoker {
namespace {

class VerifyJob {
 public:
  explicit VerifyJob(const VerifyOptions& options)
      : options_(options),
        opener_(options.stores, {.folder = options.index_folder, .images = options.fields.image},
                std::size_t{16} << 20),
        manifests_(options.stores) {}

  VerifyResult run(const std::vector<std::string>& data) {
    std::vector<FoundShard> shards = find_shards(data, options_.stores, manifests_, options_.stop, TokenPacks::kPass);
    std::vector<std::string> problems = manifests_.take_problems();
    if (options_.whole) {
      for (const std::string& problem : problems) add_problem("", problem);
      name_strays(shards);
      for (const Location& folder : manifests_.whole_folders()) verify_files(folder);
    }
    shards = chosen_shards(std::move(shards), options_.only);
    for (const FoundShard& shard : shards) {
      if (!shard.format->is_one_file()) continue;
      if (const std::optional<ObjectFacts> facts = options_.stores.find(shard.location)) total_ += facts->size;
    }
    if (options_.progress) options_.progress(0, total_);
    choose_fields(shards);
    for (const FoundShard& shard : shards) {
      ++result_.shards;
      try {
        verify(shard);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kClosed) {
          fail(ErrorKind::kClosed, "stopped after {}, {} of them bad", counted(result_.samples, "sample"),
               result_.bad.size());
        }
        if (!is_about_data(error.kind(), !shard.location.is_local()) || error.kind() == ErrorKind::kUsage) throw;
        add_problem(shard.location.shown(), error.message());
      }
    }
    return std::move(result_);
  }

 private:
  void add(BadSample bad) { result_.bad.push_back(std::move(bad)); }

  /// Of the shard as a whole, if there is any.
  void add_problem(const std::string& shard, const std::string& problem) {
    if (!problem.empty()) add({shard, "", 0, problem});
  }

  /// Tars in a packed folder that its manifest does not list: opening the folder skips them.
  void name_strays(const std::vector<FoundShard>& shards) {
    std::set<Location> known;
    for (const FoundShard& shard : shards) known.insert(shard.location);
    std::set<Location> strays;
    for (const Location& folder : manifests_.whole_folders()) {
      if (!options_.stores.of(folder).can_list()) continue;
      const std::unique_ptr<Folder> listed = options_.stores.list(folder);
      listed->drop_hidden();
      for (std::size_t i = 0; i < listed->size(); ++i) {
        stop_if_asked(options_.stop, folder.shown());
        const Location location = folder / (*listed)[i].name;
        if (is_shard_name((*listed)[i].name) && !known.contains(location)) strays.insert(location);
      }
    }
    for (const Location& stray : strays) {
      add_problem(stray.shown(), "it is not in the manifest beside it, so it is not part of the data set");
    }
  }

  /// Those of a packed folder that are no shards. A pack of tokens is nothing else; its samples are its documents.
  void verify_files(const Location& folder) {
    const std::optional<Manifest> manifest = Manifest::read(options_.stores, folder);
    if (!manifest) return;
    for (const ManifestFile& file : manifest->files) {
      add_problem((folder / file.name).shown(), contradiction_of_file(file, options_.stores, folder, options_.stop));
      const std::optional<ObjectFacts> facts = options_.stores.find(folder / file.name);
      if (manifest->tokens && facts) result_.bytes += facts->size;
    }
    if (!manifest->tokens) return;
    ++result_.shards;
    ++result_.indexed;
    result_.samples += manifest->tokens->documents;
  }

  /// Those that the user names, as the data set has them. Throws kUsage for a name that no shard has. What cannot be
  /// opened is passed over: verifying it says why.
  void choose_fields(const std::vector<FoundShard>& shards) {
    if (options_.fields.image.empty() && options_.fields.label.empty()) return;
    std::vector<std::string> names;
    std::optional<Error> unknown;
    for (const FoundShard& shard : shards) {
      std::optional<OpenedShard> opened;
      const bool is_remote = !shard.location.is_local();
      if (fault_of_data([&] { opened = opener_.open(shard, options_.stop); }, is_remote)) continue;
      if (opened->rows->size() == 0) continue;
      add_field_names(opened->rows->field_names(), names);
      try {
        fields_ = resolved(options_.fields, names);
        return;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUsage) throw;
        unknown = error;
      }
    }
    if (unknown) throw Error(*unknown);
  }

  void verify(const FoundShard& shard) {
    const std::string& name = shard.location.shown();
    stop_if_asked(options_.stop, name);
    const std::size_t before = result_.bad.size();
    const ManifestShard* const listed = compare_with_manifest(shard);
    const OpenedShard opened = opener_.open(shard, options_.stop);
    if (!shard.format->is_one_file()) total_ += opened.rows->bytes();
    if (listed && result_.bad.size() == before) {
      add_problem(name, contradiction_of_samples(*listed, name, opened.rows->fingerprint(), opened.rows->bytes()));
    }
    bool fault_is_known = result_.bad.size() > before;
    for (const std::string& problem : opened.problems) add_problem(name, problem);
    const std::size_t problems = result_.bad.size();
    if (const auto* index = dynamic_cast<const ShardIndex*>(opened.rows.get())) {
      if (index->trailer().has_checksums) ++result_.indexed;
      if (const auto fault = fault_of_data([&] { index->check_all(); }, !shard.location.is_local())) {
        return add_problem(shard.location.shown(), *fault);  // where its samples lie is not known
      }
    }
    verify_samples(name, opened);
    // Said last: a sample at fault says more than the shard that it lies in.
    fault_is_known = fault_is_known || result_.bad.size() > problems;
    if (shard.format->is_one_file()) verify_whole(shard, opened, listed, fault_is_known);
    if (!shard.format->is_folder()) name_repeated_keys(shard, *opened.rows);  // no two of a folder's have one key
  }

  void name_repeated_keys(const FoundShard& shard, const ShardRows& rows) {
    const std::string& name = shard.location.shown();
    const RepeatedKeys found = find_repeated_keys(rows, name, options_.stop);
    const auto offset_of = [](const SampleRow& row) { return row.fields.empty() ? 0 : row.fields.front().offset; };
    SampleRow row, first;
    for (const RepeatedKey& repeated : found.named) {
      rows.read(repeated.row, row);
      rows.read(repeated.first, first);
      std::string reason =
          shard.format->is_one_file()
              ? fmt::format(
                    "the sample at byte {} has the same key: the members of a sample must be adjacent, and "
                    "other samples need other keys",
                    offset_of(first))
              : fmt::format("sample {} of the list has the same key: name each file once", repeated.first);
      add({name, row.key, offset_of(row), std::move(reason)});
    }
    const auto more = static_cast<std::uint64_t>(found.count) - found.named.size();
    if (more > 0) add_problem(name, fmt::format("{} more repeat the keys of others", counted(more, "sample")));
  }

  /// What the manifest beside the shard says of it, if it says anything.
  const ManifestShard* compare_with_manifest(const FoundShard& shard) {
    try {
      const Manifests::Found found = manifests_.find(shard.location);
      for (const std::string& problem : manifests_.take_problems()) add_problem(shard.location.shown(), problem);
      if (!found.shard) return nullptr;
      add_problem(shard.location.shown(), contradiction_of_bytes(*found.shard, options_.stores.open(shard.location)));
      add_problem(shard.location.shown(), missing_beside(*found.shard, options_.stores, shard.location));
      return found.shard;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kData) throw;
      add_problem(shard.location.shown(), error.message());
      return nullptr;
    }
  }

  /// Those of the chosen field: whether they can be read as labels.
  void verify_labels(const std::string& path, const OpenedShard& opened, const std::string& field) {
    const auto fault = fault_of_data(
        [&] {
          ShardStream stream(opened);
          FieldTexts texts(field);
          SampleRow row;
          while (stream.next(row)) texts.add(row);
          texts.take();
        },
        opened.source->is_remote());
    if (fault) add_problem(path, *fault);
  }

  void verify_samples(const std::string& path, const OpenedShard& opened) {
    if (!fields_.label.empty()) verify_labels(path, opened, fields_.label);
    ShardStream stream(opened, fields_.image);
    const SweepOptions sweeping{
        .threads = options_.threads, .stop = options_.stop, .memory = options_.memory, .bad_if_unread = true};
    const bool of_images = !fields_.image.empty() || expects_images(opened.rows->field_names());
    SampleSweep sweep(stream, sweeping, [&] { return checking(CheckDepth::kDecoded, options_.limits, of_images); });
    while (const SweptSample* sample = sweep.next()) {
      const SampleRow& row = sample->row;
      const BadSample found{path, row.key, row.fields.empty() ? 0 : row.fields.front().offset, sample->bad};
      if (!found.reason.empty()) add(found);
      if (row.soundness == Soundness::kConcealed) {
        result_.concealed.push_back({found.shard, found.key, found.offset, "damaged parts of the image are concealed"});
      }
      ++result_.samples;
      result_.bytes += row.bytes();
      if (options_.progress) options_.progress(result_.bytes, std::max(total_, result_.bytes));
    }
  }

  /// Every byte of the shard, also those that belong to no sample.
  void verify_whole(const FoundShard& shard, const OpenedShard& opened, const ManifestShard* listed,
                    bool fault_is_known) {
    const std::shared_ptr<Source> source = options_.stores.open(shard.location);
    Source& file = *source;
    const auto* index = dynamic_cast<const ShardIndex*>(opened.rows.get());
    if (listed) {
      if (!fault_is_known && whole_hash(file, file.size(), options_.stop) != listed->hash) {
        add_problem(shard.location.shown(),
                    "its bytes are not those that the manifest lists; the samples are sound, so the damage "
                    "is between them");
      }
    } else if (index && index->is_inside_shard() && index->trailer().data_hash) {
      const IndexTrailer& trailer = index->trailer();
      const bool sound =
          whole_hash(file, trailer.data_bytes, options_.stop) == *trailer.data_hash && has_good_frame(file, trailer);
      if (!sound && !fault_is_known) {
        add_problem(shard.location.shown(),
                    "its bytes are not those that were packed; the samples are sound, so the damage is "
                    "between them");
      }
    }
  }

  /// Around the index inside a shard: its member's header before it, and the end of the tar after it.
  static bool has_good_frame(Source& file, const IndexTrailer& trailer) {
    const std::string header = tar_header(kIndexMember, trailer.index_bytes);
    std::vector<std::uint8_t> found(header.size());
    read_fully(file, trailer.data_bytes, found);
    return as_text(found) == header;  // the end was looked at when the index was found
  }

  const VerifyOptions& options_;
  const ShardOpener opener_;
  Manifests manifests_;
  FieldChoice fields_;
  std::uint64_t total_ = 0;  // bytes of the shards, as far as they are known beforehand
  VerifyResult result_;
};

}  // namespace

VerifyResult verify(const std::vector<std::string>& data, const VerifyOptions& options) {
  if (options.threads != 0) check_threads(options.threads);
  return VerifyJob(options).run(data);
}

}  // namespace stoker
