#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memlint over a folder of files from anywhere: does it crash, what does it answer, and where do doubts begin?

    wild.py MEMLINT FOLDER [-j N] [--seconds N] [--most N] [--list | --follow] [-- OPTION...]

Every *.onnx below FOLDER is read once, with the options given. Printed: exit codes and verdicts; of refusals the
message; of where files are from the verdicts; of doubts the operator that is their first root, with the files where it
is that and those where it is any, and an example. --list prints a line a file instead. --follow pastes the command that
a report says to try, and prints what came of it. Exit 1 when one crashed or took longer than --seconds, or a pasted
command was refused.
"""

import argparse, collections, concurrent.futures, json, os, re, shlex, subprocess, sys


def files(folder):
    for at, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(".onnx"):
                yield os.path.join(at, name)


def ask(memlint, path, options, seconds):
    """(path, exit code or what happened, verdict, provenance, roots, message)"""
    command = [memlint, path, "--format=json", *options]
    try:
        said = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return path, "too long", "-", "-", [], ""
    code = said.returncode if said.returncode >= 0 else f"signal {-said.returncode}"
    message = said.stderr.strip().splitlines()[-1] if said.stderr.strip() else ""
    try:
        answer = json.loads(said.stdout)
    except ValueError:
        return path, code, "-", "-", [], message
    roots = [d["operator"] or ("(model)" if d["node"] == "model" else "(input)") for d in answer["unexplained"]]
    return path, code, answer["verdict"], answer["provenance"]["kind"], roots, message


def follow(memlint, path, options, seconds):
    """(what came of the command that the report says to try, the command)"""
    said = subprocess.run([memlint, path, *options], capture_output=True, text=True, errors="replace", timeout=seconds)
    remedy = re.search(r"^  try: ((?:.*\\\n)*.*)", said.stdout, re.M)
    command = shlex.split(remedy[1].replace("\\\n", " ")) if remedy and remedy[1].startswith("memlint ") else None
    if not command:
        return "in Python" if remedy else "nothing to try", ""
    if any("..." in word for word in command):
        return "to be filled in", shlex.join(command)
    again = subprocess.run([memlint, *command[1:]], capture_output=True, text=True, errors="replace", timeout=seconds)
    verdict = "inconclusive" if "\n  inconclusive" in again.stdout else "conclusive"
    return f"exit {again.returncode}, {verdict if again.returncode == 0 else again.stderr.strip()}", shlex.join(command)


def refusal(message, path):
    """A message without names and numbers, so that equal ones are counted."""
    message = re.sub(r"^memlint: ", "", message).replace(path, "FILE")
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "NAME", message))[:100]


def count(title, counter, most):
    print(f"\n{title}")
    for key, n in counter.most_common(most):
        print(f"{n:7}  {key}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("memlint")
    ap.add_argument("folder")
    ap.add_argument("-j", type=int, default=1, metavar="N", help="so many at a time")
    ap.add_argument("--seconds", type=int, default=60)
    ap.add_argument("--most", type=int, default=30, help="rows of a table")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--follow", action="store_true", help="paste the commands that reports say to try")
    ap.add_argument("options", nargs="*")
    a = ap.parse_args()
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        of_each = follow if a.follow else ask
        rows = list(pool.map(lambda path: of_each(a.memlint, path, a.options, a.seconds), files(a.folder)))
    if a.follow:
        count("what came of it", collections.Counter(what for what, _ in rows), a.most)
        refused = [r for r in rows if r[0].startswith("exit") and not r[0].startswith("exit 0")]
        for what, command in refused:
            print(f"{what}\n    {command}")
        return bool(refused)
    bad = [r for r in rows if isinstance(r[1], str)]
    if a.list:
        for path, code, verdict, kind, roots, message in rows:
            print(path, code, verdict, kind, ",".join(dict.fromkeys(roots)) or "-", message, sep="\t")
        return bool(bad)
    count("exit code and verdict", collections.Counter(f"{code}  {verdict}" for _, code, verdict, *_ in rows), a.most)
    count("refused", collections.Counter(refusal(m, p) for p, c, v, _, _, m in rows if v == "-" and c == 3), a.most)
    count("where from, and verdict", collections.Counter(f"{kind}  {v}" for _, _, v, kind, *_ in rows), a.most)
    first, anywhere, example = collections.Counter(), collections.Counter(), {}
    for path, _, _, _, roots, _ in rows:
        first.update(roots[:1])
        anywhere.update(set(roots))
        for root in roots:
            example.setdefault(root, path)
    print("\nroots of doubt: first, anywhere, operator, a file")
    for root, n in sorted(anywhere.items(), key=lambda r: (-first[r[0]], -r[1], r[0]))[: a.most]:
        print(f"{first[root]:7} {n:7}  {root:28} {os.path.relpath(example[root], a.folder)}")
    for path, what, *_ in bad:
        print(f"{what}: {path}")
    print(f"\n{len(rows)} files")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
