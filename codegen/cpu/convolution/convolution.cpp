#include "codegen/cpu/convolution/convolution.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "anabranch/error.h"
#include "codegen/cpu/convolution/layouts.h"
#include "codegen/cpu/convolution/tiles.h"
#include "codegen/cpu/dot/design.h"
#include "codegen/cpu/dot/one_thread.h"
#include "codegen/host/aligned_bytes.h"
#include "codegen/host/idle.h"

namespace anabranch::cpu {
namespace {

using Desc = dnnl::memory::desc;

/// An operand or the result of a primitive: in memory as it is, or copied to or from there.
struct Placed {
  Desc plain, layout;
  int argument = 0;
  bool is_result = false;
  dnnl::reorder copy = {};  ///< where the two differ
  Desc scratchpad = {};     ///< that the copy takes
  bool is_copied() const { return plain != layout; }
};

/// The code for parts of one size and padding.
struct Product {
  Placed lhs, rhs, result;
  dnnl::primitive primitive;
  Desc scratchpad;
};

/// What one thread works in, kept for the next call.
struct Workspace {
  dnnl::stream stream;
  host::AlignedBytes scratchpad, lhs, rhs, result, box;
};

class Convolution {
 public:
  Convolution(const ConvolutionStep& step, const HostTask& epilogue);

  static HostTask task(std::shared_ptr<const Convolution> self);

 private:
  /// What parts have in common whose primitive is the same.
  using Key = std::array<std::int64_t, 5>;
  static Key key_of(const ConvolutionForm& part);

  bool is_direct() const { return !step_.epilogue || step_.epilogue->in_place; }
  ConvolutionView target_view(const ConvolutionTile& tile, const ConvolutionPart& part) const;
  void prepare(const OneThread& alone, const ConvolutionTile& tile);
  void prepare_all(const OneThread& alone);
  void run(void* const* buffers, std::int64_t begin, std::int64_t end) const;
  void run_tile(void* const* buffers, const ConvolutionTile& tile, Workspace& workspace) const;
  void run_epilogue(void* const* buffers, const ConvolutionTile& tile, std::byte* box) const;
  void copy(const Placed& placed, void* plain, void* layout, Workspace& workspace) const;
  std::size_t output_buffer() const { return 2 + (step_.epilogue ? step_.epilogue->inputs : 0); }
  std::unique_ptr<Workspace> make_workspace() const;

