// Stoker for C, and for the languages that call C: open a data set, load a recipe, loop over batches.
//
//   const char* paths[] = {"imagenet/train", NULL};
//   const char* options[] = {"batch=256", "seed=7", NULL};
//   StokerDataset* data = NULL;
//   StokerRecipe* recipe = NULL;
//   StokerLoader* loader = NULL;
//   if (stoker_open(paths, NULL, &data) || stoker_recipe_load("imagenet-train", &recipe) ||
//       stoker_loader_create(data, recipe, options, &loader)) {
//     fprintf(stderr, "%s\n", stoker_error());
//     return 1;
//   }
//   StokerBatch* batch = NULL;
//   StokerTensor image;
//   while (stoker_loader_next(loader, &batch) == kStokerOk) {
//     if (stoker_batch_tensors(batch, "image", &image, 1, NULL) == kStokerOk) train(image.data, image.shape);
//     stoker_batch_release(batch);
//   }
//   stoker_loader_destroy(loader);
//
// What a function creates is released by the function of its own type, in any order: a batch outlives its loader, and a
// loader needs neither the data set nor the recipe that it was made of. Texts that a function returns belong to what it
// was called with, and last until the same function is called again with that, or until that is released.
//
// Functions that return a status refuse NULL (kStokerUsage) where nothing says that it may be given, and functions that
// release take it. No other function may get it.
//
// Threads: a loader has one consumer; functions that other threads may call say so. Different loaders, and different
// batches, do not know of each other. What data sets, recipes and loaders do is described in the documentation.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STOKER_RANK_MAX 6

