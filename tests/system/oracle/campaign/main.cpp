// random_campaign: any number of random graphs, each run in every way (ways.cpp) and held against
// the interpreter. What differs is shrunk and printed; the exit status says whether anything did.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string>

#include "../check.h"
#include "campaign.h"
#include "rules.h"
#include "tests/support/random_graph.h"
#include "worker.h"

int main(int argc, char** argv) {
  using namespace anabranch;
  CLI::App app("Holds random graphs, run in every way, against the interpreter");
  Campaign campaign;
  std::optional<std::uint64_t> shown;
  app.add_option("--first", campaign.first, "the first seed");
  app.add_option("--count", campaign.count, "how many seeds, one graph each");
  app.add_option("--jobs", campaign.jobs, "processes that work side by side")
      ->check(CLI::Range(1, 256));
  app.add_option("--shrink", campaign.most_shrunk, "shrink so many differences; others are named");
  app.add_option("--way", campaign.way, "only the ways whose names have this in them");
  app.add_option("--seconds", campaign.seconds, "stop after so long; 0 for no limit");
  app.add_option("--stalled", campaign.stalled_seconds, "give a graph up after so long");
  app.add_flag("--twins", campaign.made.twins, "run the graphs rewritten by random identities");
  app.add_flag("--times", campaign.times, "say at the end what took how long");
  app.add_option("--print", shown, "only print the graph of this seed and its inputs");
  const std::map<std::string, testing::Transform> transforms = {
      {"gradients", testing::Transform::gradients},
      {"tangents", testing::Transform::tangents},
      {"batch", testing::Transform::batch}};
  app.add_option("--transform", campaign.made.transforms,
                 "run what these make of the graphs, one after the other")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(transforms));
  bool rules = false;
  app.add_flag("--rules", rules, "only say how often each rule of the passes applies");
  CLI11_PARSE(app, argc, argv);
  if (rules) {
    for (const auto& [equation, count] : applied_rules(campaign.first, campaign.count)) {
      std::cout << count << "\t" << equation << "\n";
    }
    return 0;
  }
  if (shown) {
    const auto run = run_of(campaign.made, *shown);
    std::cout << (run ? describe(run->tested) : "left out\n");
    return 0;
  }
  return run_campaign(campaign) ? 0 : 1;
}
