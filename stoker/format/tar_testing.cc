#include "stoker/format/tar_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "stoker/format/tar/tar_format.h"

namespace stoker {

std::string tar_member(std::string_view name, std::string_view content, char type, std::string_view link) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", content.size()));
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(157, link.substr(0, 100));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header + std::string(content) + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string tar_end() { return std::string(1024, '\0'); }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

SampleTable scan_tar(Source& source) {
  TarSamples samples(source);
  return table_of(samples);
}

}  // namespace stoker
