#include "stoker/storage/stores.h"

#include <algorithm>
#include <iterator>

#include "stoker/base/error.h"
#include "stoker/storage/local_store.h"

namespace stoker {

Stores::Stores() : Stores(std::make_shared<InlineExecutor>()) {}

Stores::Stores(FileAccess access)
    : is_direct_(access.direct), stores_{std::make_shared<LocalStore>(std::move(access))} {}

Stores& Stores::add(std::shared_ptr<const Store> store) {
  stores_.push_back(std::move(store));
  return *this;
}

const Store& Stores::of(const Location& at) const {
  const auto found =
      std::find_if(stores_.begin(), stores_.end(), [&](const auto& store) { return store->scheme() == at.scheme(); });
  if (found != stores_.end()) return **found;
  std::string known = "plain paths";
  for (const auto& store : stores_) {
    if (!store->scheme().empty()) known += fmt::format(", '{}://'", store->scheme());
  }
  fail(ErrorKind::kUsage, "'{}' cannot be reached: there is no store for '{}://', only for {}", at, at.scheme(), known);
}

Stores Stores::for_writer(std::string_view writer) const {
  Stores same = *this;
  for (std::shared_ptr<const Store>& store : same.stores_) {
    if (auto its = store->for_writer(writer)) store = std::move(its);
  }
  return same;
}

void Stores::expect(std::span<const Location> objects) const {
  for (const auto& store : stores_) {
    std::vector<Location> its;
    std::copy_if(objects.begin(), objects.end(), std::back_inserter(its),
                 [&](const Location& one) { return one.scheme() == store->scheme(); });
    if (its.size() > 1) store->expect(its);
  }
}

void put_whole(const Stores& stores, const Location& at, Bytes content) {
  const std::unique_ptr<ObjectWriter> object = stores.put(at);
  object->write(content);
  object->commit();
}

}  // namespace stoker