  const ConvolutionStep step_;
  const HostTask epilogue_;
  ConvolutionTiles tiles_;
  ConvolutionLayouts layouts_;
  std::map<Key, Product> products_;
  std::size_t scratchpad_bytes_ = 0, lhs_bytes_ = 0, rhs_bytes_ = 0, result_bytes_ = 0,
              box_bytes_ = 0;
  mutable host::Idle<Workspace> workspaces_;
};

Placed placed(const Desc& plain, const Desc& layout, int argument, bool is_result) {
  Placed made{plain, layout, argument, is_result};
  if (!made.is_copied()) return made;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::reorder::primitive_desc copy(cpu_engine(), is_result ? layout : plain, cpu_engine(),
                                           is_result ? plain : layout, attributes);
  made.copy = dnnl::reorder(copy);
  made.scratchpad = copy.scratchpad_desc();
  return made;
}

Convolution::Convolution(const ConvolutionStep& step, const HostTask& epilogue)
    : step_(step),
      epilogue_(epilogue),
      tiles_(convolution_tiles(
          step, step.epilogue ? std::optional(epilogue.extent) : std::optional<std::int64_t>())),
      layouts_(layouts_of(tiles_.form).value()) {
  const OneThread alone;
  try {
    prepare_all(alone);
  } catch (const dnnl::error& error) {
    throw InternalError("convolution", error.what());
  }
}

// Where the library has nothing fast for parts of an image, images are whole; where it has nothing
// for some of the images, there is one part.
void Convolution::prepare_all(const OneThread& alone) {
  const auto is_fast = [&](const ConvolutionForm& part) {
    try {
      return describe(part, layouts_).is_fast();
    } catch (const dnnl::error&) {
      return false;
    }
  };
  const auto are_fast = [&] {
    std::set<Key> seen;
    for (std::int64_t i = 0; i < tiles_.extent(); ++i) {
      const ConvolutionForm part = tiles_.part(tiles_.at(i)).form;
      if (seen.insert(key_of(part)).second && !is_fast(part)) return false;
    }
    return true;
  };
  if (!are_fast()) {
    tiles_.tile_rows = tiles_.rows;
    if (!are_fast()) tiles_.tile_batch = tiles_.batch;
  }
  for (std::int64_t i = 0; i < tiles_.extent(); ++i) prepare(alone, tiles_.at(i));
}

Convolution::Key Convolution::key_of(const ConvolutionForm& part) {
  return {part.result.sizes[0], part.result.sizes[2], part.lhs.sizes[2], part.low[0], part.high[0]};
}

// Where the part's result is written: the result's own memory, or a dense box with the same order
// of axes.
ConvolutionView Convolution::target_view(const ConvolutionTile& tile,
                                         const ConvolutionPart& part) const {
  ConvolutionView view = part.form.result;
  if (is_direct()) return view;
  const ResultBox box = tiles_.box(tile, step_);
  const std::vector<std::int64_t> dense = Shape(box.sizes).strides();
  for (std::size_t i = 0; i < view.strides.size(); ++i) {
    view.strides[i] = dense[tiles_.axis_of(step_.attributes.result_axes[i])];
  }
  if (part.form.kind == ConvolutionForm::Kind::backward_filters) {
    std::swap(view.strides[0], view.strides[1]);
  }
  return view;
}

void Convolution::prepare(const OneThread& alone, const ConvolutionTile& tile) {
  const ConvolutionPart part = tiles_.part(tile);
  if (products_.contains(key_of(part.form))) return;
  const ConvolutionPrimitive found = describe(part.form, layouts_);
  Product product;
  product.lhs = placed(part.form.lhs.desc(), found.lhs, found.lhs_argument, false);
  // Filters are in the library's layout when they come here.
  const Desc rhs = layouts_.filters ? found.rhs : part.form.rhs.desc();
  product.rhs = placed(rhs, found.rhs, found.rhs_argument, false);
  product.result =
      placed(target_view(tile, part).desc(), found.result, found.result_argument, true);
  alone.prepare(found.implementation);
  product.primitive = found.make();
  product.scratchpad = found.scratchpad;
  const auto at_least = [](std::size_t& bytes, std::size_t wanted) {
    bytes = std::max(bytes, wanted);
  };
  at_least(scratchpad_bytes_, found.scratchpad.get_size());
  for (const Placed* operand : {&product.lhs, &product.rhs, &product.result}) {
    if (operand->is_copied()) at_least(scratchpad_bytes_, operand->scratchpad.get_size());
  }
  if (product.lhs.is_copied()) at_least(lhs_bytes_, found.lhs.get_size());
  if (product.rhs.is_copied()) at_least(rhs_bytes_, found.rhs.get_size());
  if (product.result.is_copied()) at_least(result_bytes_, found.result.get_size());
  if (!is_direct()) {
    const Runs runs = runs_of(tiles_.box(tile, step_), step_.result.shape);
    at_least(box_bytes_, static_cast<std::size_t>(runs.count * runs.length) * sizeof(float));
  }
  products_.emplace(key_of(part.form), std::move(product));
}

HostTask Convolution::task(std::shared_ptr<const Convolution> self) {
  HostTask task;
  task.function = [](const void* context, void* const* buffers, std::int64_t begin,
                     std::int64_t end) {
    static_cast<const Convolution*>(context)->run(buffers, begin, end);
  };
  task.extent = self->tiles_.extent();
  task.grain = self->tiles_.grain();
  task.context = std::move(self);
  return task;
}

std::unique_ptr<Workspace> Convolution::make_workspace() const {
  return std::make_unique<Workspace>(
      Workspace{dnnl::stream(cpu_engine()), host::AlignedBytes(scratchpad_bytes_),
                host::AlignedBytes(lhs_bytes_), host::AlignedBytes(rhs_bytes_),
                host::AlignedBytes(result_bytes_), host::AlignedBytes(box_bytes_)});
}

void Convolution::run(void* const* buffers, std::int64_t begin, std::int64_t end) const {
  end = std::min(end, tiles_.extent());
  if (begin >= end) return;
  const OneThread alone;
  auto workspace = workspaces_.take([&] { return make_workspace(); });
  try {
    for (std::int64_t i = begin; i < end; ++i) run_tile(buffers, tiles_.at(i), *workspace);
  } catch (const dnnl::error& error) {
    throw InternalError("convolution", error.what());
  }
  workspaces_.give_back(std::move(workspace));
}

// An operand to the library's layout, or the result from there.
void Convolution::copy(const Placed& placed, void* plain, void* layout,
                       Workspace& workspace) const {
  const dnnl::memory outside(placed.plain, cpu_engine(), plain);
  const dnnl::memory inside(placed.layout, cpu_engine(), layout);
  const dnnl::memory scratchpad(placed.scratchpad, cpu_engine(), workspace.scratchpad.get());
  placed.copy.execute(workspace.stream, {{DNNL_ARG_FROM, placed.is_result ? inside : outside},
                                         {DNNL_ARG_TO, placed.is_result ? outside : inside},
                                         {DNNL_ARG_SCRATCHPAD, scratchpad}});
}

void Convolution::run_tile(void* const* buffers, const ConvolutionTile& tile,
                           Workspace& workspace) const {
  const ConvolutionPart part = tiles_.part(tile);
  const Product& product = products_.at(key_of(part.form));
  const auto element = [&](std::size_t buffer, std::int64_t offset) {
    return static_cast<float*>(buffers[buffer]) + offset;
  };
  void* lhs = element(0, part.lhs_offset);
  void* rhs = element(1, layouts_.filters ? 0 : part.rhs_offset);
  void* target = is_direct() ? static_cast<void*>(element(output_buffer(), part.result_offset))
                             : workspace.box.get();
  void* result = product.result.is_copied() ? workspace.result.get() : target;
  if (product.lhs.is_copied()) {
    copy(product.lhs, lhs, workspace.lhs.get(), workspace);
    lhs = workspace.lhs.get();
  }
  if (product.rhs.is_copied()) {
    copy(product.rhs, rhs, workspace.rhs.get(), workspace);
    rhs = workspace.rhs.get();
  }
  const auto memory = [](const Desc& desc, void* bytes) {
    return dnnl::memory(desc, cpu_engine(), bytes);
  };
  product.primitive.execute(
      workspace.stream,
      {{product.lhs.argument, memory(product.lhs.layout, lhs)},
       {product.rhs.argument, memory(product.rhs.layout, rhs)},
       {product.result.argument, memory(product.result.layout, result)},
       {DNNL_ARG_SCRATCHPAD, memory(product.scratchpad, workspace.scratchpad.get())}});
  if (product.result.is_copied()) copy(product.result, target, result, workspace);
  if (step_.epilogue) run_epilogue(buffers, tile, workspace.box.get());
}

void Convolution::run_epilogue(void* const* buffers, const ConvolutionTile& tile,
                               std::byte* box) const {
  const ResultBox part = tiles_.box(tile, step_);
  const Shape& shape = step_.result.shape;
  const Runs runs = runs_of(part, shape);
  const std::int64_t per_iteration = shape.size() / std::max<std::int64_t>(1, epilogue_.extent);
  std::vector<void*> pointers(1);
  for (std::size_t i = 0; i < step_.epilogue->inputs + step_.epilogue->outputs; ++i) {
    pointers.push_back(buffers[2 + i]);
  }
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const std::int64_t first = run_position(part, shape, i);
    // The epilogue indexes from the result's first element on.
    pointers[0] = step_.epilogue->in_place
                      ? buffers[output_buffer()]
                      : box - (first - i * runs.length) * std::int64_t{sizeof(float)};
    epilogue_.function(epilogue_.context.get(), pointers.data(), first / per_iteration,
                       (first + runs.length) / per_iteration);
  }
}

}  // namespace

bool has_library_convolution(const ConvolutionStep& step) {
  const std::optional<ConvolutionForm> form = form_of(step);
  return form && layouts_of(*form);
}

HostTask make_convolution(const ConvolutionStep& step, const HostTask& epilogue) {
  return Convolution::task(std::make_shared<const Convolution>(step, epilogue));
}

}  // namespace anabranch::cpu
