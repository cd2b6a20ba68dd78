// custom_call: names that are known, and those that the user registered.
#include <map>
#include <mutex>

#include "anabranch/stablehlo.h"
#include "frontend/array/expression.h"
#include "frontend/stablehlo/site.h"
#include "frontend/stablehlo/types.h"

namespace anabranch::stablehlo {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, CustomCallTranslation> translations;
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

std::string backend_config(const Site& site) {
  for (const char* name : {"backend_config", "mhlo.backend_config"}) {
    const Attribute* found = site.op.find(name);
    if (!found) continue;
    if (found->kind == Attribute::Kind::string) return found->text;
    return std::string(site.importer.source().part(found->begin, found->end));
  }
  return {};
}

Results registered(const Site& site, const std::string& name,
                   const CustomCallTranslation& translation) {
  CustomCallSite call{name, site.array_operands(), {}, backend_config(site)};
  for (std::size_t i = 0; i < site.op.result_types.size(); ++i) {
    if (!is_token(site.op.result_types[i])) call.results.push_back(site.result_type(i));
  }
  Results results = translation(call);
  for (const Array& result : results) {
    if (!result.expression()) site.fail("the registered function returns an empty Array");
  }
  return results;
}

// What says where values are, and nothing about what they are.
bool is_annotation(std::string_view name) {
  for (std::string_view known :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
        "LayoutConstraint", "mhlo.optimization_barrier"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

void register_custom_call(std::string name, CustomCallTranslation translation) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.translations.insert_or_assign(std::move(name), std::move(translation));
}

Results translate_custom_call(const Site& site) {
  const std::string name = site.word("call_target_name");
  CustomCallTranslation own;
  {
    Registry& all = registry();
    std::lock_guard lock(all.mutex);
    if (auto found = all.translations.find(name); found != all.translations.end()) {
      own = found->second;
    }
  }
  if (own) return registered(site, name, own);
  if (is_annotation(name)) return site.operands();
  if (name == "shape_assertion") return {};
  if (auto results = linear_algebra_call(site, name)) return *results;
  if (name == "TopK" || name == "ApproxTopK") return find_translation(name)->translate(site);
  if (name.starts_with("mhlo.") || name.starts_with("stablehlo.") || name.starts_with("chlo.")) {
    if (const Translation* known = find_translation(name.substr(name.find('.') + 1))) {
      return known->translate(site);
    }
  }
  site.fail("there is no function @" + name +
            " here; register one with ab::stablehlo::register_custom_call(\"" + name + "\", ...)");
}

}  // namespace anabranch::stablehlo
