#include "stoker/doctor/facts_json.h"

#include <concepts>
#include <string>
#include <type_traits>

#include "stoker/base/error.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

// Each struct names its fields once, for an archive that writes or reads them.

template <typename Archive>
void fields_of(Figure& figure, Archive& archive) {
  archive("median", figure.median);
  archive("low", figure.low);
  archive("high", figure.high);
  archive("count", figure.count);
  archive("caveat", figure.caveat);
}

template <typename Archive>
void fields_of(GpuFacts& gpu, Archive& archive) {
  archive("name", gpu.name);
  archive("bus_id", gpu.bus_id);
  archive("numa_node", gpu.numa_node);
  archive("link_bytes_per_s", gpu.link_bytes_per_s);
  archive("memory_bytes", gpu.memory_bytes);
}

template <typename Archive>
void fields_of(MachineFacts& machine, Archive& archive) {
  archive("name", machine.name);
  archive("cores", machine.cores);
  archive("sockets", machine.sockets);
  archive("numa_nodes", machine.numa_nodes);
  archive("memory_bytes", machine.memory_bytes);
  archive("gpus", machine.gpus);
  archive("network_bytes_per_s", machine.network_bytes_per_s);
  archive("stolen_share", machine.stolen_share);
  archive("others_cores", machine.others_cores);
}

template <typename Archive>
void fields_of(ReadFacts& reads, Archive& archive) {
  archive("bytes", reads.bytes);
  archive("depth", reads.depth);
  archive("reads_per_s", reads.reads_per_s);
  archive("latency_s", reads.latency_s);
}

template <typename Archive>
void fields_of(StorageFacts& storage, Archive& archive) {
  archive("file_system", storage.file_system);
  archive("device", storage.device);
  archive("device_class", storage.device_class);
  archive("over_network", storage.over_network);
  archive("cold_bytes_per_s", storage.cold_bytes_per_s);
  archive("warm_bytes_per_s", storage.warm_bytes_per_s);
  archive("cold", storage.cold);
  archive("warm", storage.warm);
  archive("cold_opens_per_s", storage.cold_opens_per_s);
  archive("warm_opens_per_s", storage.warm_opens_per_s);
  archive("limit_bytes_per_s", storage.limit_bytes_per_s);
  archive("limit_reads_per_s", storage.limit_reads_per_s);
}

template <typename Archive>
void fields_of(StoreFacts& store, Archive& archive) {
  archive("first_byte_s", store.first_byte_s);
  archive("first_byte_s_p99", store.first_byte_s_p99);
  archive("connection_bytes_per_s", store.connection_bytes_per_s);
  archive("link_bytes_per_s", store.link_bytes_per_s);
  archive("requests_per_s", store.requests_per_s);
  archive("requests_at_once", store.requests_at_once);
  archive("cpu_s_per_request", store.cpu_s_per_request);
  archive("cpu_s_per_byte", store.cpu_s_per_byte);
  archive("throttled", store.throttled);
}

template <typename Archive>
void fields_of(StageFacts& stage, Archive& archive) {
  archive("name", stage.name);
  archive("kind", stage.kind);
  archive("cpu_s", stage.cpu_s);
  archive("device_s", stage.device_s);
  archive("bytes_out", stage.bytes_out);
}

template <typename Archive>
void fields_of(CpuFacts::Scaling& scaling, Archive& archive) {
  archive("threads", scaling.threads);
  archive("samples_per_s", scaling.samples_per_s);
  archive("cpu_s", scaling.cpu_s);
}

template <typename Archive>
void fields_of(CpuFacts& cpu, Archive& archive) {
  archive("stages", cpu.stages);
  archive("other_s", cpu.other_s);
  archive("sample_s", cpu.sample_s);
  archive("scaling", cpu.scaling);
  archive("entry_point_share", cpu.entry_point_share);
  archive("indexed_decode", cpu.indexed_decode);
}

template <typename Archive>
void fields_of(MemoryFacts& memory, Archive& archive) {
  archive("copy_bytes_per_s", memory.copy_bytes_per_s);
  archive("cores", memory.cores);
  archive("copied_bytes", memory.copied_bytes);
}

template <typename Archive>
void fields_of(CopyFacts& copy, Archive& archive) {
  archive("device", copy.device);
  archive("pinned_bytes_per_s", copy.pinned_bytes_per_s);
  archive("pageable_bytes_per_s", copy.pageable_bytes_per_s);
  archive("far_bytes_per_s", copy.far_bytes_per_s);
  archive("bytes_per_sample", copy.bytes_per_sample);
  archive("cpu_s_per_sample", copy.cpu_s_per_sample);
  archive("device_s", copy.device_s);
  archive("together_bytes_per_s", copy.together_bytes_per_s);
  archive("together", copy.together);
}

template <typename Archive>
void fields_of(StepFacts& step, Archive& archive) {
  archive("source", step.source);
  archive("seconds", step.seconds);
  archive("batch", step.batch);
  archive("gpus", step.gpus);
  archive("account", step.account);
}

