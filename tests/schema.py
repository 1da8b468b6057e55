# SPDX-License-Identifier: Apache-2.0
"""schema.py - JSON reports against docs/report.schema.json.

    schema.py [--unseen=NAME,...] SCHEMA REPORT...

A REPORT is one JSON object, or with the ending .jsonl one a line. NAMEs are definitions that no report need have.
Prints "ok NAME" or "no NAME: why" for each check; exits 1 where one failed. The schema itself allows more keys, for
readers of later reports; here it allows none, so that a key which is written and not described fails.
"""

import copy
import json
import sys

import jsonschema

failed = False


def check(name, why):
    """Says how a check went; why: what is wrong, nothing where all is well."""
    global failed
    failed |= bool(why)
    print(f"no {name}: {why}" if why else f"ok {name}")


def closed(schema):
    """The schema with no key allowed but those that it describes."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and "required" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(value) for value in schema]
    return schema


def described(schema, path=()):
    """Places of all keys that a schema describes."""
    if isinstance(schema, dict):
        for key, value in schema.get("properties", {}).items() if "required" in schema else ():
            yield path + (key,)
        for key, value in schema.items():
            yield from described(value, path + (key,))


def first_error(validator, report):
    error = next(validator.iter_errors(report), None)
    return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"


def keys_of(schema, defs, value, place, seen):
    """Adds to seen the places in the schema of the keys that a value has."""
    while "$ref" in schema:
        place = ("$defs", schema["$ref"].rsplit("/", 1)[1])
        schema = defs[place[1]]
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key in schema.get("properties", {}):
            seen.add(place + (key,))
            keys_of(schema["properties"][key], defs, inner, place + ("properties", key), seen)
    for inner in value if isinstance(value, list) else ():
        keys_of(schema.get("items", {}), defs, inner, place + ("items",), seen)


def broken(report):
    """Copies of a report with one key missing, and with one value of another kind."""
    for key in report:
        missing, other = copy.copy(report), copy.copy(report)
        del missing[key]
        other[key] = [True]
        yield f"without {key}", missing
        yield f"{key} of another kind", other


def wrong_segments(report):
    """What of a report's segments and of the places of tensors in them can't be."""
    segments, live = report.get("segments"), report["live_at_peak"]
    if not segments:
        return None
    n = len(segments["bytes"])
    if any(len(column) != n for column in segments.values()):
        return "segments in lists of several lengths"
    if not sum(segments["allocated"]) == report["peak"]["allocated"] <= sum(segments["bytes"]):
        return "segments whose tensors are not the peak"
    if sum(segments["bytes"]) > report["peak"]["reserved"]:
        return "segments that are more than is reserved"
    inside = [[] for _ in range(n)]
    for t in live:
        inside[t["segment"]].append((t["offset"], t["offset"] + t["bytes"]))
    for i, blocks in enumerate(inside):
        blocks.sort()
        ends = [0] + [end for _, end in blocks]
        starts = [start for start, _ in blocks] + [segments["bytes"][i]]
        gaps = [start - end for start, end in zip(starts, ends)]
        if min(gaps) < 0 or max(gaps) != segments["largest_free"][i] or len(blocks) != segments["tensors"][i]:
            return f"blocks of segment {i} that lie over each other, or out of it: {gaps}"
    return None


def wrong_of(report):
    """What of a report's timeline and tensors does not agree with its peak; nothing where all does."""
    time, tensors, peak = report["timeline"], report["tensors"], report["peak"]["allocated"]
    n, classes = len(time["instant"]), time["classes"].values()
    live, lives = report["live_at_peak"], report["live_at_peak"] + tensors["largest"]
    if any(len(column) != n for column in (time["phase"], time["operator"], time["allocated"], *classes)):
        return "lists of several lengths"
    if n > 700 or len(tensors["largest"]) > min(500, tensors["of"]) or n > time["of"]:
        return f"{n} instants of {time['of']}, {len(tensors['largest'])} tensors of {tensors['of']}"
    if time["instant"] != sorted(set(time["instant"])) or n and time["instant"][-1] > time["of"]:
        return "instants out of order"
    if any(sum(parts) != all for *parts, all in zip(*classes, time["allocated"])):
        return "classes that do not add up"
    if any(not 1 <= t["from"] <= t["to"] <= time["of"] for t in lives):
        return "a tensor that dies before it is born"
    if n and peak != max(time["allocated"]):
        return "a peak that is not in the timeline"
    if n and sum(t["bytes"] for t in live) != peak:
        return "tensors alive at the peak that are not the peak"
    at = time["instant"][time["allocated"].index(peak)] if n else 0
    if any(not t["from"] <= at <= t["to"] for t in live):
        return "a tensor of the peak that is not alive then"
    for at, all in zip(time["instant"], time["allocated"]):
        if sum(t["bytes"] for t in tensors["largest"] if t["from"] <= at <= t["to"]) > all:
            return f"tensors alive at {at} that are more than is allocated"
    if wrong := wrong_segments(report):
        return wrong
    plans = report.get("recompute", {"chosen": None, "chosen_pattern": None})
    if None not in (plans["chosen"], plans["chosen_pattern"]):
        taken = plans["front"][plans["chosen"]]["pattern"], plans["patterns"][plans["chosen_pattern"]]["pattern"]
        if taken[0] != taken[1]:
            return f"two plans to take: {taken}"
    return None


def main():
    paths, unseen = sys.argv[1:], []
    if paths[0].startswith("--unseen="):
        unseen = paths.pop(0).partition("=")[2].split(",")
    with open(paths[0]) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    defs, strict = schema["$defs"], jsonschema.Draft202012Validator(closed(schema))
    reports = []
    for path in paths[1:]:
        with open(path) as f:
            texts = f.read().splitlines() if path.endswith(".jsonl") else [f.read()]
        reports += [(path, json.loads(text)) for text in texts]
    seen = set()
    for path, report in reports:
        check(path, first_error(strict, report))
        refused = report["verdict"] == "refused"
        if not refused:
            check(f"{path}: timeline and tensors", wrong_of(report))
        keys_of({"$ref": "#/$defs/" + ("refused" if refused else "result")}, defs, report, (), seen)
    never = {place for place in set(described(schema)) - seen if not set(place) & set(unseen)}
    check("every key is in some report", ", ".join(sorted("/".join(place) for place in never)))
    optional = set(defs["result"]["properties"]) - set(defs["result"]["required"])
    whole = next(report for _, report in reports if report["verdict"] == "ok")
    for name, report in broken(whole):
        if name.split()[-1] not in optional:
            check(f"refuses a report {name}", None if first_error(strict, report) else "it does not")
    more = dict(whole, later=1)
    check("a reader's schema allows later keys", first_error(jsonschema.Draft202012Validator(schema), more))
    check("this one does not", None if first_error(strict, more) else "it does")
    return failed


sys.exit(main())
