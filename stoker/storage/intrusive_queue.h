// First in, first out, without separate memory: the elements are linked through their member `next`. The owner of the
// elements bounds their number.
#pragma once

namespace stoker {

template <typename T>
class IntrusiveQueue {
 public:
  IntrusiveQueue() = default;
  explicit IntrusiveQueue(T& element) { push(element); }

  bool empty() const { return first_ == nullptr; }
  T* front() const { return first_; }

  void push(T& element) {
    element.next = nullptr;
    (first_ ? last_->next : first_) = &element;
    last_ = &element;
  }

  /// Null when empty. The element may be destroyed as soon as it was popped.
  T* pop() {
    T* const element = first_;
    if (element) first_ = element->next;
    return element;
  }

  /// Moves all of `other` to the end.
  void append(IntrusiveQueue& other) {
    while (T* const element = other.pop()) push(*element);
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace stoker
