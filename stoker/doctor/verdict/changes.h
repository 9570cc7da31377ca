// What would help, what would not, and what is more than is needed: the model's answers for changes that one can make.
#pragma once

#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/prediction.h"
#include "stoker/doctor/verdict/catalogue.h"
#include "stoker/doctor/verdict/right_size.h"

namespace stoker {

struct Change {
  std::string sentence;  // what to do: "use 16 cores instead of 8"
  std::string what_if;   // the same as `--what-if` takes it
  bool buys = false;     // it takes other hardware
  Prediction prediction;
  double gain = 0;              // relative, of samples a second: 0.31 is 31% more
  double error = 0;             // of the gain, to either side
  double first_epoch_gain = 0;  // while caches fill
};

/// Something of which there is more than the same rate needs, and more than the GPUs would need if all else were fast
/// enough.
struct Excess {
  std::string sentence;  // "6 of the 16 cores would do"
  std::string what_if;
  Prediction prediction;
};

struct Changes {
  std::vector<Change> helpful;  // the largest gain first; of about equal ones, those that buy nothing
  std::vector<Change>
      useless;  // whose gain is less than 3%: "a faster disk gives nothing"; and of the first epoch, less than 10%
  std::vector<Excess> excess;
};

/// `now` is predict(facts); `needed` is training_size(): nothing less than that is said to do.
Changes weigh_changes(const Facts& facts, const Prediction& now, const Catalogue& catalogue,
                      const TrainingSize& needed);

}  // namespace stoker
