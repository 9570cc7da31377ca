#include "stoker/device/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/jpeg/jpeg_decoder.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// A file, and room for its planes among bytes that are none of theirs.
struct FileForNvjpeg {
  explicit FileForNvjpeg(std::vector<std::uint8_t> bytes) : file(std::move(bytes)) {
    decode.file = file;
    decode.facts = decoder.read_facts(file);
    const Planes sizes = decoder.plane_sizes(file, decode.facts);
    decode.plane_count = sizes.count;
    for (int i = 0; i < sizes.count; ++i) {
      const Plane& plane = sizes.plane[static_cast<std::size_t>(i)];
      const std::size_t stride = static_cast<std::size_t>(plane.whole_width) + kBeside;
      room[i].assign(stride * static_cast<std::size_t>(plane.whole_height), kNothing);
      decode.plane[i] = {room[i].data(), stride, plane.whole_width, plane.whole_height};
    }
    decode.fault = &fault;
  }

  std::vector<std::uint8_t> beside(int plane) const {
    std::vector<std::uint8_t> bytes;
    const DeviceDecode::Plane& of = decode.plane[plane];
    for (int row = 0; row < of.height; ++row) {
      const std::uint8_t* const end = of.samples + static_cast<std::size_t>(row) * of.row_stride + of.width;
      bytes.insert(bytes.end(), end, end + kBeside);
    }
    return bytes;
  }

  static constexpr std::size_t kBeside = 5;
  static constexpr std::uint8_t kNothing = 0xCD;
  JpegDecoder decoder;
  std::vector<std::uint8_t> file;
  std::vector<std::uint8_t> room[3];
  std::uint32_t fault = 0;
  DeviceDecode decode;
};

// Before a launch that does nothing.
void run(DeviceDecode decode) {
  DeviceTask task;
  task.decodes = {decode};
  task.launches = {DeviceLaunch::of<DeviceColorKernel>({}, 0)};
  EXPECT_TRUE(open_device("emulated:execute")->submit(task, {})->wait_for(0));
}

TEST(ExecutingDevice, MakesOfAFileForNvjpegThePlanesThatStokersDecodersMake) {
  const std::vector<std::uint8_t> files[] = {noisy_jpeg(61, 35, 1), noisy_jpeg(40, 31, 2, {.progressive = true}),
                                             noisy_jpeg(7, 9, 3, {}, 1)};
  for (const std::vector<std::uint8_t>& bytes : files) {
    FileForNvjpeg file(bytes);
    run(file.decode);
    EXPECT_EQ(file.fault, 0u);
    const ImageFacts& facts = file.decode.facts;
    const Planes want = file.decoder.decode_planes(file.file, facts, {0, 0, facts.width, facts.height});
    for (int i = 0; i < want.count; ++i) {
      const Plane& plane = want.plane[static_cast<std::size_t>(i)];
      const DeviceDecode::Plane& got = file.decode.plane[i];
      for (int row = 0; row < plane.whole_height; ++row) {
        for (int x = 0; x < plane.whole_width; ++x) {
          ASSERT_EQ(got.samples[static_cast<std::size_t>(row) * got.row_stride + static_cast<std::size_t>(x)],
                    *plane.at(x, row));
        }
      }
      EXPECT_THAT(file.beside(i), Each(FileForNvjpeg::kNothing));
    }
  }
}

TEST(ExecutingDevice, RefusesAFileForNvjpegThatIsNoneOrAnother) {
  const std::vector<std::uint8_t> others[] = {{},
                                              std::vector<std::uint8_t>(300, 'x'),
                                              noisy_jpeg(62, 35, 1),
                                              noisy_jpeg(61, 35, 1, {.subsampling = ChromaSubsampling::k444}),
                                              noisy_jpeg(61, 35, 1, {}, 1)};
  for (const std::vector<std::uint8_t>& other : others) {
    FileForNvjpeg file(noisy_jpeg(61, 35, 1));
    file.decode.file = other;
    run(file.decode);
    EXPECT_NE(file.fault, 0u);
    for (const std::vector<std::uint8_t>& room : file.room) EXPECT_THAT(room, Each(FileForNvjpeg::kNothing));
  }
}

TEST(DeviceTask, IsDoneInOrder) {
  DeviceTask task;
  for (int blocks = 0; blocks < 4; ++blocks) {
    task.launches.push_back(DeviceLaunch::of<DeviceColorKernel>({}, blocks));
  }
  for (const std::size_t before : {0, 0, 2, 3}) {
    DeviceDecode& decode = task.decodes.emplace_back();
    decode.before_launch = before;
    decode.plane_count = static_cast<int>(task.decodes.size());
  }
  std::string order;
  task.in_order([&](const DeviceDecode& decode) { order += "d" + std::to_string(decode.plane_count); },
                [&](const DeviceLaunch& launch) { order += "l" + std::to_string(launch.blocks); });
  EXPECT_EQ(order, "d1d2l0l1d3l2d4l3");
}

TEST(ModelledDevice, TakesFilesForNvjpegAtTheirRate) {
  const auto device = open_device("emulated:h100,nvjpeg=1MB/s,launch=0.5");
  EXPECT_THAT(device->caveat(), AllOf(HasSubstr("No pixels were computed"), HasSubstr("1.00 MB/s by nvJPEG")));
  const std::vector<std::uint8_t> file(3000);
  DeviceTask task;
  task.decodes.emplace_back().file = file;
  constexpr std::int64_t kNsPerByte = 1000, kLaunchNs = 500'000'000;
  EXPECT_EQ(device->submit(task, {})->busy_ns(), 3000 * kNsPerByte + kLaunchNs);
  EXPECT_EQ(error_of([] { open_device("emulated:h100,nvjpeg=0B/s"); }).kind(), ErrorKind::kUsage);
}

}  // namespace
}  // namespace stoker
