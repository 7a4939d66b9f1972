#include "switchboard/autograd/view_nodes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/autograd/engine_operators.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"

namespace sb::internal {
namespace {

// A geometry of which dimensions are taken away. What only data or other sizes would tell of it is
// not asked: what is done then is right either way.
struct Places {
  SymDimVector sizes, strides;
  SymInt offset;

  explicit Places(const Geometry& g) : sizes(g.sizes), strides(g.strides), offset(g.offset) {}
  bool empty() const {
    return std::ranges::any_of(sizes, [](const SymInt& s) { return known(s == 0); });
  }
  // Elements from the first to the last.
  SymInt extent() const {
    SymInt last = 0;
    for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
    return last + 1;
  }
  // Whether two elements may share memory. Exact for what views of dense tensors look like.
  bool may_overlap() const {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t d) { return stand_in(strides[d]); });
    SymInt last = 0;
    for (const size_t d : order) {
      if (known(sizes[d] == 1)) continue;
      if (!known(strides[d] > last)) return true;
      last += (sizes[d] - 1) * strides[d];
    }
    return false;
  }
  void remove(size_t d) {
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    strides.erase(strides.begin() + static_cast<ptrdiff_t>(d));
  }
};

// For each element, its place in memory that begins at `start`.
Tensor places(const Places& g, const SymInt& start, const SymInt& extent, Device device) {
  const Tensor all = engine::arange(extent, TensorOptions(DType::Int64, device));
  return engine::reshape(engine::as_strided(all, g.sizes, g.strides, g.offset - start), {-1});
}

// The dimensions in which the geometry has several places, by stride: (stride, size).
using Steps = std::vector<std::pair<int64_t, int64_t>>;

std::optional<Steps> steps_at_hand(const Geometry& g) {
  Steps steps;
  for (size_t d = 0; d < g.sizes.size(); ++d) {
    const std::optional<int64_t> size = hint(g.sizes[d]), stride = hint(g.strides[d]);
    if (!size || !stride) return std::nullopt;
    if (*size != 1 && (*stride != 0 || *size == 0)) steps.emplace_back(*stride, *size);
  }
  std::ranges::sort(steps);
  return steps;
}

// Places from the first to the last.
int64_t extent_of(const Steps& steps) {
  int64_t last = 0;
  for (const auto& [stride, size] : steps) last += (size - 1) * stride;
  return last + 1;
}

bool has_gaps(const Steps& steps) {
  int64_t extent = 1;
  for (const auto& [stride, size] : steps) {
    if (stride > extent) return true;
    extent += (size - 1) * stride;
  }
  return false;
}

// Sorted, each once.
std::vector<int64_t> places_of(int64_t offset, const Steps& steps) {
  std::vector<int64_t> places{offset};
  for (const auto& [stride, size] : steps) {
    const size_t before = places.size();
    for (int64_t i = 1; i < size; ++i)
      for (size_t k = 0; k < before; ++k) places.push_back(places[k] + i * stride);
  }
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

// What memory a view has that its base has not, nobody recorded.
void check_inside(std::string_view node, const Geometry& view, const Geometry& base) {
  SB_CHECK_NOT_IMPLEMENTED(
      !reaches_beyond(base, view).value_or(false), node,
      ": autograd: the view has memory that its base has not, which was given another shape or is "
      "of another dtype; make the view of what has all the memory");
}

}  // namespace

std::optional<bool> reaches_beyond(const Geometry& base, const Geometry& view) {
  const auto of_base = steps_at_hand(base), of_view = steps_at_hand(view);
  const std::optional<int64_t> begin = hint(base.offset), from = hint(view.offset);
  if (!of_base || !of_view || !begin || !from) return std::nullopt;
  const auto is_empty = [](const Steps& steps) {
    return std::ranges::any_of(steps, [](const auto& step) { return step.second == 0; });
  };
  if (is_empty(*of_view) || is_empty(*of_base)) return !is_empty(*of_view);
  if (*from < *begin || *from + extent_of(*of_view) > *begin + extent_of(*of_base)) return true;
  if (!has_gaps(*of_base)) return false;
  return !std::ranges::includes(places_of(*begin, *of_base), places_of(*from, *of_view));
}

