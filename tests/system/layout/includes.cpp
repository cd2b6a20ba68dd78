// Who may include whom, and where foreign headers may appear.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = fs::path(TEST_DATA).parent_path();

// frontend -> codegen -> { passes, runtime } -> ir
//
// A public header (anabranch/..., in frontend/include) is of the room that implements it: what may
// include that room may include the header, and the header includes no other room's than that may.
// Those that are not listed are the frontend's.
const std::map<std::string, std::set<std::string>> public_headers = {
    {"ir",
     {"cost.h", "custom_function.h", "detail/any_function.h", "detail/element_bits.h",
      "detail/key.h", "device.h", "dtype.h", "dtypes.def", "error.h", "export.h", "graph.h",
      "log.h", "shape.h", "source_location.h", "type.h"}},
    {"runtime",
     {"ceiling.h", "device_memory.h", "devices.h", "failure.h", "future.h", "limits.h",
      "timeline.h", "timeline_summary.h"}},
    {"codegen", {"code_cache.h", "options.h", "stage.h"}},
};

const std::map<std::string, std::set<std::string>> may_include = {
    {"ir", {"ir"}},
    {"passes", {"passes", "ir"}},
    {"runtime", {"runtime", "ir"}},
    {"codegen", {"codegen", "passes", "runtime", "ir"}},
    {"frontend", {"frontend", "codegen", "passes", "runtime", "ir"}},
};

constexpr std::string_view public_folder = "frontend/include/anabranch/";

// The room of a file or of what an include names.
std::string room_of(std::string path) {
  if (path.starts_with(public_folder)) path = path.substr(public_folder.find("anabranch"));
  const std::string first = path.substr(0, path.find('/'));
  if (first != "anabranch") return first;
  for (const auto& [room, headers] : public_headers) {
    if (headers.contains(path.substr(first.size() + 1))) return room;
  }
  return "frontend";
}

struct ForeignRule {
  std::regex header;
  std::vector<std::string> folders;
};

const ForeignRule foreign_rules[] = {
    {std::regex(R"(llvm(-c)?/.*)"), {"codegen/cpu"}},
    {std::regex(R"((cuda|cublas|nvrtc|nvToolsExt|nvtx3).*)"), {"codegen/cuda", "runtime/cuda"}},
    {std::regex(R"((oneapi/)?dnnl.*)"), {"codegen/cpu", "runtime/cpu"}},
    {std::regex(R"(hwy/.*)"), {"codegen/host"}},
    {std::regex(R"((lapacke?|cblas|openblas).*)"), {"codegen/linalg"}},
    {std::regex(R"(ducc0/.*)"), {"codegen/fft"}},
    {std::regex(R"(zip\.h)"), {"frontend/files"}},
};

struct Include {
  std::string file;
  int line;
  std::string header;
};

std::vector<fs::path> sources(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp" || extension == ".def" || extension == ".inc")
      found.push_back(entry.path());
  }
  return found;
}

std::vector<Include> includes(const std::string& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const fs::path& path : sources(folder)) {
    std::ifstream file(path);
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, pattern)) {
        found.push_back({fs::relative(path, root), line, match[1]});
      }
    }
  }
  return found;
}

std::string where(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " includes " + include.header;
}

TEST(Includes, FollowTheDesign) {
  int checked = 0;
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      const std::string target = room_of(include.header);
      if (!may_include.contains(target)) continue;
      ++checked;
      EXPECT_TRUE(may_include.at(room_of(include.file)).contains(target)) << where(include);
    }
  }
  EXPECT_GT(checked, 50);
}

// A user's program sees these and the standard library.
TEST(Includes, PublicHeadersIncludeEachOtherAlone) {
  int checked = 0;
  for (const Include& include : includes(std::string(public_folder))) {
    ++checked;
    if (include.header.starts_with("anabranch/")) {
      EXPECT_TRUE(fs::exists(root / "frontend/include" / include.header)) << where(include);
    } else {
      EXPECT_EQ(include.header.find_first_of("./"), std::string::npos) << where(include);
    }
  }
  EXPECT_GT(checked, 200);
}

