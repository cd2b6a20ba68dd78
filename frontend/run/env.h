// The environment variables that Anabranch reads: all of them, once, here. Of ANABRANCH_KEEP_MEMORY
// devices alone come to know (runtime/device/first_devices.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anabranch/code_cache.h"
#include "codegen/compile.h"

namespace anabranch {

struct Environment {
  std::vector<Stage> dump;  ///< ANABRANCH_DUMP=trace,schedule: stages written as programs compile
  std::vector<std::string> dump_passes;  ///< ANABRANCH_DUMP=fuse,vectorise: what passes have made
  std::string dump_directory;  ///< ANABRANCH_DUMP_DIR: a file per program and stage, not stderr
  bool verify = false;         ///< ANABRANCH_VERIFY=1: check the graph after every pass
  std::vector<std::string> disable;  ///< ANABRANCH_DISABLE=fuse,cse: passes left out
  std::string timeline;  ///< ANABRANCH_TIMELINE=out.json: what ran, written as the process ends
  int streams = 0;       ///< ANABRANCH_STREAMS=2: at most so many; 0 where not set
  int cpu_devices = 0;   ///< ANABRANCH_CPU_DEVICES=4: virtual CPU devices; 0 where not set
  std::optional<Device> device;  ///< ANABRANCH_DEVICE=cuda:0: in place of cpu:0 where none is named
  std::shared_ptr<CodeCache> cache;  ///< ANABRANCH_CACHE_DIR=folder: code for later processes
  std::string log;                   ///< ANABRANCH_LOG=stderr, or a file to append to: see ir/log.h
};

/// Read at the first call. Throws Error, naming the variable, where one makes no sense.
const Environment& environment();

}  // namespace anabranch
