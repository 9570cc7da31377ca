/* Reads a data set once, and says how fast that was and how bright its images are: what a program in C, or a binding for
 * another language, does with Stoker.
 *
 *   feed DATA [NAME=VALUE...]      options of a loader, such as batch=64 threads=4
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <stoker.h>

static const char* const kRecipe =
    "[[view]]\n"
    "name = \"image\"\n"
    "operators = [\n"
    "  { op = \"decode\" },\n"
    "  { op = \"random_resized_crop\", size = 64 },\n"
    "  { op = \"random_flip\" },\n"
    "]\n"
    "[[view]]\n"
    "name = \"label\"\n";

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, stoker_error());
  return 1;
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The mean of all bytes of a batch's images. */
static double brightness(const StokerTensor* image) {
  const unsigned char* bytes = image->data;
  size_t count = 1, i;
  double sum = 0;
  int axis;
  for (axis = 0; axis < image->rank; ++axis) count *= (size_t)image->shape[axis];
  for (i = 0; i < count; ++i) sum += bytes[i];
  return sum / (double)count;
}

int main(int argc, char** argv) {
  const char* paths[2] = {NULL, NULL};
  StokerDataset* data = NULL;
  StokerRecipe* recipe = NULL;
  StokerLoader* loader = NULL;
  StokerBatch* batch = NULL;
  StokerTensor image;
  double began, sum = 0;
  long samples = 0, batches = 0;
  int status;

  if (argc < 2) {
    fprintf(stderr, "feed DATA [NAME=VALUE...]\n");
    return 2;
  }
  paths[0] = argv[1];
  if (stoker_open(paths, NULL, &data) != kStokerOk) return fail("the data");
  if (stoker_recipe_parse(kRecipe, &recipe) != kStokerOk) return fail("the recipe");
  /* What follows DATA ends with NULL, as options do. */
  if (stoker_loader_create(data, recipe, (const char* const*)argv + 2, &loader) != kStokerOk) return fail("the loader");
  stoker_recipe_release(recipe);
  stoker_dataset_release(data);

  began = seconds();
  while ((status = stoker_loader_next(loader, &batch)) == kStokerOk) {
    if (stoker_batch_tensors(batch, "image", &image, 1, NULL) != kStokerOk) return fail("the batch");
    sum += brightness(&image);
    samples += stoker_batch_size(batch);
    ++batches;
    stoker_batch_release(batch);
  }
  stoker_loader_destroy(loader);
  if (status != kStokerEnd) return fail("the epoch");
  printf("%ld samples in %ld batches, %.0f a second; mean value %.1f\n", samples, batches, samples / (seconds() - began),
         batches ? sum / batches : 0.0);
  return 0;
}
