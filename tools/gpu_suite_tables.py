#!/usr/bin/env python3
"""What the stages of gpu_suite left in a folder of logs, as gpu_suite.md and gpu_suite.json.

    gpu_suite_tables.py LOGS OUTPUT     writes both
    gpu_suite_tables.py --tests LOGS    prints how the tests went; ends with 0 where all passed or said why they were
                                        skipped, with 124 where there was no time for some, with 1 otherwise
"""
import json
import os
import pathlib
import re
import sys
import time

RUN = re.compile(r"\[ RUN      \] (\S+)$")
END = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
EXIT = re.compile(r"^gpu_suite: exit (\d+)")
OUT_OF_TIME = (124, 137)
PEERS = ("torch", "jax")
VARIANTS = ("torch eager", "torch.compile", "torch CUDA graph", "jax.jit")


def lines_of(file):
    return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []


def table_of(file):
    return [line.split("\t") for line in lines_of(file)]


def json_of(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


# --- tests


class Shard:
    """One run of a test program over some of its tests, read from what it printed."""

    def __init__(self, file):
        self.ended = {}  # name: OK, FAILED, SKIPPED
        self.text = {}  # of what did not end OK
        self.exit = None
        current, lines = None, []
        for line in lines_of(file):
            if found := RUN.search(line):
                self._abandon(current, lines)
                current, lines = found[1], []
            elif (found := END.search(line)) and found[2] == current:
                self.ended[current] = found[1]
                if found[1] != "OK":
                    self.text[current] = lines
                current, lines = None, []
            elif found := EXIT.search(line):
                self.exit = int(found[1])
            else:
                lines.append(line)
        self._abandon(current, lines)
        if current is None and self.exit not in (0, 1, *OUT_OF_TIME):  # 1: gtest says so itself
            self.text[f"{file.stem}, outside of its tests"] = lines
            self.ended[f"{file.stem}, outside of its tests"] = "CRASHED"

    def _abandon(self, name, lines):
        if name is None:
            return
        self.ended[name] = "STOPPED" if self.exit in OUT_OF_TIME else "CRASHED"
        self.text[name] = lines


def read_tests(logs):
    """Per program: its count of tests, and how many ended how; then the text of those that did not end well."""
    programs, texts = {}, []
    for name, count in table_of(logs / "counts.tsv"):
        ended, text, ran_out = {}, {}, False
        for file in sorted((logs / "tests").glob(f"{name}.*.log")):
            shard = Shard(file)
            ended.update(shard.ended)
            text.update(shard.text)
            ran_out |= shard.exit in OUT_OF_TIME
        number = {state: sum(end == state for end in ended.values())
                  for state in ("OK", "FAILED", "SKIPPED", "CRASHED", "STOPPED")}
        tests = int(count)
        programs[name] = {
            "tests": tests, "passed": number["OK"], "failed": number["FAILED"],
            "skipped": number["SKIPPED"], "crashed": number["CRASHED"],
            "not_run": max(0, tests - len(ended)) + number["STOPPED"], "out_of_time": ran_out,
        }
        for test, what in sorted(text.items()):
            texts.append({"program": name, "test": test, "ended": ended[test],
                          "text": "\n".join(what[:30])})
    return programs, texts


def tests_verdict(programs):
    def is_bad(p):
        return p["failed"] or p["crashed"] or not p["tests"] or (p["not_run"] and not p["out_of_time"])

    if not programs or any(is_bad(p) for p in programs.values()):
        return 1
    return 124 if any(p["not_run"] for p in programs.values()) else 0


def tests_sum(programs):
    return {key: sum(p[key] for p in programs.values())
            for key in ("tests", "passed", "failed", "skipped", "crashed", "not_run")}


# --- sanitizers


def read_sanitizer(file):
    runs = []
    for line in lines_of(file):
        if found := re.match(r"gpu_suite: (test_\S+, one test in \d+)", line):
            runs.append({"run": found[1], "found": None, "tests_passed": 0, "exit": None, "text": []})
        elif not runs:
            continue
        elif found := re.search(r"(?:ERROR SUMMARY: (\d+) error)|(?:RACECHECK SUMMARY: (\d+) hazard)", line):
            runs[-1]["found"] = int(found[1] or found[2])
        elif found := re.search(r"\[  PASSED  \] (\d+) test", line):
            runs[-1]["tests_passed"] = int(found[1])
        elif found := EXIT.search(line):
            runs[-1]["exit"] = int(found[1])
        elif line.startswith("=========") and len(runs[-1]["text"]) < 30:
            runs[-1]["text"].append(line)
    for run in runs:
        run["clean"] = run["exit"] == 0 and run["found"] == 0 and run["tests_passed"] > 0
        if run["clean"]:
            del run["text"]
    return runs


# --- everything


def collect(logs):
    programs, texts = read_tests(logs)
    return {
        "made": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "facts": {name: {"state": state, "value": value}
                  for name, state, value in table_of(logs / "facts.tsv")},
        "stages": [{"name": name, "state": state, "seconds": int(seconds)}
                   for name, state, _, seconds in table_of(logs / "stages.tsv")],
        "tests": programs,
        "tests_left_out": dict(table_of(logs / "left_out.tsv")),
        "tests_not_passed": texts,
        "sanitizers": {tool: read_sanitizer(logs / f"{tool}.log") for tool in ("memcheck", "racecheck")},
        "bench_gpu": json_of(logs / "bench_gpu.json"),
        "peers": {peer: json_of(logs / f"{peer}.json") for peer in PEERS},
        "bench_async": lines_of(logs / "bench_async.log"),
    }


def time_text(seconds):
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.3f} ms"