template <typename Archive>
void fields_of(DataFacts::Codec& codec, Archive& archive) {
  archive("name", codec.name);
  archive("share", codec.share);
}

template <typename Archive>
void fields_of(DataFacts::OrderReads& reads, Archive& archive) {
  archive("order", reads.order);
  archive("bytes", reads.bytes);
  archive("requests", reads.requests);
  archive("index_bytes", reads.index_bytes);
  archive("index_requests", reads.index_requests);
}

template <typename Archive>
void fields_of(BadFacts& bad, Archive& archive) {
  archive("looked", bad.looked);
  archive("bad", bad.bad);
  archive("listed", bad.listed);
  archive("example", bad.example);
}

template <typename Archive>
void fields_of(DataFacts& data, Archive& archive) {
  archive("layout", data.layout);
  archive("format", data.format);
  archive("samples", data.samples);
  archive("bytes", data.bytes);
  archive("read_bytes", data.read_bytes);
  archive("requests", data.requests);
  archive("index_bytes", data.index_bytes);
  archive("index_requests", data.index_requests);
  archive("other_orders", data.other_orders);
  archive("record_bytes", data.record_bytes);
  archive("record_bytes_quantiles", data.record_bytes_quantiles);
  archive("width_quantiles", data.width_quantiles);
  archive("height_quantiles", data.height_quantiles);
  archive("codecs", data.codecs);
  archive("bits_per_pixel", data.bits_per_pixel);
  archive("slow_path_share", data.slow_path_share);
  archive("bad_samples", data.bad_samples);
}

template <typename Archive>
void fields_of(RunFacts& run, Archive& archive) {
  archive("batch", run.batch);
  archive("threads", run.threads);
  archive("prefetch", run.prefetch);
  archive("io_depth", run.io_depth);
  archive("transfer_index", run.transfer_index);
  archive("order", run.order);
  archive("may_window", run.may_window);
  archive("memory_bytes", run.memory_bytes);
  archive("direct", run.direct);
  archive("cache", run.cache);
  archive("cache_bytes", run.cache_bytes);
  archive("slots", run.slots);
  archive("different_samples", run.different_samples);
  archive("bad_sample", run.bad_sample);
}

template <typename Archive>
void fields_of(Facts& facts, Archive& archive) {
  archive("machine", facts.machine);
  archive("storage", facts.storage);
  archive("store", facts.store);
  archive("cpu", facts.cpu);
  archive("memory", facts.memory);
  archive("copy", facts.copy);
  archive("step", facts.step);
  archive("data", facts.data);
  archive("run", facts.run);
  archive("doubts", facts.doubts);
}

template <typename Value>
concept Plain = std::is_arithmetic_v<Value> || std::same_as<Value, std::string>;

class FactsWriter {
 public:
  template <typename Value>
  void operator()(const char* name, Value& value) {
    json_[name] = json_of(value);
  }

  template <typename Value>
  static Json json_of(Value& value) {
    if constexpr (Plain<Value>) {
      return value;
    } else {
      if constexpr (std::same_as<Value, Figure>) {
        if (!value.known()) return nullptr;
      }
      FactsWriter writer;
      fields_of(value, writer);
      return std::move(writer.json_);
    }
  }
  template <typename Value>
  static Json json_of(std::optional<Value>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <typename Value>
  static Json json_of(std::vector<Value>& values) {
    Json list = Json::array();
    for (Value& value : values) list.push_back(json_of(value));
    return list;
  }

 private:
  Json json_ = Json::object();
};

class FactsReader {
 public:
  explicit FactsReader(const Json& json) : json_(json) {
    if (!json.is_object()) fail(ErrorKind::kData, "these are not facts of a diagnosis");
  }

  template <typename Value>
  void operator()(const char* name, Value& value) {
    const auto found = json_.find(name);
    if (found == json_.end() || found->is_null()) return;
    try {
      read(*found, value);
    } catch (const nlohmann::json::exception&) {
      fail(ErrorKind::kData, "'{}' is not what the facts of a diagnosis have there", name);
    } catch (const Error& error) {
      throw error.with_context(name);
    }
  }

 private:
  template <typename Value>
  static void read(const Json& json, Value& value) {
    if constexpr (Plain<Value>) {
      json.get_to(value);
    } else {
      FactsReader reader(json);
      fields_of(value, reader);
    }
  }
  template <typename Value>
  static void read(const Json& json, std::optional<Value>& value) {
    if (!json.is_null()) read(json, value.emplace());
  }
  template <typename Value>
  static void read(const Json& json, std::vector<Value>& values) {
    if (!json.is_array()) fail(ErrorKind::kData, "it is no list");
    values.clear();
    for (const Json& one : json) read(one, values.emplace_back());
  }

  const Json& json_;
};

}  // namespace

nlohmann::ordered_json facts_json(const Facts& facts) {
  Facts copy = facts;  // writing and reading share what names the fields
  return FactsWriter::json_of(copy);
}

Facts facts_of_json(const nlohmann::ordered_json& json) {
  Facts facts;
  FactsReader reader(json);
  fields_of(facts, reader);
  return facts;
}

}  // namespace stoker
