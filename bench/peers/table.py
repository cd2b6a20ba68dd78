"""The results as a table in Markdown."""
import programs

HEAD = ("| benchmark | ours, ms | best peer | its ms | ratio | ours over the limit | others, ms |\n"
        "|---|---:|---|---:|---:|---:|---|")
SUITES = {"pyhpc": "pyhpc-benchmarks", "npbench": "NPBench", "kernels": "Products, reductions and moves",
          "loops": "Plain loops in C++"}


def digits(value):
    """Three digits that mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def best_peer(result):
    peers = {peer: ms for peer, ms in result["ms"].items() if peer != "ours" and peer not in result["failures"]}
    return min(peers, key=peers.get) if peers else None


def ratio(result):
    """The best peer's time over ours; 0 where either has none."""
    best = best_peer(result)
    return result["ms"][best] / result["ms"]["ours"] if best and "ours" in result["ms"] else 0


def middle(runs):
    """Of each benchmark in several runs' results the one whose ratio is the middle one, with the ratios of all."""
    merged = {}
    for key in dict.fromkeys(key for run in runs for key in run):
        results = sorted((run[key] for run in runs if key in run), key=ratio)
        merged[key] = results[(len(results) - 1) // 2] | {"ratios": [ratio(result) for result in results]}
    return merged


def row(result):
    name = result["name"]
    ms, failures = result["ms"], result["failures"]
    best = best_peer(result)
    others = [f"{programs.PEERS[peer]} {digits(value)}" for peer, value in sorted(ms.items(), key=lambda item: item[1])
              if peer not in ("ours", best) and peer not in failures]
    others += [f"{programs.PEERS.get(peer, peer)} -: {why.splitlines()[-1][:160]}" for peer, why in failures.items()]
    size = ", ".join(f"{key} {value}" for key, value in result["sizes"].items())
    if "ours" not in ms or best is None:
        return f"| {name} ({size}) | - | | | | | {'; '.join(others)} |"
    ratios = result.get("ratios", [])
    span = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if len(ratios) > 1 else ""
    return (f"| {name} ({size}) | {digits(ms['ours'])} | {programs.PEERS[best]} | {digits(ms[best])} "
            f"| {ratio(result):.2f}{span} | {ms['ours'] / result['floor_ms']:.2g} | {'; '.join(others)} |")


def text(results):
    parts = []
    for suite, title in SUITES.items():
        rows = [row(result) for result in results if result["suite"] == suite]
        if rows:
            parts.append("\n".join([f"### {title}", "", HEAD, *rows, ""]))
    return "\n".join(parts)
