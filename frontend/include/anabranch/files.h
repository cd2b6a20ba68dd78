// Trees of arrays in files: NumPy's .npz and safetensors.
//
//   ab::save_safetensors("model.safetensors", params);
//   params = ab::load_safetensors("model.safetensors", params);
//
// An array's name is its path in the tree, fields, keys and positions with dots between them:
// "layers.0.weight"; a tree that is one array has the name "arr_0". What is static in a tree is not
// saved. A file appears whole or not at all, in place of one that was there. Saving waits for the
// arrays.
//
// Loading takes names, shapes and dtypes from a tree `like` what was saved, whose values are not
// looked at, and gives arrays on the devices of its own. Throws Error that names the file, the
// array, what was found and what was expected: also where the file holds more arrays than the tree.
#pragma once

#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "anabranch/array.h"
#include "anabranch/detail/carry.h"
#include "anabranch/export.h"
#include "anabranch/tree.h"

namespace ANABRANCH_API anabranch {

namespace detail {

enum class FileFormat : std::uint8_t { npz, safetensors };

struct NamedArrays {
  std::vector<std::string> names;
  Leaves arrays;
};

struct NameVisitor : tree::Visitor {
  NamedArrays& named;
  std::string path;
  explicit NameVisitor(NamedArrays& filled);
  ~NameVisitor();

  void leaf(const Array& array);
  template <class T>
  void leaf(const T&) {}
  template <class Place, class Body>
  void within(const Place& place, Body&& body) {
    const std::size_t before = path.size();
    enter(place);
    body();
    path.resize(before);
  }

 private:
  void enter(std::size_t position);
  void enter(tree::Field field);
  void enter(std::string_view key);
};

template <class T>
NamedArrays named_arrays(const T& tree) {
  static_assert(tree::is_tree<T>());
  NamedArrays named;
  NameVisitor visitor(named);
  tree::walk(tree, visitor);
  return named;
}

void save(FileFormat format, const std::string& path, const NamedArrays& arrays,
          SourceLocation where);
Leaves load(FileFormat format, const std::string& path, const NamedArrays& like,
            SourceLocation where);

}  // namespace detail

/// Writes the arrays of a tree into a .npz file that NumPy reads: np.load(path)["layers.0.weight"].
/// bf16, which NumPy has not, is written as f32.
template <class T>
void save_npz(const std::string& path, const T& tree,
              std::source_location where = std::source_location::current()) {
  detail::save(detail::FileFormat::npz, path, detail::named_arrays(tree), where);
}
/// A tree `like` another, of the arrays in a .npz file; f32 there becomes bf16 where `like` has it.
template <class T>
T load_npz(const std::string& path, const T& like,
           std::source_location where = std::source_location::current()) {
  return detail::put_together(
      like, detail::load(detail::FileFormat::npz, path, detail::named_arrays(like), where));
}
/// All arrays of a .npz file by their names: stored or deflated, of any version of NumPy.
std::map<std::string, Array> load_npz(const std::string& path,
                                      std::source_location where = std::source_location::current());

/// Writes the arrays of a tree into a safetensors file. c128, which the format has not, is an
/// Error.
template <class T>
void save_safetensors(const std::string& path, const T& tree,
                      std::source_location where = std::source_location::current()) {
  detail::save(detail::FileFormat::safetensors, path, detail::named_arrays(tree), where);
}
/// A tree `like` another, of the arrays in a safetensors file.
template <class T>
T load_safetensors(const std::string& path, const T& like,
                   std::source_location where = std::source_location::current()) {
  return detail::put_together(
      like, detail::load(detail::FileFormat::safetensors, path, detail::named_arrays(like), where));
}
/// All arrays of a safetensors file by their names.
std::map<std::string, Array> load_safetensors(
    const std::string& path, std::source_location where = std::source_location::current());

}  // namespace anabranch