#ifdef __cplusplus
extern "C" {
#endif

// What most functions return; a failure has a sentence, too: stoker_error().
enum StokerStatus {
  kStokerOk = 0,
  kStokerEnd = 1,     // there are no more batches: of an epoch, or of the run
  kStokerLater = 2,   // there is no batch yet
  kStokerUsage = 10,  // a wrong argument, an unknown option
  kStokerNotFound = 11,
  kStokerIo = 12,         // the operating system or the network refused or failed
  kStokerData = 13,       // a data set as a whole is damaged or unusable
  kStokerBadSample = 14,  // one sample's bytes are bad, and the policy is to stop there
  kStokerLimit = 15,      // larger than a limit that protects the machine
  kStokerMemory = 16,     // memory, threads or descriptors that the machine refuses, or a budget that cannot work
  kStokerClosed = 17,     // the loader was interrupted
  kStokerInternal = 18,   // an error of Stoker's own
};

typedef struct StokerDataset StokerDataset;  // NOLINT(modernize-use-using): it is C, as is all of this file
typedef struct StokerRecipe StokerRecipe;    // NOLINT(modernize-use-using)
typedef struct StokerLoader StokerLoader;    // NOLINT(modernize-use-using)
typedef struct StokerBatch StokerBatch;      // NOLINT(modernize-use-using)

// Contiguous, row-major, not to be written.
typedef struct StokerTensor {  // NOLINT(modernize-use-using)
  const void* data;            // in the host's memory, or a GPU's
  const char* dtype;           // "f32", "u8", "i64", "f16", "bf16", ...
  size_t element_bytes;
  int32_t gpu;  // CUDA's number of the GPU whose memory it is in; -1: the host's
  int32_t rank;
  int64_t shape[STOKER_RANK_MAX];  // with the batch's axis first
} StokerTensor;

// "0.1.0"
const char* stoker_version(void);
// The sentence of the last failure in this thread: what went wrong, where, and what to do. Never NULL.
const char* stoker_error(void);

// Opens what the paths name, one after another: folders, shards, lists, patterns, URLs. `paths` and `options` end with
// NULL; `options`, "name=value", may be NULL: io, direct, use_index, index_dir, store_endpoint, store_region,
// store_anonymous, image_field, label_field, tokens, token_type, token_field, streams, document_seed, with the meanings
// that they have in Python.
int stoker_open(const char* const* paths, const char* const* options, StokerDataset** dataset);
int64_t stoker_dataset_size(const StokerDataset* dataset);
// NULL past the last class, and for data whose classes have no names.
const char* stoker_dataset_class(const StokerDataset* dataset, int64_t label);
void stoker_dataset_release(StokerDataset* dataset);

// A shipped recipe's name, or the path of a TOML file.
int stoker_recipe_load(const char* name_or_path, StokerRecipe** recipe);
// The text of such a file.
int stoker_recipe_parse(const char* toml, StokerRecipe** recipe);
void stoker_recipe_release(StokerRecipe* recipe);

// `options`, "name=value", end with NULL; all that Python's Loader has, by the same names: "batch=256", "threads=8",
// "memory=2GiB", "cache=ram". Which there are: docs/options.md.
int stoker_loader_create(const StokerDataset* dataset, const StokerRecipe* recipe, const char* const* options,
                         StokerLoader** loader);
// Of this rank.
int64_t stoker_loader_batches_per_epoch(const StokerLoader* loader);
// Moves to the first batch of an epoch. Not needed for one epoch after another, from 0.
int stoker_loader_start_epoch(StokerLoader* loader, int64_t epoch);
// The next batch; kStokerEnd once at the end of each epoch, after which the next epoch begins. The batch's memory is
// reused after its release: as many batches are held as were not released.
int stoker_loader_next(StokerLoader* loader, StokerBatch** batch);
// The same, but kStokerLater if there is none within that time.
int stoker_loader_next_within(StokerLoader* loader, int64_t milliseconds, StokerBatch** batch);
// The position, for a checkpoint: JSON, equal on every rank. What was made ahead does not count.
int stoker_loader_state(StokerLoader* loader, const char** json);
// Goes on from there; the number of ranks, threads and so on may be another.
int stoker_loader_load_state(StokerLoader* loader, const char* json);
// What has limited the run so far: JSON, whose keys docs/reports.md lists. Threads: any, one at a time.
int stoker_loader_report(StokerLoader* loader, const char** json);
// Makes a waiting stoker_loader_next() and all later ones return kStokerClosed. Threads: any.
void stoker_loader_interrupt(StokerLoader* loader);
// Stops and joins all threads. Its batches stay valid.
void stoker_loader_destroy(StokerLoader* loader);

// Slots: fewer than in other batches of the loader only at the end of an epoch, with "tail=keep".
int32_t stoker_batch_size(const StokerBatch* batch);
int64_t stoker_batch_epoch(const StokerBatch* batch);
int64_t stoker_batch_index(const StokerBatch* batch);
// Output number 0, 1, ...; NULL past the last.
const char* stoker_batch_output(const StokerBatch* batch, int32_t number);
// The tensors of an output, at most `room` of them, and how many there are, if `count` is not NULL. One with a value of
// one shape for each slot has one; one with values of any lengths has two: all values, and where those of each slot
// begin, with the end of the last; one that was padded to one length has two: the values, and how long each was. On a
// GPU they may still be written to: stoker_batch_wait(), or stoker_batch_wait_on().
int stoker_batch_tensors(const StokerBatch* batch, const char* output, StokerTensor* tensors, int32_t room,
                         int32_t* count);
// Whether a sample stands in the slot: not if it is padding, was bad and skipped, or if there is no such slot.
int stoker_batch_valid(const StokerBatch* batch, int32_t slot);
// Its number in the data set; its position in the epoch's order. -1 past the last slot.
int64_t stoker_batch_sample(const StokerBatch* batch, int32_t slot);
int64_t stoker_batch_position(const StokerBatch* batch, int32_t slot);
// Empty for padding, NULL past the last slot.
const char* stoker_batch_key(const StokerBatch* batch, int32_t slot);
// Waits until the tensors are written. In the host's memory they are.
int stoker_batch_wait(const StokerBatch* batch);
// Work that is given to this stream (a cudaStream_t) from now on waits for the tensors, and the memory is not reused
// before the work is done that the stream was given until the release.
int stoker_batch_wait_on(const StokerBatch* batch, void* stream);
void stoker_batch_release(StokerBatch* batch);

#ifdef __cplusplus
}
#endif
