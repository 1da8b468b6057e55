#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Formats that servers read: against their consumers' own schemas where these are at hand (MEMLINT_SARIF_SCHEMA, the
# OASIS file sarif-schema-2.1.0.json; MEMLINT_JUNIT_SCHEMA, the Jenkins xUnit plugin's junit-10.xsd), and by what the
# consumers' documents demand, always.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
model=$SOURCE/tests/gate/wider.txt
cd "$work" || exit 1
mkdir -p tree/src && touch tree/src/net.py
"$MEMLINT" "$SOURCE/tests/gate/base.txt" --dim batch=16 --flags=none --format=json >old.json
"$MEMLINT" "$model" --dim batch=16 --flags=none --baseline=old.json --max-increase=1% --max-peak=1TiB --fail-on=error \
    --sources=tree -q -o r.sarif -o r.xml -o r.codequality.json -o r.metrics -o r.github -o r.csv -o r.md -o r.jsonl \
    2>err
ok "exit 1" [ $? = 1 ]
for f in r.sarif r.xml r.codequality.json r.metrics r.github r.csv r.md r.jsonl; do
    ok "$f is written" [ -s $f ]
done
ok "a pull request takes the Markdown" [ "$(wc -m <r.md)" -lt 65536 ]

check() { # check NAME: the Python on standard input exits 0
    python3 - >"$work/check" 2>&1
    local status=$?
    ok "$1: $(tail -1 "$work/check")" [ $status = 0 ]
}
check SARIF <<'EOF'
import json
log = json.load(open("r.sarif"))
assert log["version"] == "2.1.0" and log["$schema"].startswith("https://")
run, = log["runs"]
driver = run["tool"]["driver"]
assert driver["name"] == "memlint"
for rule in driver["rules"]:
    assert rule["id"] and rule["shortDescription"]["text"] and rule["fullDescription"]["text"] and rule["help"]["text"]
    assert max(len(rule[k]["text"]) for k in ("shortDescription", "fullDescription", "help")) <= 1024
assert len({r["id"] for r in driver["rules"]}) == len(driver["rules"])
prints = set()
for r in run["results"]:
    assert driver["rules"][r["ruleIndex"]]["id"] == r["ruleId"]
    assert r["message"]["text"] and r["level"] in ("note", "warning", "error")
    place = r["locations"][0]["physicalLocation"]
    assert set(place["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}
    assert place["region"]["startLine"] >= 1
    uri = place["artifactLocation"]["uri"]
    assert ".." not in uri and " " not in uri
    assert not uri.endswith(".py") or uri == "src/net.py", uri
    prints.add(r["partialFingerprints"]["primaryLocationLineHash"])
assert len(prints) == len(run["results"]) > 1
assert run["results"][0]["ruleId"] == "gate-max-increase" and run["results"][0]["level"] == "error"
assert {r["baselineState"] for r in run["results"][1:]} == {"unchanged"} and run["results"][0]["baselineState"] == "new"
assert any(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/net.py" for r in run["results"])
EOF
check JUnit <<'EOF'
import xml.etree.ElementTree as xml
root = xml.parse("r.xml").getroot()
suite, = root
cases = suite.findall("testcase")
assert root.tag == "testsuites" and suite.tag == "testsuite" and int(suite.get("tests")) == len(cases)
outcome = {c.get("name"): [k.tag for k in c] for c in cases}
assert outcome["max-increase"] == ["failure"] and outcome["max-peak"] == [], outcome
assert outcome["device"] == ["skipped"], outcome
assert int(suite.get("failures")) == sum("failure" in k for k in outcome.values()) and suite.get("errors") == "0"
EOF
check "GitLab code quality" <<'EOF'
import json
issues = json.load(open("r.codequality.json"))
assert issues and issues[0]["severity"] == "critical"
for i in issues:
    assert set(i) >= {"description", "check_name", "fingerprint", "severity", "location"}
    assert i["severity"] in ("info", "minor", "major", "critical", "blocker") and i["location"]["lines"]["begin"] >= 1
    assert not i["location"]["path"].startswith("./")
assert [i["check_name"] for i in issues] == ["gate-max-increase"], "what the baseline has, too, is left out"
EOF
check OpenMetrics <<'EOF'
import re
lines = open("r.metrics").read().split("\n")
assert lines[-2:] == ["# EOF", ""]
names = [re.match(r"# TYPE (\w+) gauge$", l).group(1) for l in lines if l.startswith("# TYPE")]
samples = [re.match(r'(\w+)\{model="(?:[^"\\]|\\.)*"\} \d+$', l).group(1) for l in lines[:-2] if not l.startswith("#")]
assert names == samples and len(set(names)) == len(names) and "memlint_peak_allocated_bytes" in names
assert any(l.startswith("# HELP memlint_gate_max_increase failed: the peak grew by") for l in lines)
assert 'memlint_gate_max_peak{model="' in "".join(lines)
EOF
check "GitHub's commands" <<'EOF'
import re
lines = open("r.github").read().splitlines()
levels = [re.match(r"::(error|warning|notice) file=[^,:]+,line=\d+,title=[^,:]+::[^\r\n]+$", l).group(1) for l in lines]
assert levels == ["error", "notice"], "what the baseline has, too, is left out"
assert lines[0].startswith("::error file=src/net.py,"), lines[0]
EOF
check CSV <<'EOF'
import csv, json
rows = list(csv.DictReader(open("r.csv")))
stored = json.loads(open("r.jsonl").readline())
assert len(rows) == len(stored["live_at_peak"]) and sum(int(r["bytes"]) for r in rows) == stored["peak"]["allocated"]
EOF
check "JSON's baseline" <<'EOF'
import json
r = json.loads(open("r.jsonl").readline())
b = r["baseline"]
assert sum(l["increase_bytes"] for l in b["layers_changed"]) == b["increase_bytes"]
assert b["increase_bytes"] == r["peak"]["allocated"] - b["peak"]
assert [g["name"] for g in r["gates"] if g["outcome"] == "failed"] == ["max-increase"]
EOF

# ---- the official schemas
if [ -r "${MEMLINT_SARIF_SCHEMA:-}" ] && python3 -c 'import jsonschema' 2>/dev/null; then
    check "the OASIS schema" <<'EOF'
import json, jsonschema, os
jsonschema.validate(json.load(open("r.sarif")), json.load(open(os.environ["MEMLINT_SARIF_SCHEMA"])))
EOF
else
    echo "skipped: MEMLINT_SARIF_SCHEMA names no schema, or there is no jsonschema for python3"
fi
if [ -r "${MEMLINT_JUNIT_SCHEMA:-}" ] && command -v xmllint >/dev/null; then
    ok "the JUnit schema" xmllint --noout --schema "$MEMLINT_JUNIT_SCHEMA" r.xml
else
    echo "skipped: MEMLINT_JUNIT_SCHEMA names no schema, or there is no xmllint"
fi

# ---- fingerprints outlive other sizes and other lines
"$MEMLINT" "$model" --dim batch=9 --flags=none --baseline="$SOURCE/tests/gate/base.txt" --max-increase=1% -q -o \
    s.sarif 2>err
ok "the gate's fingerprint stays" [ "$(grep -o '"memlint/v1": "[0-9a-f]*"' s.sarif | head -1)" = \
    "$(grep -o '"memlint/v1": "[0-9a-f]*"' r.sarif | head -1)" ]
finish