// Outside of what is exported stand only names of what the library alone knows.
TEST(Includes, PublicHeadersExportWhatTheyDeclare) {
  static const std::regex name(R"(^(class|struct) \w+;.*)");
  int exported = 0, names = 0;
  for (const fs::path& path : sources(std::string(public_folder))) {
    std::ifstream file(path);
    std::string text;
    bool is_bare = false;
    for (int line = 1; std::getline(file, text); ++line) {
      exported += text.starts_with("namespace ANABRANCH_API anabranch {");
      if (is_bare && !text.starts_with("}")) {
        ++names;
        EXPECT_TRUE(std::regex_match(text, name)) << path << ":" << line;
      }
      is_bare = text.starts_with("namespace anabranch {") || (is_bare && !text.starts_with("}"));
    }
  }
  EXPECT_GT(exported, 40);
  EXPECT_GT(names, 3);
}

TEST(Includes, ForeignHeadersStayInTheirFolders) {
  int checked = 0;
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      for (const ForeignRule& rule : foreign_rules) {
        if (!std::regex_match(include.header, rule.header)) continue;
        ++checked;
        bool inside = false;
        for (const std::string& home : rule.folders) inside |= include.file.starts_with(home + "/");
        EXPECT_TRUE(inside) << where(include);
      }
    }
  }
  EXPECT_GT(checked, 5);
}

// The registry alone names the backends.
TEST(Includes, BackendsStayBehindTheirDoor) {
  int checked = 0;
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      for (const std::string home : {"codegen/cpu/", "codegen/cuda/", "codegen/null/"}) {
        if (!include.header.starts_with(home) || include.file.starts_with(home)) continue;
        ++checked;
        EXPECT_EQ(include.file, "codegen/backends.cpp") << where(include);
      }
    }
  }
  EXPECT_EQ(checked, 3);
}

// A header and its source together are one component: frontend/run/jit.
std::string component(std::string file) {
  if (file.starts_with("anabranch/")) file = "frontend/include/" + file;
  return fs::path(file).replace_extension();
}

TEST(Includes, NoComponentsIncludeEachOther) {
  std::map<std::string, std::set<std::string>> uses;
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      const std::string from = component(include.file), to = component(include.header);
      uses.try_emplace(from);
      const bool is_ours = may_include.contains(room_of(include.header));
      if (from != to && is_ours) uses[from].insert(to);
    }
  }
  EXPECT_GT(uses.size(), 200u);
  // What uses nothing that is left goes, again and again: circles stay, and what uses them.
  for (std::size_t before = 0; before != uses.size();) {
    before = uses.size();
    for (auto& [from, used] : uses) {
      std::erase_if(used, [&](const std::string& to) { return !uses.contains(to); });
    }
    std::erase_if(uses, [](const auto& entry) { return entry.second.empty(); });
  }
  for (const auto& [from, used] : uses) {
    std::string text;
    for (const std::string& to : used) text += " " + to;
    ADD_FAILURE() << from << " is in a circle, or uses one:" << text;
  }
}

TEST(Includes, TheEnvironmentIsReadInOneFile) {
  static const std::regex word(R"(\bgetenv\b)");  // and not fegetenv
  for (const auto& [folder, allowed] : may_include) {
    for (const fs::path& path : sources(folder)) {
      if (fs::relative(path, root) == "frontend/run/env.cpp") continue;
      std::ifstream file(path);
      std::string text;
      for (int line = 1; std::getline(file, text); ++line) {
        EXPECT_FALSE(std::regex_search(text, word)) << path << ":" << line;
      }
    }
  }
}

TEST(Includes, HeadersBeginWithTheirPurpose) {
  for (const auto& [folder, allowed] : may_include) {
    for (const fs::path& path : sources(folder)) {
      if (path.extension() != ".h") continue;
      std::ifstream file(path);
      std::string first;
      std::getline(file, first);
      EXPECT_TRUE(first.starts_with("// ")) << path << " begins with: " << first;
    }
  }
}

}  // namespace
