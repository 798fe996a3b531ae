# SPDX-License-Identifier: Apache-2.0
"""CPython's flame-graph data as its collector made it at first, by the numbered statements of docs/internals/contracts.md (11 to
22). For tests: plain and slow."""
import linecache

GIL, CPU, UNKNOWN, WANTS, EXCEPTION = 1, 2, 4, 8, 16
COUNTS = ("has_gil", "on_cpu", "gil_requested", "unknown", "has_exception", "total")


def line_of(location):
    return location[0] if isinstance(location, list) else location or 0


def task_stacks(awaited):
    tasks = {t["id"]: (t, a["thread_id"]) for a in awaited for t in a["tasks"]}
    awaiting = {parent for t, _ in tasks.values() for parent in t["awaited_by"]}
    for leaf in sorted(set(tasks) - awaiting):
        frames, seen, at = [], set(), leaf
        while at in tasks and at not in seen:
            seen.add(at)
            task = tasks[at][0]
            for coro in task["coros"]:
                frames += coro["frames"]
            parents = task["awaited_by"]
            name = (task["name"] or "Task-%d" % at) + (" (%d parents)" % len(parents) if len(parents) > 1 else "")
            frames.append(["<task>", None, name, None])
            at = min(parents) if parents else None
        yield tasks[leaf][1], frames


def stacks_of(run, sample):
    if "awaited" in sample:
        yield from task_stacks(sample["awaited"])
        return
    for thread in (t for i in sample["interpreters"] for t in i["threads"]):
        if run.get("skip_idle") and not thread["status"] & (GIL | CPU):
            continue
        frames = [f for f in thread["frames"] if not f[0].endswith("_sync_coordinator.py")]
        if frames:
            yield thread["id"], frames


def tree_of(run):
    root = {"value": 0, "children": {}, "threads": set()}
    for sample in run["samples"]:
        weight = sample.get("weight") or 1
        for tid, frames in stacks_of(run, sample):
            node = root
            root["value"] += weight
            root["threads"].add(tid)
            for file, location, name, opcode in reversed(frames):
                fresh = {"value": 0, "children": {}, "threads": set(), "opcodes": {}}
                node = node["children"].setdefault((file, line_of(location), name), fresh)
                node["value"] += weight
                node["threads"].add(tid)
                if opcode is not None:
                    node["opcodes"][opcode] = node["opcodes"].get(opcode, 0) + weight
    return root


def figures(counts, gc, samples):
    total = max(1, counts["total"])
    shares = {key + "_pct": counts[key] / total * 100 for key in ("has_gil", "on_cpu", "gil_requested", "has_exception")}
    return {**shares, "gc_pct": gc / max(1, samples) * 100}


def stats_of(run):
    whole, each, samples, gc = dict.fromkeys(COUNTS, 0), {}, 0, 0
    for sample in run["samples"]:
        weight = sample.get("weight") or 1
        samples += weight
        any_gc = False
        for thread in (t for i in sample.get("interpreters", ()) for t in i["threads"]):
            mine = each.setdefault(thread["id"], dict.fromkeys((*COUNTS, "gc_samples"), 0))
            for key, bit in zip(COUNTS, (GIL, CPU, WANTS, UNKNOWN, EXCEPTION, None)):
                if bit is None or thread["status"] & bit:
                    whole[key] += weight
                    mine[key] += weight
            if any("<GC>" in f[2] or "gc_collect" in f[2] for f in thread["frames"]):
                mine["gc_samples"] += weight
                any_gc = True
        gc += weight * any_gc
    return {**run.get("stats", {}),
            "thread_stats": {**figures(whole, gc, samples), "free_threaded": False, **whole},
            "per_thread_stats": {tid: {**figures(c, c["gc_samples"], samples), **c} for tid, c in each.items()}}


def title(file, line, name):
    if file == "~" and line == 0:
        return name
    parts = file.split("/")
    if len(file) > 50 and len(parts) > 2:
        file = ".../" + "/".join(parts[-2:])
    return "%s (%s:%d)" % (name, file, line)


def source_of(file, line):
    rows = [(n, linecache.getline(file, n)) for n in range(max(1, line - 2), line + 3)] if "\0" not in file else []
    return ["%s%d: %s" % ("→ " if n == line else "  ", n, text.rstrip()) for n, text in rows if text.strip()]


class Strings:
    def __init__(self):
        self.index = {}

    def __call__(self, text):
        return self.index.setdefault(text, len(self.index))


def convert(children, least, strings):
    out = []
    for (file, line, name), node in children.items():
        if node["value"] < least:
            continue
        entry = {"name": None, "value": node["value"], "children": [], "filename": strings(file), "lineno": line,
                 "funcname": strings(name), "threads": sorted(node["threads"])}
        entry["name"] = strings(title(file, line, name))
        source = [strings(row) for row in source_of(file, line)]
        if source:
            entry["source"] = source
        if node["opcodes"]:
            entry["opcodes"] = node["opcodes"]
        entry["children"] = convert(node["children"], least, strings)
        out.append(entry)
    return sorted(out, key=lambda entry: (-entry["value"], entry["name"]))


def flame_graph(run):
    """The data, but for the mapping of opcodes."""
    root, strings = tree_of(run), Strings()
    if root["value"] == 0:
        return {"name": strings("No Data"), "value": 0, "children": [], "threads": [], "strings": list(strings.index)}
    children = convert(root["children"], max(1, int(root["value"] * 0.001)), strings)
    if not children:
        return {"name": strings("No significant data"), "value": 0, "children": [], "strings": list(strings.index)}
    if len(children) == 1:
        top = children[0]
        top["name"] = strings("Program Root: " + list(strings.index)[top["name"]])
        top["stats"] = stats_of(run)
        top["threads"] = sorted(root["threads"])
    else:
        top = {"name": strings("Program Root"), "value": root["value"], "children": children, "stats": stats_of(run),
               "threads": sorted(root["threads"])}
    top["strings"] = list(strings.index)
    return top
