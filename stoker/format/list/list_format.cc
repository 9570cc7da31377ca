#include "stoker/format/list/list_format.h"

#include "stoker/format/list/list_rows.h"
#include "stoker/format/list/list_samples.h"

namespace stoker {

bool ListFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && kind_of_list(shard.head(), shard.name()) != ListKind::kNone;
}

std::shared_ptr<Source> ListFormat::open(const Store& store, const Location& list) const {
  const Location at = list.is_local() ? list.absolute() : list;
  std::shared_ptr<Source> anywhere;
  if (list.is_local()) anywhere = store.open_folder("/");
  return std::make_shared<ListSource>(store.open(list), store.open_folder(at.parent()), std::move(anywhere));
}

std::unique_ptr<ShardScan> ListFormat::scan(Source& shard, const std::stop_token& stop) const {
  stop_if_asked(stop, shard.name());
  auto& source = dynamic_cast<ListSource&>(shard);
  ListText text(shard);
  text.skip_space();
  const bool is_json = text.peek() == '{' || text.peek() == '[';
  return std::make_unique<ListSamples>(source, is_json ? json_rows(shard, stop) : table_rows(shard), stop);
}

}  // namespace stoker
