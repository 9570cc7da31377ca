#include "stoker/doctor/report/diagnosis_json.h"

#include <cmath>
#include <optional>

#include "stoker/doctor/facts_json.h"
#include "stoker/doctor/report/doctor_words.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json limits_json(const Prediction& prediction) {
  Json limits = Json::array();
  for (const Limit& limit : prediction.limits) {
    limits.push_back({{"resource", name_of(limit.limiter)}, {"samples_per_s", limit.samples_per_s}});
  }
  return limits;
}

Json prediction_json(const Prediction& prediction) {
  return {{"samples_per_s", prediction.samples_per_s}, {"samples_per_s_needed", prediction.samples_per_s_needed},
          {"gpu_idle", prediction.gpu_idle},           {"bottleneck", name_of(prediction.bottleneck().limiter)},
          {"limits", limits_json(prediction)},         {"error", prediction.error}};
}

Json changes_json(const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    list.push_back({{"change", change.sentence},
                    {"gain", change.gain},
                    {"error", change.error},
                    {"first_epoch_gain", change.first_epoch_gain},
                    {"buys", change.buys},
                    {"what_if", change.what_if},
                    {"samples_per_s", change.prediction.samples_per_s},
                    {"gpu_idle", change.prediction.gpu_idle},
                    {"bottleneck", name_of(change.prediction.bottleneck().limiter)}});
  }
  return list;
}

Json excess_json(const std::vector<Excess>& excess) {
  Json list = Json::array();
  for (const Excess& each : excess) {
    list.push_back({{"change", each.sentence},
                    {"what_if", each.what_if},
                    {"samples_per_s", each.prediction.samples_per_s},
                    {"gpu_idle", each.prediction.gpu_idle}});
  }
  return list;
}

Json scaling_json(const std::vector<GpuScaling>& scaling, const char* what) {
  Json list = Json::array();
  for (const GpuScaling& point : scaling) {
    list.push_back({{what, point.gpus},
                    {"samples_per_s", point.samples_per_s},
                    {"efficiency", point.efficiency},
                    {"bottleneck", name_of(point.limiter)}});
  }
  return list;
}

Json offers_json(const std::vector<MachineOffer>& offers) {
  Json list = Json::array();
  for (const MachineOffer& offer : offers) {
    list.push_back({{"machine", offer.machine.name},
                    {"fed", offer.fed},
                    {"samples_per_s", offer.prediction.samples_per_s},
                    {"gpu_idle", offer.prediction.gpu_idle},
                    {"bottleneck", name_of(offer.prediction.bottleneck().limiter)},
                    {"price_per_hour", or_null(offer.machine.price_per_hour)},
                    {"samples_per_price", or_null(offer.samples_per_price)}});
  }
  return list;
}

Json right_size_json(const RightSize& size) {
  Json loads = Json::array();
  for (const LoadPoint& load : size.inference.loads) {
    loads.push_back({{"samples_per_s", load.samples_per_s},
                     {"latency_s_p50", load.latency_s_p50},
                     {"latency_s_p99", load.latency_s_p99}});
  }
  const TrainingSize& training = size.training;
  return {{"training",
           {{"reachable", training.reachable},
            {"vcpus_per_gpu", training.vcpus_per_gpu},
            {"memory_bytes", training.memory_bytes},
            {"disk", training.disk},
            {"network", training.network},
            {"layout", training.layout},
            {"cache", training.cache}}},
          {"inference",
           {{"samples_per_s_most", size.inference.samples_per_s_most},
            {"bottleneck", name_of(size.inference.limiter)},
            {"vcpus_per_gpu", size.inference.vcpus_per_gpu},
            {"loads", loads}}},
          {"preprocessing",
           {{"hours", size.preprocessing.hours},
            {"samples_per_s", size.preprocessing.samples_per_s},
            {"bottleneck", name_of(size.preprocessing.limiter)},
            {"vcpus_enough", size.preprocessing.vcpus_enough}}},
          {"gpus", scaling_json(size.scaling, "gpus")},
          {"gpus_scale_below", or_null(size.gpus_scale_below)},
          {"nodes", scaling_json(size.node_scaling, "nodes")},
          {"portions",
           {{"memory_coded", or_null(size.portions.memory_coded)},
            {"memory_decoded", or_null(size.portions.memory_decoded)},
            {"gpu_coded", or_null(size.portions.gpu_coded)},
            {"gpu_decoded", or_null(size.portions.gpu_decoded)}}},
          {"machines", offers_json(size.offers)}};
}

