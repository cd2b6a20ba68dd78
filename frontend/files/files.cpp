#include "anabranch/files.h"

#include <string_view>

#include "anabranch/async.h"
#include "anabranch/creation.h"
#include "frontend/array/expression.h"
#include "frontend/array/fail.h"
#include "frontend/files/npz.h"
#include "frontend/files/safetensors.h"
#include "ir/literal.h"

namespace anabranch {
namespace detail {
namespace {

const char* saver(FileFormat format) {
  return format == FileFormat::npz ? "save_npz" : "save_safetensors";
}
const char* loader(FileFormat format) {
  return format == FileFormat::npz ? "load_npz" : "load_safetensors";
}

// What the readers and writers of files say, with the function and the user's line.
template <class Use>
auto with_line(const char* function, SourceLocation where, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    fail(std::string(function) + ": " + error.what(), where);
  }
}

std::map<std::string, Literal> read(FileFormat format, const std::string& path,
                                    SourceLocation where) {
  return with_line(loader(format), where, [&] {
    return format == FileFormat::npz ? read_named(path) : read_safetensors(path);
  });
}

Literal literal_of(const Array& array) {
  const Type type = type_of(array);
  return visit_any_dtype(type.dtype, [&]<class T>() {
    std::vector<std::byte> bytes(type.bytes());
    array.copy_to(
        std::span<T>(reinterpret_cast<T*>(bytes.data()), static_cast<std::size_t>(type.size())));
    return Literal(type, std::move(bytes));
  });
}

Array array_of(const Literal& literal, SourceLocation where) {
  const Type& type = literal.type();
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  return array_of_bytes(type.dtype, Sizes(std::move(sizes), where), literal.bytes(),
                        static_cast<std::size_t>(type.size()));
}

void demand_values(const char* function, const NamedArrays& named, SourceLocation where) {
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    if (named.arrays[i].expression()) continue;
    fail(std::string(function) + ": " + named.names[i] + " is an empty Array; give it a value",
         where);
  }
}

void demand_readable(const char* function, const NamedArrays& named, SourceLocation where) {
  demand_values(function, named, where);
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    const Expression& expression = *named.arrays[i].expression();
    const std::string start = std::string(function) + ": " + named.names[i];
    if (expression.kind == Expression::Kind::donated) fail_donated(start, expression, where);
    if (expression.kind != Expression::Kind::traced) continue;
    fail(start + ": " + to_string(expression.type) +
             " is being traced and has no value yet; return it from the traced function and save "
             "the result",
         where);
  }
}

// The first names that a file holds.
std::string some_names(const std::map<std::string, Literal>& held) {
  constexpr std::size_t shown = 8;
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, literal] : held) {
    if (count == shown) break;
    names += (count++ == 0 ? "" : ", ") + name;
  }
  if (held.empty()) return "nothing";
  return held.size() > shown ? names + " and " + std::to_string(held.size() - shown) + " more"
                             : names;
}

}  // namespace

NameVisitor::NameVisitor(NamedArrays& filled) : named(filled) {}
NameVisitor::~NameVisitor() = default;

void NameVisitor::leaf(const Array& array) {
  named.names.push_back(path.empty() ? "arr_0" : path.substr(1));
  named.arrays.push_back(array);
}
void NameVisitor::enter(std::size_t position) { path += "." + std::to_string(position); }
void NameVisitor::enter(tree::Field field) { path.append(".").append(field.name); }
void NameVisitor::enter(std::string_view key) { path.append(".").append(key); }

void save(FileFormat format, const std::string& path, const NamedArrays& arrays,
          SourceLocation where) {
  demand_readable(saver(format), arrays, where);
  with_line(saver(format), where, [&] {
    evaluate(arrays.arrays);  // together
    std::map<std::string, Literal> literals;
    for (std::size_t i = 0; i < arrays.names.size(); ++i) {
      if (literals.emplace(arrays.names[i], literal_of(arrays.arrays[i])).second) continue;
      throw Error(path + ": two arrays of the tree have the name " + arrays.names[i] +
                  "; rename a key that has a dot");
    }
    if (format == FileFormat::npz) {
      write_npz(path, literals);
    } else {
      write_safetensors(path, literals);
    }
  });
}

Leaves load(FileFormat format, const std::string& path, const NamedArrays& like,
            SourceLocation where) {
  const std::string start = std::string(loader(format)) + ": " + path + ": ";
  demand_values(loader(format), like, where);
  std::map<std::string, Literal> held = read(format, path, where);
  const std::string names = some_names(held);
  Leaves arrays;
  for (std::size_t i = 0; i < like.names.size(); ++i) {
    const auto found = held.find(like.names[i]);
    if (found == held.end()) {
      fail(start + "holds no array " + like.names[i] + "; it holds " + names, where);
    }
    const Type &wanted = type_of(like.arrays[i]), &type = found->second.type();
    const bool narrows = format == FileFormat::npz && wanted.dtype == bf16 && type.dtype == f32;
    if (wanted.shape != type.shape || (wanted.dtype != type.dtype && !narrows)) {
      fail(start + like.names[i] + " is " + to_string(type) + ", and " + to_string(wanted) +
               " was expected",
           where);
    }
    const Array array = array_of(found->second, where);
    arrays.push_back((narrows ? array.astype(bf16) : array).to(like.arrays[i].device()));
    held.erase(found);
  }
  if (held.empty()) return arrays;
  fail(start + "holds arrays that the tree has not: " + some_names(held) + "; " + loader(format) +
           "(path) gives all by their names",
       where);
}

namespace {

std::map<std::string, Array> load_all(FileFormat format, const std::string& path,
                                      SourceLocation where) {
  std::map<std::string, Array> arrays;
  for (const auto& [name, literal] : read(format, path, where)) {
    arrays.emplace(name, array_of(literal, where));
  }
  return arrays;
}

}  // namespace
}  // namespace detail

std::map<std::string, Array> load_npz(const std::string& path, std::source_location where) {
  return detail::load_all(detail::FileFormat::npz, path, where);
}

std::map<std::string, Array> load_safetensors(const std::string& path, std::source_location where) {
  return detail::load_all(detail::FileFormat::safetensors, path, where);
}

}  // namespace anabranch
