// Lists of samples and their labels from outside a data set: from files, or from the folders in samples' keys.
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/field_texts.h"
#include "stoker/storage/stores.h"

namespace stoker {

struct Labels {
  std::vector<std::int64_t> numbers;  // one for each sample
  std::vector<std::string> classes;   // their names by number, where labels are names
};

/// From a text file with a line for each sample: "n01/img7.jpg,5" (CSV: the first two columns count) or "n01/img7.jpg
/// 5". A line has a key or a file's name, then a class number or a class name: names are numbered in the order of
/// `classes`, or in byte order if it is empty. Lines about other samples, such as a heading, are skipped. Throws kData
/// for a sample without a label or with several, and for a label that is neither; kIo, kNotFound, kClosed.
Labels read_labels(const Dataset& data, const std::string& path, const std::vector<std::string>& classes = {},
                   const std::stop_token& stop = {}, const Stores& stores = {});

/// The first folder in each sample's key is its class. Throws kData for a sample without a folder.
Labels labels_of_folders(const Dataset& data, const std::vector<std::string>& classes = {},
                         const std::stop_token& stop = {});

/// "folders", or the path of a file: one of the above.
Labels labels_given(const Dataset& data, const std::string& given, const std::vector<std::string>& classes = {},
                    const std::stop_token& stop = {}, const Stores& stores = {});

/// From the texts of a field: whole numbers, of which negative ones mean none, or names of classes. Names are numbered
/// in the order of `classes` if all are among them, else in byte order; -1 for none. Throws kData, naming the `field`,
/// if no sample has one.
Labels labels_of_texts(const LabelTexts& texts, const std::vector<std::string>& classes, const std::string& field);

/// The same from the samples' own field of that name (format/field_texts.h), with the data set's classes. Throws as
/// FieldTexts does, too.
Labels labels_of_field(const Dataset& data, const std::string& field, const std::stop_token& stop = {});

/// The entries of a text file, a key or a file's name a line; empty lines and those that begin with '#' are skipped.
/// Throws kIo, kNotFound.
std::vector<std::string> read_key_list(const std::string& path, const Stores& stores = {});

/// The samples that such a file names. Throws kData where it names none, and what samples_of_keys() throws.
std::vector<std::int64_t> samples_listed(const Dataset& data, const std::string& path, const Stores& stores = {},
                                         const std::stop_token& stop = {});

}  // namespace stoker
