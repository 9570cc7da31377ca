// A read of a part of a folder whose objects are reached over HTTP: by a source of its own, which lives as long.
#pragma once

#include <memory>

#include "stoker/storage/http/http_source.h"

namespace stoker {

/// Starts the request for a part of `folder` as one for `object`, which is that part. Failures are reported through the
/// request.
void start_part(std::unique_ptr<HttpSource> object, Source& folder, ReadRequest& request);

}  // namespace stoker
