// A store whose objects are in memory, "mem://name": the smallest possible store, and proof that no code above storage
// treats a location as a path. All copies of its Stores see what is written to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/store.h"

namespace stoker {

class MemoryStore final : public Store {
 public:
  std::string_view scheme() const override { return "mem"; }
  std::optional<ObjectFacts> find(const Location& at) const override;
  std::unique_ptr<Folder> list(const Location& folder) const override;
  std::vector<Location> match(const Location& pattern) const override;
  std::shared_ptr<Source> open(const Location& at) const override;
  std::shared_ptr<Source> open_folder(const Location& folder) const override;
  std::unique_ptr<ObjectWriter> put(const Location& at) const override;
  void remove(const Location& at) const override;
  std::shared_ptr<const TrafficMeter> meter() const override { return meter_; }

  /// From now on sources say that they are far away, and find() calls this first.
  void move_away(std::function<void(const Location&)> on_find) { on_find_ = std::move(on_find); }
  /// From now on open() and put() call this first, and throw what it throws; if that `hides` objects, find() finds
  /// nothing.
  void refuse(std::function<void(const Location&)> refusal, bool hides) {
    refusal_ = std::move(refusal);
    hides_ = hides;
  }
  void write(const Location& at, std::string_view content) const;
  /// Of all objects, in order.
  std::vector<std::string> names() const;
  /// How many sources were opened.
  int opened() const { return objects_->opened; }

 private:
  class Meter final : public TrafficMeter {
   public:
    StoreTraffic traffic() const override { return {.requests = 7, .bytes = 1000}; }
  };
  class Listed;
  class Parts;
  class Writer;

  struct Objects {
    std::mutex mutex;
    std::map<std::string, std::vector<std::uint8_t>> by_name;
    int opened = 0;
  };

  const std::shared_ptr<Objects> objects_ = std::make_shared<Objects>();
  std::function<void(const Location&)> on_find_;  // none: it is near
  std::function<void(const Location&)> refusal_;  // none: everything is given
  bool hides_ = false;
  const std::shared_ptr<const TrafficMeter> meter_ = std::make_shared<Meter>();
};

}  // namespace stoker
