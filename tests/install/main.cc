// Uses an installed Stoker as a stranger would: through its public header and stoker::stoker alone.
#include <stoker/stoker.h>

#include <cstdio>

int main() {
  try {
    const stoker::LoaderOptions options{.batch = 4};
    stoker::Loader loader(stoker::open("no-such-folder"), stoker::Recipe::named("imagenet-val"), options);
    for (const stoker::BatchPtr& batch : loader.epoch(0)) std::printf("%d samples\n", batch->size());
  } catch (const stoker::Error& error) {
    std::puts(error.what());
    return error.kind() == stoker::ErrorKind::kNotFound ? 0 : 1;
  }
  std::puts("a data set was found where there is none");
  return 1;
}
