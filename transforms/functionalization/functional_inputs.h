// The plain tensors that a functionalised program reads and writes.

#ifndef SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_INPUTS_H_
#define SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_INPUTS_H_

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/transforms/functionalization/functional_tensor.h"

namespace sb {

// Makes functional tensors of plain ones: the same one of the same one, and views of one storage of
// views of one storage. What is written to them is written to the plain tensors at the end, and
// gradients that backward() has left on them become the plain ones'. To autograd they look as the
// plain ones. Keeps the plain tensors alive. One thread at a time.
class FunctionalInputs {
 public:
  explicit FunctionalInputs(IntrusivePtr<FunctionalOwner> owner = nullptr)
      : owner_(std::move(owner)) {}

  // The functional tensor of a plain one. RuntimeError as to_functional_tensor, and for one that
  // requires a gradient, of a memory that was written to by way of others.
  Tensor wrap(const Tensor& plain);
  // Whether the tensor's storage, or a part of it, has been wrapped.
  bool knows(const Tensor& plain) const { return storages_.contains(plain.storage().get()); }

  // Throws NotImplementedError where the operator has made `value` of a view of an input that
  // requires a gradient, and it has elements which that input has not: the way of their gradients
  // is not known here.
  void check_reach(std::string_view op, const FunctionalTensorImpl& viewed,
                   const Tensor& value) const;

  // Ends the program: writes to the plain tensors what it wrote to their functional ones, data
  // first and then shapes, and gives the plain tensors of its results: the input where the result
  // is one, a view of an input's memory where it is that, else the value. Results that are not
  // functional, or not of the same owner, stay. Forgets all inputs. The calls go through the
  // dispatcher as any, and autograd records them where it recorded the writes. RuntimeError for a
  // result that requires a gradient which has no way to the plain tensors.
  std::vector<Tensor> finish(const std::vector<Tensor>& results);
  // Whether there is something to write, besides the elements of the memory of these.
  bool mutated(const std::vector<Tensor>& besides = {}) const;

 private:
  struct Input {
    Tensor plain;
    Tensor functional;
    size_t lineage;  // when it was wrapped: detach_ takes it off
    Tensor grad;     // functional, then
  };
  // How autograd knows a memory, by one lineage of its functional storage.
  struct Lineage {
    Tensor root;   // plain: no view of another
    Tensor first;  // the first input of the lineage; undefined where the program made it
    Tensor base;   // plain: all of the memory, as a view of the root; made when it is needed
  };
  struct Memory {
    IntrusivePtr<FunctionalStorage> functional;
    std::vector<Lineage> lineages;

    size_t lineage_of(const Tensor& plain);
    const Tensor& base(size_t lineage);
  };
  Tensor wrap_first(const Tensor& plain);
  Tensor wrap_another(const Tensor& plain, Memory* memory);
  // Throws RuntimeError where the tensor has another storage than when it was wrapped.
  const Memory& memory_of(const Tensor& plain) const;
  // The memory that the functional tensor is a view of; null if the program made it.
  Memory* find_memory(const FunctionalTensorImpl& functional);
  void forget();
  // Whether the program gave the input another memory than it had, and whether that is the one that
  // it had, made larger.
  bool has_moved(const Input& input) const;
  bool has_grown(const Input& input) const;
  void check_known_apart(const std::vector<Tensor>& results) const;
  void write_data(const std::vector<Tensor>& results);
  bool has_history_of_its_own(const std::vector<Tensor>& results, Memory* memory, size_t lineage);
  void write_to_inputs(Memory* memory, size_t lineage);
  void write_shapes();
  void write_grads();
  bool is_ours(const Tensor& tensor) const;
  Tensor plain_result(const Tensor& result);
  Tensor view_of(const std::vector<Input>& grown, const Tensor& result);

  IntrusivePtr<FunctionalOwner> owner_;
  std::vector<Input> inputs_;  // in the order of their wrapping
  absl::flat_hash_map<const TensorImpl*, size_t> index_;
  std::vector<Memory> memories_;
  absl::flat_hash_map<const StorageImpl*, size_t> storages_;
};

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_FUNCTIONALIZATION_FUNCTIONAL_INPUTS_H_
