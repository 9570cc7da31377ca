// Tables of numbers for a batch's memory on the device, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace stoker {

constexpr std::size_t kDeviceTableAlignment = 8;

template <typename T>
std::size_t device_table_bytes(std::span<const T> numbers) {
  return (numbers.size_bytes() + kDeviceTableAlignment - 1) / kDeviceTableAlignment * kDeviceTableAlignment;
}

class DeviceTableWriter {
 public:
  /// What is written to `to` will be at `place`, a multiple of kDeviceTableAlignment.
  DeviceTableWriter(std::uint8_t* to, std::uint64_t place) : to_(to), place_(place) {}

  /// Returns its place.
  template <typename T>
  std::uint64_t write(std::span<const T> numbers) {
    const std::uint64_t place = place_;
    if (!numbers.empty()) std::memcpy(to_, numbers.data(), numbers.size_bytes());
    to_ += device_table_bytes(numbers);
    place_ += device_table_bytes(numbers);
    return place;
  }

 private:
  std::uint8_t* to_;
  std::uint64_t place_;
};

}  // namespace stoker
