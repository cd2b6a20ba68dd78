"""The results as a table in Markdown."""
import programs

HEAD = ("| benchmark | ours, ms | best peer | its ms | ratio | ours over the limit | others, ms |\n"
        "|---|---:|---|---:|---:|---:|---|")
SUITES = {"pyhpc": "pyhpc-benchmarks", "npbench": "NPBench", "loops": "Plain loops in C++"}


def digits(value):
    """Three digits that mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def best_peer(result):
    peers = {peer: ms for peer, ms in result["ms"].items() if peer != "ours" and peer not in result["failures"]}
    return min(peers, key=peers.get) if peers else None


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
    return (f"| {name} ({size}) | {digits(ms['ours'])} | {programs.PEERS[best]} | {digits(ms[best])} "
            f"| {ms[best] / ms['ours']:.2f} | {ms['ours'] / result['floor_ms']:.2g} | {'; '.join(others)} |")


def text(results):
    parts = []
    for suite, title in SUITES.items():
        rows = [row(result) for result in results if result["suite"] == suite]
        if rows:
            parts.append("\n".join([f"### {title}", "", HEAD, *rows, ""]))
    return "\n".join(parts)
