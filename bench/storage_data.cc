// Makes what the storage benchmark reads.
//
//   bench_storage_data shards TO SAMPLES BYTES SHARDS    random bytes as tars with indexes beside them, TO/packed,
//   bench_storage_data loose TO SAMPLES BYTES SHARDS     and the same samples as a folder per shard, TO/loose
//   bench_storage_data listed TO SAMPLES BYTES SHARDS    a manifest, and tars that are holes with indexes at their ends
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "stoker/base/crc32c.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/random.h"
#include "stoker/format/content_tag.h"
#include "stoker/format/index/index_places.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/runtime/thread_pool.h"
#include "stoker/storage/file_source.h"

namespace stoker {
namespace {

struct Wanted {
  std::string to;
  std::int64_t samples;  // a multiple of `shards`
  std::size_t bytes;     // of a sample
  std::int64_t shards;

  std::int64_t in_shard() const { return samples / shards; }
};

std::string key_of(std::int64_t sample) { return fmt::format("{:08}", sample); }
std::string shard_name(std::int64_t shard) { return fmt::format("{:05}.tar", shard); }

/// The sample's own random bytes, so that no file system stores two as one.
void fill(std::int64_t sample, std::vector<std::uint8_t>& bytes) {
  std::uint64_t state = hash64(key_of(sample)) | 1;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::memcpy(&bytes[i], &state, 8);
  }
}

SampleRow row_of(std::int64_t sample, std::uint64_t offset, std::size_t bytes) {
  SampleRow row;
  row.key = key_of(sample);
  row.label = sample % 1000;
  row.fields = {{.name = "bin", .part = {}, .offset = offset, .length = bytes}};
  return row;
}

void write_file(const std::string& path, Bytes bytes, std::ios::openmode mode = std::ios::trunc) {
  std::ofstream file(path, std::ios::binary | mode);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) fail(ErrorKind::kIo, "cannot write {}", path);
}

void make_shards(const Wanted& wanted) {
  const std::string folder = wanted.to + "/packed";
  std::filesystem::create_directories(folder);
  std::vector<std::uint8_t> bytes(wanted.bytes);
  for (std::int64_t shard = 0; shard < wanted.shards; ++shard) {
    const std::string path = fmt::format("{}/{}", folder, shard_name(shard));
    TarWriter tar(path);
    IndexWriter index;
    for (std::int64_t i = 0; i < wanted.in_shard(); ++i) {
      const std::int64_t sample = shard * wanted.in_shard() + i;
      fill(sample, bytes);
      SampleRow row = row_of(sample, tar.add(key_of(sample) + ".bin", bytes), bytes.size());
      row.fields[0].crc32c = crc32c(bytes);
      row.soundness = Soundness::kClean;
      index.add(row);
    }
    tar.finish();
    FileSource source(path, std::make_shared<InlineExecutor>());
    write_file(path + ".sidx",
               index.finish({.data_bytes = source.size(), .content_tag = content_tag(source, source.size())}));
  }
}

void make_loose(const Wanted& wanted) {
  std::vector<std::uint8_t> bytes(wanted.bytes);
  for (std::int64_t shard = 0; shard < wanted.shards; ++shard) {
    const std::string folder = fmt::format("{}/loose/{:05}", wanted.to, shard);
    std::filesystem::create_directories(folder);
    for (std::int64_t i = 0; i < wanted.in_shard(); ++i) {
      const std::int64_t sample = shard * wanted.in_shard() + i;
      fill(sample, bytes);
      write_file(fmt::format("{}/{}.bin", folder, key_of(sample)), bytes);
    }
  }
}

void make_listed(const Wanted& wanted) {
  const std::string folder = wanted.to + "/listed";
  std::filesystem::create_directories(folder);
  const std::uint64_t stride = (wanted.bytes + 1023) / 512 * 512;
  Manifest manifest;
  manifest.fields = {"bin"};
  for (std::int64_t shard = 0; shard < wanted.shards; ++shard) {
    const std::string path = fmt::format("{}/{}", folder, shard_name(shard));
    const std::uint64_t data_bytes = stride * static_cast<std::uint64_t>(wanted.in_shard());
    IndexWriter writer;
    for (std::int64_t i = 0; i < wanted.in_shard(); ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      writer.add(row_of(shard * wanted.in_shard() + i, number * stride + 512, wanted.bytes));
    }
    const std::vector<std::uint8_t> index = writer.finish({.data_bytes = data_bytes});
    std::string end = tar_header(kIndexMember, index.size());
    end.append(as_text(index)).append(1024, '\0');
    write_file(path, {});
    std::filesystem::resize_file(path, data_bytes);
    write_file(path, as_bytes(end), std::ios::app);
    manifest.shards.push_back({.name = shard_name(shard),
                               .bytes = data_bytes + end.size(),
                               .hash = 0,
                               .samples = writer.samples(),
                               .sample_bytes = writer.sample_bytes(),
                               .fingerprint = writer.fingerprint(),
                               .index_tag = hash64(Bytes(index).last(kIndexTrailerBytes))});
  }
  write_file(fmt::format("{}/{}", folder, kManifestName), as_bytes(manifest.to_json()));
}

int run(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: bench_storage_data shards|loose|listed TO SAMPLES BYTES SHARDS\n";
    return 2;
  }
  const std::string what = argv[1];
  const Wanted wanted{argv[2], std::stoll(argv[3]), std::stoul(argv[4]), std::stoll(argv[5])};
  if (what == "shards") make_shards(wanted);
  if (what == "loose") make_loose(wanted);
  if (what == "listed") make_listed(wanted);
  return 0;
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    return stoker::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench_storage_data: " << error.what() << '\n';
    return 1;
  }
}
