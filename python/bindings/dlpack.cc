#include "python/bindings/dlpack.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nb = nanobind;

namespace stoker::dlpack {
namespace {

// The exchanged structure together with what it points to.
template <typename Form>
struct Export {
  Form form;
  std::shared_ptr<const void> owner;
  std::array<std::int64_t, Shape::kMaxRank> shape, strides;
};

template <typename Form>
constexpr const char* kCapsuleName = std::is_same_v<Form, ManagedVersioned> ? "dltensor_versioned" : "dltensor";

template <typename Form>
void release(Form* form) {
  delete static_cast<Export<Form>*>(form->context);
}

// A consumer renames the capsule; one that was not consumed still owns what it holds.
template <typename Form>
void release_unconsumed(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kCapsuleName<Form>)) return;
  release(static_cast<Form*>(PyCapsule_GetPointer(capsule, kCapsuleName<Form>)));
}

template <typename Form>
nb::object capsule_of(const TensorView& view, Device device, const std::shared_ptr<const void>& owner,
                      [[maybe_unused]] std::uint64_t flags) {
  auto made = std::make_unique<Export<Form>>();
  made->owner = owner;
  std::int64_t stride = 1;
  for (std::size_t axis = view.shape.rank(); axis-- > 0;) {
    made->shape[axis] = view.shape[axis];
    made->strides[axis] = stride;
    stride *= view.shape[axis];
  }
  made->form.tensor = {view.data,
                       device,
                       static_cast<std::int32_t>(view.shape.rank()),
                       data_type(view.dtype),
                       made->shape.data(),
                       made->strides.data(),
                       0};
  made->form.context = made.get();
  made->form.deleter = &release<Form>;
  if constexpr (std::is_same_v<Form, ManagedVersioned>) {
    made->form.version_major = 1;
    made->form.flags = flags;
  }
  PyObject* capsule = PyCapsule_New(&made->form, kCapsuleName<Form>, &release_unconsumed<Form>);
  if (!capsule) throw nb::python_error();
  static_cast<void>(made.release());  // the capsule's now
  return nb::steal(capsule);
}

}  // namespace

DataType data_type(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(dtype));
  constexpr std::uint8_t kSigned = 0, kUnsigned = 1, kFloat = 2, kBrainFloat = 4, kTruth = 6;
  if (dtype == DType::kBF16) return {kBrainFloat, bits, 1};
  if (dtype == DType::kBool) return {kTruth, bits, 1};
  if (is_integer(dtype)) return {is_signed(dtype) ? kSigned : kUnsigned, bits, 1};
  return {kFloat, bits, 1};
}

nb::object make_capsule(TensorView view, Device device, std::shared_ptr<const void> owner, ExportOptions options) {
  if (options.copy) {
    auto memory = std::make_shared<Memory>(host_allocator(), view.bytes());
    std::memcpy(memory->data(), view.data, view.bytes());
    view.data = memory->data();
    owner = std::move(memory);
  }
  const std::uint64_t flags = options.copy ? kCopied : options.read_only ? kReadOnly : 0;
  if (options.versioned) return capsule_of<ManagedVersioned>(view, device, owner, flags);
  return capsule_of<Managed>(view, device, owner, flags);
}

}  // namespace stoker::dlpack
