// The closed form: the rate of a configuration is the least over its resources of capacity divided by a sample's
// demand.
#pragma once

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/configuration.h"
#include "stoker/doctor/model/prediction.h"

namespace stoker {

/// Of what was measured, changed by the configuration. The GPUs' idle share comes from a simulation of the ring
/// (ring_simulation.h), since means hide stragglers.
Prediction predict(const Facts& facts, const Configuration& change = {});

}  // namespace stoker
