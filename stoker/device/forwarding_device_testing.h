// A device that forwards to the emulated one, in which tests override single functions.
#pragma once

#include <memory>
#include <string>

#include "stoker/device/device.h"

namespace stoker {

class ForwardingDevice : public Device {
 public:
  const std::string& name() const override { return inner_->name(); }
  bool computes() const override { return inner_->computes(); }
  std::string caveat() const override { return inner_->caveat(); }
  bool memory_is_host() const override { return inner_->memory_is_host(); }
  Allocator& staging() override { return inner_->staging(); }
  Allocator& memory() override { return inner_->memory(); }
  void open_nvjpeg() override { inner_->open_nvjpeg(); }
  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>> after) override {
    return inner_->submit(task, after);
  }
  void fetch(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) override { inner_->fetch(to, from, bytes); }
  void make_wait(DeviceStream stream, const DeviceEvent& task) override { inner_->make_wait(stream, task); }
  std::shared_ptr<const StreamMark> mark(DeviceStream stream) noexcept override { return inner_->mark(stream); }

 private:
  const std::shared_ptr<Device> inner_ = open_device("emulated:execute");
};

}  // namespace stoker
