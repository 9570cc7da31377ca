// Trains a small network with libtorch on the batches of Stoker's C++ library, and goes on where an earlier run was
// stopped.
//
//   train DATA CHECKPOINT [EPOCHS [STEPS [EVERY]]]
//
// STEPS: so many in this run, then stop; EVERY: so many between two checkpoints, and the end of an epoch has one, too.
#include <stoker/stoker.h>
#include <torch/torch.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

torch::ScalarType type_of(stoker::DType dtype) {
  switch (dtype) {
    case stoker::DType::kF32: return torch::kFloat32;
    case stoker::DType::kI64: return torch::kInt64;
    default: throw std::runtime_error("this example knows float32 and int64");
  }
}

// The same memory; the batch lives as long as the tensor.
torch::Tensor tensor_of(const stoker::BatchPtr& batch, const char* name) {
  const stoker::TensorView view = batch->output(name);
  std::vector<std::int64_t> shape;
  for (int axis = 0; axis < view.shape.rank(); ++axis) shape.push_back(view.shape[axis]);
  return torch::from_blob(
      view.data, shape, [batch](void*) {}, torch::TensorOptions(type_of(view.dtype)));
}

torch::nn::Sequential small_network(int classes) {
  using namespace torch::nn;
  return Sequential(Conv2d(Conv2dOptions(3, 32, 3).padding(1)), ReLU(), MaxPool2d(2),
                    Conv2d(Conv2dOptions(32, 64, 3).padding(1)), ReLU(), AdaptiveAvgPool2d(1), Flatten(),
                    Linear(64, classes));
}

// Whole or not at all: a process that is killed while it writes leaves the checkpoint before.
void save(const std::string& path, const torch::nn::Sequential& network, const torch::optim::SGD& optimizer,
          const stoker::Loader& loader) {
  torch::serialize::OutputArchive all, of_network(all.compilation_unit()), of_optimizer(all.compilation_unit());
  network->save(of_network);
  optimizer.save(of_optimizer);
  all.write("network", of_network);
  all.write("optimizer", of_optimizer);
  all.write("loader", torch::IValue(loader.state()));
  all.save_to(path + ".unfinished");
  std::filesystem::rename(path + ".unfinished", path);
}

void load(const std::string& path, torch::nn::Sequential& network, torch::optim::SGD& optimizer,
          stoker::Loader& loader) {
  torch::serialize::InputArchive all, of_network, of_optimizer;
  torch::IValue state;
  all.load_from(path);
  all.read("network", of_network);
  all.read("optimizer", of_optimizer);
  all.read("loader", state);
  network->load(of_network);
  optimizer.load(of_optimizer);
  loader.load_state(state.toStringRef());
}

struct Limits {
  int epochs = 2;
  long steps = 1'000'000'000;  // of this run
  long every = 1000;           // steps between two checkpoints
};

void train(const std::string& data, const std::string& checkpoint, const Limits& limits) {
  torch::manual_seed(0);
  const auto dataset = stoker::open(data);
  stoker::Loader loader(dataset, stoker::Recipe::named("cifar-train"), {.batch = 16, .seed = 1});
  torch::nn::Sequential network = small_network(static_cast<int>(dataset->classes().size()));
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));

  if (std::filesystem::exists(checkpoint)) load(checkpoint, network, optimizer, loader);

  long steps = 0;
  while (loader.next_epoch() < limits.epochs && steps < limits.steps) {
    const std::int64_t epoch = loader.next_epoch();
    double sum = 0;
    long batches = 0;
    for (const stoker::BatchPtr& batch : loader.epoch(epoch)) {
      optimizer.zero_grad();
      const torch::Tensor scores = network->forward(tensor_of(batch, "image"));
      const torch::Tensor loss = torch::nn::functional::cross_entropy(scores, tensor_of(batch, "label"));
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++batches;
      std::printf("epoch %lld, batch %lld: first sample %s\n", static_cast<long long>(batch->epoch),
                  static_cast<long long>(batch->index), batch->key[0].c_str());
      if (++steps % limits.every == 0) save(checkpoint, network, optimizer, loader);
      if (steps == limits.steps) break;
    }
    if (batches > 0) std::printf("epoch %lld: mean loss %.3f\n", static_cast<long long>(epoch), sum / batches);
    save(checkpoint, network, optimizer, loader);
  }
  std::printf("%ld steps in this run\n", steps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("train DATA CHECKPOINT [EPOCHS [STEPS [EVERY]]]\n", stderr);
    return 2;
  }
  try {
    Limits limits;
    if (argc > 3) limits.epochs = std::stoi(argv[3]);
    if (argc > 4) limits.steps = std::stol(argv[4]);
    if (argc > 5) limits.every = std::stol(argv[5]);
    train(argv[1], argv[2], limits);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
