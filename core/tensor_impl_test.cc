#include "switchboard/core/tensor_impl.h"

#include <cstdlib>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"

namespace sb {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kHuge = int64_t{1} << 40;

IntrusivePtr<TensorImpl> make_impl() {
  return make_intrusive<TensorImpl>(nullptr, tensor_key_set(DeviceType::Meta), DType::Float32,
                                    Device(DeviceType::Meta));
}

TEST_CASE("a new tensor has shape [0]", "[core][tensor]") {
  const auto impl = make_impl();
  CHECK(impl->sizes() == IntArrayRef(Ints{0}));
  CHECK(impl->strides() == IntArrayRef(Ints{1}));
  CHECK(impl->numel() == 0);
  CHECK(impl->is_contiguous());
}

TEST_CASE("contiguous strides count a size of 0 as 1", "[core][tensor]") {
  struct Case {
    Ints sizes, strides;
  };
  for (const Case& c : std::vector<Case>{{{}, {}},
                                         {{5}, {1}},
                                         {{2, 3}, {3, 1}},
                                         {{0, 3, 4}, {12, 4, 1}},
                                         {{2, 0, 3}, {3, 3, 1}},
                                         {{1, 2, 3, 4, 5}, {120, 60, 20, 5, 1}},
                                         {{2, 1, 2, 1, 2, 0, 3}, {12, 12, 6, 6, 3, 3, 1}}}) {
    const auto impl = make_impl();
    impl->set_sizes_contiguous(c.sizes);
    CHECK(impl->sizes() == IntArrayRef(c.sizes));
    CHECK(impl->strides() == IntArrayRef(c.strides));
    CHECK(impl->is_contiguous());
    CHECK(impl->is_non_overlapping_and_dense());
  }
}

TEST_CASE("channels-last strides put the channels innermost", "[core][tensor]") {
  const auto impl = make_impl();
  impl->set_sizes_contiguous({2, 3, 4, 5}, MemoryFormat::ChannelsLast);
  CHECK(impl->strides() == IntArrayRef(Ints{60, 1, 15, 3}));
  CHECK(impl->is_contiguous(MemoryFormat::ChannelsLast));
  CHECK_FALSE(impl->is_contiguous());
  impl->set_sizes_contiguous({2, 3, 2, 2, 2}, MemoryFormat::ChannelsLast3d);
  CHECK(impl->strides() == IntArrayRef(Ints{24, 1, 12, 6, 3}));
  CHECK(impl->is_contiguous(MemoryFormat::ChannelsLast3d));
  impl->set_sizes_contiguous({2, 0, 3, 4}, MemoryFormat::ChannelsLast);
  CHECK(impl->strides() == IntArrayRef(Ints{0, 1, 0, 0}));
}

TEST_CASE("a memory format that does not fit the rank is refused", "[core][tensor]") {
  const auto impl = make_impl();
  CHECK_THROWS_AS(impl->set_sizes_contiguous({2, 3}, MemoryFormat::ChannelsLast), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({2, 3, 4, 5}, MemoryFormat::ChannelsLast3d),
                  RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({2}, MemoryFormat::Preserve), RuntimeError);
}

TEST_CASE("facts about strides are PyTorch's", "[core][tensor]") {
  // c: contiguous, d: non-overlapping and dense, 2 and 3: channels last. From torch 1.13.
  struct Case {
    Ints sizes, strides;
    std::string facts;
  };
  const std::vector<Case> cases = {
      {{}, {}, "cd"},
      {{1}, {7}, "cd"},
      {{3}, {1}, "cd"},
      {{3}, {2}, ""},
      {{3}, {0}, ""},
      {{0}, {5}, "cd"},
      {{2, 3}, {3, 1}, "cd"},
      {{2, 3}, {1, 2}, "d"},
      {{2, 3}, {4, 1}, ""},
      {{2, 3}, {0, 1}, ""},
      {{1, 3}, {9, 1}, "cd"},
      {{2, 1}, {1, 9}, "cd"},
      {{2, 3, 4}, {12, 4, 1}, "cd"},
      {{2, 3, 4}, {1, 2, 6}, "d"},
      {{2, 3, 4}, {4, 8, 1}, "d"},
      {{2, 0, 4}, {1, 1, 1}, "cd"},
      {{2, 3, 4, 5}, {60, 20, 5, 1}, "cd"},
      {{2, 3, 4, 5}, {60, 1, 15, 3}, "d2"},
      {{2, 1, 4, 5}, {20, 20, 5, 1}, "cd2"},
      {{2, 1, 4, 5}, {20, 1, 5, 1}, "cd2"},
      {{2, 3, 1, 1}, {3, 1, 1, 1}, "cd2"},
      {{2, 3, 1, 1}, {3, 1, 3, 3}, "cd2"},
      {{1, 1, 1, 1}, {7, 7, 7, 7}, "cd2"},
      {{2, 0, 3, 4}, {0, 1, 0, 0}, "cd2"},
      {{2, 0, 3, 4}, {12, 12, 4, 1}, "cd"},
      {{2, 3, 4, 5}, {61, 1, 15, 3}, ""},
      {{2, 3, 2, 2, 2}, {24, 8, 4, 2, 1}, "cd"},
      {{2, 3, 2, 2, 2}, {24, 1, 12, 6, 3}, "d3"},
      {{2, 1, 2, 2, 2}, {8, 1, 4, 2, 1}, "cd3"},
      {{2, 3, 2, 2, 2}, {24, 1, 6, 12, 3}, "d"},
      {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, "cd3"},
      {{2, 3, 0, 2, 2}, {0, 1, 0, 6, 3}, "cd"},
      {{2, 2}, {1, 1}, ""},
      {{2, 2, 2, 2, 2, 2}, {32, 16, 8, 4, 2, 1}, "cd"},
      {{2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 32}, "d"},
      {{2, 2, 2, 2, 2, 2}, {1, 2, 4, 8, 16, 33}, ""},
  };
  const auto facts_of = [](const TensorImpl& impl) {
    std::string facts;
    if (impl.is_contiguous()) facts += 'c';
    if (impl.is_non_overlapping_and_dense()) facts += 'd';
    if (impl.is_contiguous(MemoryFormat::ChannelsLast)) facts += '2';
    if (impl.is_contiguous(MemoryFormat::ChannelsLast3d)) facts += '3';
    return facts;
  };
  for (const Case& c : cases) {
    const auto impl = make_impl();
    impl->set_sizes_and_strides(c.sizes, c.strides);
    CAPTURE(c.sizes, c.strides);
    CHECK(facts_of(*impl) == c.facts);
    CHECK(facts_of(*impl->shallow_copy()) == c.facts);
    // The fast way to contiguous strides knows the same facts.
    const auto fast = make_impl();
    fast->set_sizes_contiguous(c.sizes);
    impl->set_sizes_and_strides(fast->sizes(), fast->strides());
    CHECK(facts_of(*fast) == facts_of(*impl));
  }
}

TEST_CASE("a shape that cannot be is refused and changes nothing", "[core][tensor][overflow]") {
  const auto impl = make_impl();
  impl->set_sizes_contiguous({2, 3});
  CHECK_THROWS_AS(impl->set_sizes_contiguous({-1}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({0, -1}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({kHuge, kHuge}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({kHuge, kHuge, 0}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_contiguous({int64_t{1} << 61}), RuntimeError);  // 2^63 bytes
  CHECK_THROWS_AS(impl->set_sizes_contiguous({1, 1, 1, 1, 1, kHuge, kHuge}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_and_strides({2}, {1, 1}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_and_strides({2}, {-1}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_and_strides({-2}, {1}), RuntimeError);
  CHECK_THROWS_AS(impl->set_sizes_and_strides({kHuge, kHuge}, {0, 0}), RuntimeError);
  CHECK_THROWS_WITH(impl->set_sizes_contiguous({4, -7}), Catch::Contains("[4, -7]"));
  CHECK(impl->sizes() == IntArrayRef(Ints{2, 3}));
  CHECK(impl->strides() == IntArrayRef(Ints{3, 1}));
}

TEST_CASE("a tensor may be given part of its own shape", "[core][tensor]") {
  for (const Ints& sizes : {Ints{2, 3, 4}, Ints{2, 3, 4, 5, 6, 7, 8}}) {
    const auto impl = make_impl();
    impl->set_sizes_contiguous(sizes);
    while (impl->dim() > 0) {
      const Ints expected(impl->sizes().begin() + 1, impl->sizes().end());
      impl->set_sizes_contiguous(impl->sizes().subspan(1));
      CHECK(impl->sizes() == IntArrayRef(expected));
    }
    impl->set_sizes_contiguous(sizes);
    impl->set_sizes_and_strides(impl->strides(), impl->sizes());
    CHECK(impl->strides() == IntArrayRef(sizes));
  }
}

TEST_CASE("ranks above five work as the others do", "[core][tensor]") {
  const auto impl = make_impl();
  const Ints many(1000, 1);
  impl->set_sizes_contiguous(many);
  CHECK(impl->dim() == 1000);
  CHECK(impl->shallow_copy()->dim() == 1000);
  impl->set_sizes_contiguous({2});
  CHECK(impl->strides() == IntArrayRef(Ints{1}));
  impl->set_sizes_contiguous({1, 2, 3, 4, 5, 6});
  CHECK(impl->strides()[0] == 720);
}

TEST_CASE("a version counter counts writes, and views share their base's", "[core][tensor]") {
  const auto base = make_impl();
  const auto view = make_impl();
  CHECK(base->version() == 0);
  base->bump_version();
  CHECK(base->version() == 1);
  view->bump_version();
  view->share_version_counter(*base);
  CHECK(view->version() == 1);
  view->bump_version();
  CHECK(base->version() == 2);
  CHECK(base->shallow_copy()->version() == 0);
}

TEST_CASE("threads that bump a new tensor's version lose no write", "[core][tensor]") {
  for (int round = 0; round < 100; ++round) {
    const auto impl = make_impl();
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { impl->bump_version(); });
    for (std::thread& t : threads) t.join();
    REQUIRE(impl->version() == 3);
  }
}

// Mode data that no one asks for its mode.
struct SomeModeData : ModeData {
  DispatchMode& mode() const override { std::abort(); }
};

struct CountedMeta : BackendMeta {
  IntrusivePtr<BackendMeta> clone() const override { return make_intrusive<CountedMeta>(); }
};

TEST_CASE("a shallow copy shares storage and mode data and clones backend metadata",
          "[core][tensor]") {
  const Tensor t = empty_on(DeviceType::CPU, {2, 3}, DType::Float32);
  t.impl()->set_backend_meta(make_intrusive<CountedMeta>());
  t.impl()->set_mode_data(make_intrusive<SomeModeData>());
  t.impl()->set_autograd_meta(make_intrusive<AutogradMeta>());
  t.impl()->set_wrapped_number(true);
  const auto copy = t.impl()->shallow_copy();
  CHECK(copy->storage() == t.storage());
  CHECK(copy->sizes() == t.sizes());
  CHECK(copy->key_set() == t.key_set());
  CHECK(copy->is_wrapped_number());
  CHECK(copy->mode_data() == t.impl()->mode_data());
  CHECK(copy->backend_meta());
  CHECK_FALSE(copy->backend_meta() == t.impl()->backend_meta());
  CHECK_FALSE(copy->autograd_meta());
}

TEST_CASE("a tensor that only weak references name has freed its storage", "[core][tensor]") {
  const Storage storage = make_storage(4, get_allocator(DeviceType::CPU), DeviceType::CPU);
  IntrusivePtr<TensorImpl> impl = make_intrusive<TensorImpl>(
      storage, tensor_key_set(DeviceType::CPU), DType::Float32, Device(DeviceType::CPU));
  const WeakIntrusivePtr<TensorImpl> weak(impl);
  CHECK(storage->use_count() == 2);
  impl = nullptr;
  CHECK(storage->use_count() == 1);
}

}  // namespace
}  // namespace sb