Json bad_samples_json(const Diagnosis& diagnosis) {
  const BadFacts& bad = diagnosis.facts.data.bad_samples;
  const BadOutlook& outlook = diagnosis.bad_samples;
  return {{"looked", bad.looked},         {"bad", bad.bad},
          {"listed", bad.listed},         {"policy", diagnosis.facts.run.bad_sample},
          {"in_epoch", outlook.in_epoch}, {"most", outlook.any() ? Json(outlook.most) : Json(nullptr)},
          {"text", outlook.text}};
}

Json time_json(const TrainingVerdict& verdict) {
  Json parts = Json::array();
  for (const TimePart& part : verdict.gpu_time) parts.push_back({{"what", part.text()}, {"share", part.share}});
  return parts;
}

Json curve_json(const CoreCurve& curve) {
  Json points = Json::array();
  for (const CorePoint& point : curve.points) {
    points.push_back({{"cores", point.cores}, {"samples_per_s", point.samples_per_s}});
  }
  return {{"points", points}, {"knee", or_null(curve.knee)}};
}

}  // namespace

Json diagnosis_json(const Diagnosis& diagnosis) {
  const Prediction& now = diagnosis.now;
  const TrainingVerdict& verdict = diagnosis.verdict;
  Json facts = facts_json(diagnosis.facts), json;
  json["verdict"] = verdict.sentence;
  json["fed"] = verdict.runs() && verdict.measurable() ? Json(verdict.fed()) : Json(nullptr);
  json["samples_per_s"] = now.samples_per_s;
  json["samples_per_s_needed"] = now.samples_per_s_needed;
  json["gpu_idle"] = now.gpu_idle;
  json["bottleneck"] = name_of(verdict.bottleneck.limiter);
  json["limits"] = limits_json(now);
  json["changes"] = changes_json(diagnosis.changes.helpful);
  json["useless"] = changes_json(diagnosis.changes.useless);
  json["machine"] = facts["machine"];
  json["excess"] = excess_json(diagnosis.changes.excess);
  json["not_measured"] = verdict.not_measured;
  json["would_stop"] = verdict.runs() ? Json(nullptr) : Json(verdict.stops);
  json["bad_samples"] = bad_samples_json(diagnosis);
  json["bound"] = name_of(verdict.bound);
  json["gpu_time"] = time_json(verdict);
  json["error"] = now.error;
  json["first_epoch_samples_per_s"] = now.first_epoch_samples_per_s;
  json["miss_share"] = now.miss_share;
  json["wait_s_p50"] = now.wait_s_p50;
  json["wait_s_p95"] = now.wait_s_p95;
  json["what_if"] = Json::array();
  for (const WhatIf& what_if : diagnosis.what_ifs) {
    Json entry = {{"what_if", what_if.text}, {"gain", what_if.gain}};
    entry.update(prediction_json(what_if.prediction));
    json["what_if"].push_back(std::move(entry));
  }
  json["right_size"] = right_size_json(diagnosis.right_size);
  json["cores"] = curve_json(diagnosis.by_cores);
  json["runs"] = Json::array();
  for (const ComparedRun& each : diagnosis.runs) {
    json["runs"].push_back({{"run", each.run.name},
                            {"samples_per_s", each.run.samples_per_s},
                            {"predicted", each.predicted_samples_per_s},
                            {"error", each.comparable() ? Json(each.error()) : Json(nullptr)},
                            {"differs", each.comparable() ? Json(nullptr) : Json(each.differs)}});
  }
  json["doubts"] = doubts_of(diagnosis);
  json["commands"] = diagnosis.commands;
  json["facts"] = std::move(facts);
  return json;
}

}  // namespace stoker
