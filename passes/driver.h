// The driver of all passes: a pass is an entry of a list, for graphs, for kernels or for programs.
// What a form needs is `verify(form)`, `to_string(form)` and a word for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "anabranch/error.h"

namespace anabranch {

/// "graph", "kernel" or "program".
template <class Form>
inline constexpr std::string_view form_name = "";

/// A function from form to form. The context is what it may look at and what it may leave behind.
template <class Form, class Context>
struct PassOf {
  std::string_view name;
  std::string_view help;
  Form (*run)(const Form& form, Context& context);
  bool refuses = false;    ///< throws Error where the form is the user's to mend
  bool is_needed = false;  ///< nothing works without it: it is never left out
};

/// What a pass has made.
struct PassResult {
  std::string_view pass;
  std::chrono::nanoseconds time;
  std::function<std::string()> text;  ///< of the form, to be asked for at once
};

struct PassRun {
  bool verify = false;                         ///< check after every pass (always in debug builds)
  std::span<const std::string> disabled = {};  ///< left out, by name
  /// Called after each pass, for dumps and timelines.
  std::function<void(const PassResult&)> after = {};
};

#ifdef NDEBUG
inline constexpr bool always_verifies = false;
#else
inline constexpr bool always_verifies = true;
#endif

/// A pass that throws, or breaks the form, gives InternalError with its name and what it was given.
template <class Form, class Context>
Form run_pass(const PassOf<Form, Context>& pass, const Form& before, Context& context,
              bool is_verified) {
  const auto fail = [&](const std::string& what) -> InternalError {
    return InternalError("pass " + std::string(pass.name), what, to_string(before));
  };
  Form after;
  try {
    after = pass.run(before, context);
  } catch (const std::bad_alloc&) {
    throw;  // no fault of the pass
  } catch (const std::exception& failure) {
    if (pass.refuses && dynamic_cast<const Error*>(&failure)) throw;
    throw fail(failure.what());
  }
  if (!is_verified) return after;
  try {
    verify(after);
  } catch (const InternalError& broken) {
    throw fail("broke the " + std::string(form_name<Form>) + ": " + broken.what());
  }
  return after;
}

/// Runs the passes of a list in order, but for those that are left out.
template <class Form, class Context>
Form run_list(std::span<const PassOf<Form, Context>> list, Form form, Context& context,
              const PassRun& options) {
  using Clock = std::chrono::steady_clock;
  for (const PassOf<Form, Context>& pass : list) {
    const auto& disabled = options.disabled;
    const bool is_left_out =
        std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end();
    if (is_left_out && !pass.is_needed) continue;
    const Clock::time_point start = Clock::now();
    form = run_pass(pass, form, context, always_verifies || options.verify);
    if (!options.after) continue;
    options.after({pass.name, Clock::now() - start, [&form] { return to_string(form); }});
  }
  return form;
}

}  // namespace anabranch