def rate_text(m):
    if m.get("operations"):
        return f"{m['operations'] / m['seconds'] * 1e-12:.1f} TFLOP/s"
    return f"{m['bytes'] / m['seconds'] * 1e-9:.0f} GB/s" if m.get("bytes") else ""


def row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def head(*cells):
    return [row(*cells), row(*("---" for _ in cells))]


def tests_section(all_):
    if not all_["tests"]:
        return []
    keys = ("tests", "passed", "failed", "skipped", "crashed", "not_run")
    lines = ["", "## The test suite on cuda:0", "", *head("program", *(key.replace("_", " ") for key in keys))]
    for name, program in sorted(all_["tests"].items()):
        lines.append(row(name, *(program[key] for key in keys)))
    total = tests_sum(all_["tests"])
    lines.append(row("together", *(total[key] for key in keys)))
    lines += ["", *(f"- Left out: `{name}`: {why}."
                    for name, why in sorted(all_["tests_left_out"].items()))]
    for test in all_["tests_not_passed"][:40]:
        lines += ["", f"{test['ended']}: `{test['test']}`", "", "```", test["text"], "```"]
    if len(all_["tests_not_passed"]) > 40:
        lines += ["", f"And {len(all_['tests_not_passed']) - 40} more: see gpu_suite.json."]
    return lines


def sanitizers_section(all_):
    if not any(all_["sanitizers"].values()):
        return []
    lines = ["", "## compute-sanitizer", "", *head("tool", "over", "tests passed", "errors or hazards", "")]
    for tool, runs in all_["sanitizers"].items():
        for run in runs:
            found = "no summary" if run["found"] is None else run["found"]
            verdict = "clean" if run["clean"] else f"exit code {run['exit']}"
            lines.append(row(tool, run["run"], run["tests_passed"], found, verdict))
    for tool, runs in all_["sanitizers"].items():
        for run in runs:
            if run.get("text"):
                lines += ["", f"{tool} over {run['run']}:", "", "```", *run["text"], "```"]
    return lines


def benchmarks_section(all_):
    bench = all_["bench_gpu"]
    if not bench:
        return []
    peers = {}
    for peer in PEERS:
        for m in (all_["peers"][peer] or {"results": []})["results"]:
            peers.setdefault(m["name"], {})[m["variant"]] = m["seconds"]
    used = [v for v in VARIANTS if any(v in of for of in peers.values())]
    lines = ["", "## bench_gpu", "",
             f"Medians of {bench['rounds']} rounds. The last columns are the peers' times for the same.", "",
             *head("", "ours", "", "beside", *used)]
    for m in bench["results"]:
        beside = m.get("beside")
        share = f"{beside['share']:.2f} of {beside['name']}, {time_text(beside['seconds'])}" if beside else ""
        note = m.get("note", "")
        lines.append(row(m["name"], time_text(m["seconds"]), rate_text(m), ", ".join(filter(None, (share, note))),
                         *(time_text(of[v]) if v in (of := peers.get(m["name"], {})) else "" for v in used)))
    failed = [("bench_gpu", f) for f in bench["failed"]]
    failed += [(peer, f) for peer in PEERS if all_["peers"][peer] for f in all_["peers"][peer]["failed"]]
    if failed:
        lines += ["", "Not measured:", ""]
        lines += [f"- {who}, {f['name']}: {' '.join(f['why'].split())[:200]}" for who, f in failed]
    return lines


def markdown(all_):
    bench = all_["bench_gpu"] or {}
    lines = ["# The GPU suite", "", f"Written by `tools/gpu_suite`, {all_['made']}."]
    if bench.get("quick"):
        lines += ["", "**With --quick: these figures mean nothing.**"]
    lines += ["", *head("", "", "")]
    lines += [row(name, fact["state"], fact["value"]) for name, fact in all_["facts"].items()]
    lines += ["", *head("stage", "", "seconds")]
    lines += [row(stage["name"], stage["state"], stage["seconds"]) for stage in all_["stages"]]
    lines += tests_section(all_) + sanitizers_section(all_) + benchmarks_section(all_)
    if all_["bench_async"]:
        lines += ["", "## bench_async on cuda:0", "", "```", *all_["bench_async"], "```"]
    return "\n".join(lines) + "\n"


def write(file, text):
    """All or nothing: a file beside it takes its place when it is whole."""
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, file)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--tests":
        programs, _ = read_tests(pathlib.Path(sys.argv[2]))
        print("            " + ", ".join(f"{count} {key.replace('_', ' ')}"
                                         for key, count in tests_sum(programs).items()))
        return tests_verdict(programs)
    logs, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    all_ = collect(logs)
    output.mkdir(parents=True, exist_ok=True)
    write(output / "gpu_suite.json", json.dumps(all_, indent=1) + "\n")
    write(output / "gpu_suite.md", markdown(all_))
    return 0


if __name__ == "__main__":
    sys.exit(main())
