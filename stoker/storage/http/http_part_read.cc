#include "stoker/storage/http/http_part_read.h"

#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

/// What the request held before.
struct PartRead {
  std::unique_ptr<HttpSource> object;
  Source* folder;
  std::string_view part;
  void (*done)(ReadRequest& request) noexcept;
  void* context;
};

void part_read(ReadRequest& request) noexcept {
  const std::unique_ptr<const PartRead> read(static_cast<const PartRead*>(request.context));
  request.part = read->part;
  request.context = read->context;
  request.done = read->done;
  request.source = read->folder;
  request.done(request);
}

}  // namespace

void start_part(std::unique_ptr<HttpSource> object, Source& folder, ReadRequest& request) {
  HttpSource& source = *object;
  std::unique_ptr<PartRead> read;
  request.error = thrown_by([&] {
    read =
        std::make_unique<PartRead>(PartRead{std::move(object), &folder, request.part, request.done, request.context});
  });
  if (request.error) return request.done(request);
  request.part = {};
  request.done = &part_read;
  request.context = read.release();  // part_read() takes it back
  source.start(request);
}

}  // namespace stoker