Tensor as_strided_gradient(const Tensor& incoming, const Geometry& base_geometry,
                           const Geometry& view_geometry) {
  Tensor grad = incoming;
  Places view(view_geometry);
  for (size_t d = view.sizes.size(); d-- > 0;) {
    const auto dim = static_cast<int64_t>(d);
    if (known(view.sizes[d] == 0))
      return engine::zeros(base_geometry.sizes, TensorOptions(grad.dtype(), grad.device()));
    if (known(view.sizes[d] == 1)) {
      grad = engine::squeeze_dim(grad, dim);
      view.remove(d);
    } else if (known(view.strides[d] == 0)) {
      grad = engine::sum_dim(grad, {dim}, false);
      view.remove(d);
    }
  }
  Places base(base_geometry);
  if (base.empty())
    return engine::zeros(base_geometry.sizes, TensorOptions(grad.dtype(), grad.device()));
  // Dimensions of one element are put back at the end.
  for (size_t d = base.sizes.size(); d-- > 0;)
    if (known(base.sizes[d] == 1)) base.remove(d);

  const SymInt start = sym_min(base.offset, view.offset);
  const SymInt extent =
      sym_max(base.offset - start + base.extent(), view.offset - start + view.extent());
  Tensor memory = engine::zeros({extent}, TensorOptions(grad.dtype(), grad.device()));
  if (view.may_overlap()) {
    engine::index_add_(memory, 0, places(view, start, extent, grad.device()),
                       engine::reshape(grad, {-1}));
  } else {
    engine::copy_(engine::as_strided(memory, view.sizes, view.strides, view.offset - start), grad);
  }
  if (base.may_overlap()) {
    const Tensor index = places(base, start, extent, grad.device());
    const Tensor count = engine::zeros({extent}, TensorOptions(grad.dtype(), grad.device()));
    engine::index_add_(
        count, 0, index,
        engine::ones({index.sym_size(0)}, TensorOptions(grad.dtype(), grad.device())));
    memory = engine::div(memory, count);  // what the base does not have is never read
  }
  return engine::as_strided(memory, base_geometry.sizes, base_geometry.strides,
                            base.offset - start);
}

AsStridedNode::AsStridedNode(const Tensor& base, const Tensor& view, bool must_be_inside)
    : base_(base), view_(view), must_be_inside_(must_be_inside) {
  add_edge(gradient_edge(base));
  add_input(view);
}

TensorVector AsStridedNode::apply(TensorVector grads) {
  if (!grads[0].defined()) return {Tensor()};
  if (must_be_inside_) check_inside(name(), view_, base_);
  return {as_strided_gradient(grads[0], base_, view_)};
}

CopySlicesNode::CopySlicesNode(const Tensor& base, const Tensor& view, ViewReplay replay,
                               NodePtr node, size_t self_edge)
    : base_(base),
      view_(view),
      replay_(std::move(replay)),
      node_(std::move(node)),
      self_edge_(self_edge) {
  add_edge(gradient_edge(base));
  for (size_t i = 0; i < node_->edges().size(); ++i)
    if (i != self_edge_) add_edge(node_->edge(i));
  add_input(base);
}

std::string CopySlicesNode::name() const { return str_cat("CopySlices of ", node_->name()); }

TensorVector CopySlicesNode::apply(TensorVector grads) {
  if (!grads[0].defined()) return TensorVector(edges().size());
  bool released;
  {
    const std::lock_guard<std::mutex> lock(mutex());
    released = released_;
  }
  SB_CHECK(!released, "backward: the graph was freed: ", name(),
           " ran before; call the first backward with retain_graph");
  if (!replay_) check_inside(name(), view_, base_);
  const Tensor& grad = grads[0];
  const Tensor result =
      engine::empty_strided(base_.sizes, base_.strides, grad.dtype(), std::nullopt, grad.device());
  engine::copy_(result, grad);
  const Tensor slice =
      replay_ ? replay_(result)
              : engine::as_strided(result, view_.sizes, view_.strides, view_.offset - base_.offset);
  TensorVector inner = node_->run({engine::clone(slice)});
  TensorVector outputs;
  outputs.push_back(result);
  for (size_t i = 0; i < inner.size(); ++i)
    if (i != self_edge_) outputs.push_back(std::move(inner[i]));
  if (self_edge_ < inner.size() && inner[self_edge_].defined())
    engine::copy_(slice, inner[self_edge_]);
  else
    engine::zero_(slice);
  return outputs;
}

void CopySlicesNode::release_saved() {
  {
    const std::lock_guard<std::mutex> lock(mutex());
    released_ = true;
  }
  if (node_) node_->release_saved();
}

void CopySlicesNode::release_resources() {
  node_ = nullptr;  // before the edges, which lead to the same nodes
  GradNode::release_resources();
}

}  // namespace sb::internal
