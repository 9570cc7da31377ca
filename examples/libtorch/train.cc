// Trains a small network with libtorch on the batches of Stoker's C++ library, and goes on where an earlier run was
// stopped.
//
//   train DATA CHECKPOINT [EPOCHS [STEPS]]     STEPS: so many in this run, then stop
#include <stoker/stoker.h>
#include <torch/torch.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void train(const std::string& data, const std::filesystem::path& checkpoint, int epochs, long steps_max) {
  torch::manual_seed(0);
  const auto dataset = stoker::open(data);
  stoker::Loader loader(dataset, stoker::Recipe::named("cifar-train"), {.batch = 16, .seed = 1});
  torch::nn::Sequential network = small_network(static_cast<int>(dataset->classes().size()));
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));

  std::filesystem::create_directories(checkpoint);
  if (std::filesystem::exists(checkpoint / "loader.json")) {
    torch::load(network, checkpoint / "network.pt");
    torch::load(optimizer, checkpoint / "optimizer.pt");
    loader.load_state(contents(checkpoint / "loader.json"));
  }

  long steps = 0;
  while (loader.next_epoch() < epochs && steps < steps_max) {
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
      if (++steps == steps_max) break;
    }
    if (batches > 0) std::printf("epoch %lld: mean loss %.3f\n", static_cast<long long>(epoch), sum / batches);
  }

  torch::save(network, checkpoint / "network.pt");
  torch::save(optimizer, checkpoint / "optimizer.pt");
  std::ofstream(checkpoint / "loader.json") << loader.state();
  std::printf("%ld steps in this run\n", steps);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("train DATA CHECKPOINT [EPOCHS [STEPS]]\n", stderr);
    return 2;
  }
  try {
    train(argv[1], argv[2], argc > 3 ? std::stoi(argv[3]) : 2, argc > 4 ? std::stol(argv[4]) : 1'000'000'000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
