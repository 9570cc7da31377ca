// Coded images that were sound on the host and are damaged when the device has them: it says so, or decodes something,
// and nothing else is harmed. All memory is fenced.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/device_decode_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/tensor/planes_testing.h"

namespace stoker {
namespace {

using Samples = std::array<std::vector<std::uint8_t>, 3>;

class DamagedDeviceJpeg : public testing::Test {
 protected:
  DamagedDeviceJpeg() {
    using enum FencedBytes::Fence;
    add({.name = "grey", .components = 1, .quality = 95}, 200, 90, {0, 0, 200, 90}, kAfter);
    add({.name = "444"}, 150, 60, {33, 20, 100, 31}, kBefore);
    add({.name = "420", .horizontal = 2, .vertical = 2, .quality = 99}, 300, 70, {90, 7, 209, 40}, kAfter);
    add({.name = "422", .horizontal = 2, .optimize = false}, 301, 33, {0, 0, 301, 33}, kBefore);
    add({.name = "restarts", .vertical = 2, .restart_interval = 11}, 130, 80, {1, 1, 100, 40}, kAfter);
    add({.name = "411", .horizontal = 4}, 200, 40, {199, 39, 1, 1}, kBefore);
    jpegs_.run(0);
    for (int i = 0; i < jpegs_.count(); ++i) {
      EXPECT_FALSE(jpegs_.faulty(i)) << i;
      sound_.push_back(samples(i));
      const MutableBytes coded = jpegs_.coded(i);
      coded_.emplace_back(coded.begin(), coded.end());
    }
  }

  /// Damages one image, and looks at what comes of all. Returns whether it was noticed.
  bool decode_damaged(int image, Noise& noise, const std::function<void()>& damage) {
    damage();
    jpegs_.run(static_cast<std::uint32_t>(noise.between(0, 2)));
    for (int i = 0; i < jpegs_.count(); ++i) {
      if (i == image) continue;
      EXPECT_FALSE(jpegs_.faulty(i)) << i;
      EXPECT_TRUE(samples(i) == sound_[static_cast<std::size_t>(i)]) << i;
    }
    EXPECT_TRUE(jpegs_.kept_to_blocks(image)) << image;
    const std::vector<std::uint8_t>& coded = coded_[static_cast<std::size_t>(image)];
    std::copy(coded.begin(), coded.end(), jpegs_.coded(image).begin());
    return jpegs_.faulty(image);
  }

  /// Each image in turn, with seeded noise. Returns in what share of rounds it was noticed.
  double noticed(int count, const std::function<void(int image, Noise& noise)>& damage) {
    int faults = 0;
    for (int round = 0; round < count; ++round) {
      Noise noise(static_cast<std::uint32_t>(round));
      const int image = round % jpegs_.count();
      faults += decode_damaged(image, noise, [&] { damage(image, noise); });
      if (HasFailure()) {
        ADD_FAILURE() << "round " << round;
        break;
      }
    }
    return static_cast<double>(faults) / count;
  }

  DeviceJpegSegment& any_segment(int image, Noise& noise) {
    const std::span<DeviceJpegSegment> segments = jpegs_.segments(image);
    return segments[noise.next() % segments.size()];
  }

  FencedJpegs jpegs_;

 private:
  void add(const TestJpeg& kind, int width, int height, Rect window, FencedBytes::Fence fence) {
    const std::vector<std::uint8_t> file = encode_test_jpeg(kind, make_test_image(width, height, kind.components));
    const JpegHeader header = parse_jpeg_header(file).value();
    JpegPlaneDecoder decoder;
    EntryPoints points;
    ASSERT_TRUE(decoder.find_entry_points(file, header, points));
    jpegs_.add(decoder.find_window(file, header, window, points).value(), fence);
  }

  Samples samples(int image) const {
    Samples all;
    for (int c = 0; c < 3; ++c) {
      const MutableBytes samples = jpegs_.samples(image, c);
      all[static_cast<std::size_t>(c)].assign(samples.begin(), samples.end());
    }
    return all;
  }

  std::vector<Samples> sound_;
  std::vector<std::vector<std::uint8_t>> coded_;
};

void fill(MutableBytes bytes, std::uint8_t value) { std::fill(bytes.begin(), bytes.end(), value); }
void fill(MutableBytes bytes, Noise& noise) {
  std::generate(bytes.begin(), bytes.end(), [&] { return noise.byte(); });
}

template <typename T>
MutableBytes bytes_of(T& object) {
  return {reinterpret_cast<std::uint8_t*>(&object), sizeof(object)};
}

TEST_F(DamagedDeviceJpeg, WithBytesOfAnyOtherValueHarmsNobody) {
  EXPECT_GT(noticed(rounds(1200),
                    [&](int image, Noise& noise) {
                      const MutableBytes data = jpegs_.data(image);
                      for (int i = noise.between(1, 8); i > 0; --i) data[noise.next() % data.size()] = noise.byte();
                    }),
            0.5);
}

TEST_F(DamagedDeviceJpeg, WithOtherDataHarmsNobody) {
  EXPECT_GT(noticed(rounds(300), [&](int image, Noise& noise) { fill(jpegs_.data(image), noise); }), 0.9);
}

TEST_F(DamagedDeviceJpeg, WithOnesAloneIsNoticed) {
  EXPECT_EQ(noticed(12, [&](int image, Noise&) { fill(jpegs_.data(image), 0xFF); }), 1);
}

TEST_F(DamagedDeviceJpeg, WithZerosAloneIsNoticed) {
  EXPECT_EQ(noticed(12, [&](int image, Noise&) { fill(jpegs_.data(image), 0); }), 1);
}

TEST_F(DamagedDeviceJpeg, CutShortHarmsNobody) {
  EXPECT_GT(noticed(rounds(600),
                    [&](int image, Noise& noise) {
                      const MutableBytes data = jpegs_.data(image);
                      const MutableBytes rest = data.subspan(noise.next() % data.size());
                      const int kind = noise.between(0, 2);
                      if (kind == 2) fill(rest, noise);
                      if (kind < 2) fill(rest, kind == 0 ? 0 : 0xFF);
                    }),
            0.8);
}

TEST_F(DamagedDeviceJpeg, WithALieInASegmentHarmsNobody) {
  const auto lie = [&](int image, Noise& noise) {
    DeviceJpegSegment& segment = any_segment(image, noise);
    const std::uint32_t bits = 8 * jpegs_.described(image).data_bytes;
    const std::uint32_t extremes[] = {0, 1, bits - 1, bits, bits + 1, bits + 63, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    const bool any = noise.between(0, 1);
    const std::uint32_t value = any ? noise.next() * 257 : extremes[noise.next() % std::size(extremes)];
    switch (noise.between(0, 9)) {
      case 0: segment.bit = value; break;
      case 1: segment.end_bit = value; break;
      case 2: segment.bit ^= 1U << noise.between(0, 31); break;
      case 3: segment.dc[noise.next() % 3] = static_cast<std::int16_t>(value); break;
      case 4: segment.end_dc[noise.next() % 3] = static_cast<std::int16_t>(value); break;
      case 5: segment.column = static_cast<std::uint16_t>(any ? noise.between(0, 60) : static_cast<int>(value)); break;
      case 6: segment.row = static_cast<std::uint16_t>(any ? noise.between(0, 20) : static_cast<int>(value)); break;
      case 7: segment.mcus = static_cast<std::uint8_t>(any ? noise.between(0, 20) : noise.byte()); break;
      case 8:  // begins near the end of all, and leads on
        segment.bit = value;
        segment.end_bit = 0xFFFFFFFF;
        break;
      default: segment.end = static_cast<JpegSegment::End>(any ? noise.between(0, 2) : noise.byte());
    }
  };
  EXPECT_GT(noticed(rounds(3000), lie), 0.4);
}

TEST_F(DamagedDeviceJpeg, WithSegmentsThatAreNoiseOrOfAnotherImageHarmsNobody) {
  EXPECT_GT(noticed(rounds(900),
                    [&](int image, Noise& noise) {
                      const std::span<DeviceJpegSegment> segments = jpegs_.segments(image);
                      switch (noise.between(0, 3)) {
                        case 0:
                          for (DeviceJpegSegment& segment : segments) fill(bytes_of(segment), noise);
                          break;
                        case 1: fill(bytes_of(any_segment(image, noise)), noise); break;
                        case 2:
                          for (DeviceJpegSegment& segment : segments) {
                            segment = any_segment((image + 1) % jpegs_.count(), noise);
                          }
                          break;
                        default: std::swap(any_segment(image, noise), any_segment(image, noise));
                      }
                    }),
            0.6);
}

TEST_F(DamagedDeviceJpeg, WithLyingTablesHarmsNobody) {
  EXPECT_GT(noticed(rounds(1200),
                    [&](int image, Noise& noise) {
                      DeviceJpegTables& tables = jpegs_.tables(image);
                      HuffmanCode& code = tables.code[noise.next() % 6];
                      switch (noise.between(0, 5)) {
                        case 0: fill(code.counts, noise); break;
                        case 1: fill(code.symbols, noise); break;
                        case 2: code.counts[noise.next() % 16] = noise.byte(); break;
                        case 3: fill(tables.zigzag, noise); break;
                        case 4: fill(bytes_of(tables.quantization), noise); break;
                        default: fill(bytes_of(tables), noise.between(0, 1) ? noise.byte() : std::uint8_t{0xFF});
                      }
                    }),
            0.2);
}

TEST_F(DamagedDeviceJpeg, WithAnythingAtAllHarmsNobody) {
  EXPECT_GT(noticed(rounds(1200),
                    [&](int image, Noise& noise) {
                      const MutableBytes coded = jpegs_.coded(image);
                      switch (noise.between(0, 3)) {
                        case 0: fill(coded, noise); break;
                        case 1: fill(coded, noise.byte()); break;
                        case 2: fill(coded.subspan(noise.next() % coded.size()), noise); break;
                        default: coded[noise.next() % coded.size()] ^= 1U << noise.between(0, 7);
                      }
                    }),
            0.5);
}

// Where the file itself is damaged, and entry points lead there all the same, both sides find it, or neither does.
TEST(DeviceJpeg, RefusesWhatTheCpuRefuses) {
  const std::vector<TestJpeg> kinds = {{.name = "grey", .components = 1},
                                       {.name = "444", .quality = 95},
                                       {.name = "420", .horizontal = 2, .vertical = 2, .optimize = false},
                                       {.name = "restarts", .horizontal = 2, .restart_interval = 5}};
  JpegPlaneDecoder decoder;
  FencedJpegs on_device;
  int refused = 0, taken = 0;
  for (int round = 0; round < rounds(3000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    const TestJpeg& kind = kinds[noise.next() % kinds.size()];
    const int width = noise.between(1, 90), height = noise.between(1, 40);
    std::vector<std::uint8_t> file = encode_test_jpeg(kind, make_test_image(width, height, kind.components));
    const JpegHeader header = parse_jpeg_header(file).value();
    EntryPoints points;
    ASSERT_TRUE(decoder.find_entry_points(file, header, points));
    const auto scan = static_cast<int>(header.scan_begin), last = static_cast<int>(file.size()) - 3;
    std::uint8_t& byte = file[static_cast<std::size_t>(noise.between(scan, last))];
    byte = static_cast<std::uint8_t>(noise.between(0, 1) ? byte ^ 1U << noise.between(0, 7) : noise.byte());
    const Rect window{0, 0, noise.between(1, width), noise.between(1, height)};
    const std::optional<JpegWindow> found = decoder.find_window(file, header, window, points);
    on_device.clear();
    if (found) {
      on_device.add(*found, FencedBytes::Fence::kAfter);
      on_device.run(0);
    }
    const std::optional<Planes> want = decoder.decode(file, header, window, &points);
    ASSERT_EQ(found && !on_device.faulty(0), want.has_value()) << kind.name << ", round " << round;
    (want ? taken : refused) += 1;
    if (!want) continue;
    ASSERT_EQ(planes_difference(on_device.planes(0), *want), "") << kind.name << ", round " << round;
  }
  EXPECT_GT(refused, rounds(300));
  EXPECT_GT(taken, rounds(1000));
}

}  // namespace
}  // namespace stoker
