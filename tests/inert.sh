#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Strings of a model are data: a nasty name in every place where a name occurs, in every format.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"
cd "$work" || exit 1
MEMLINT=$MEMLINT python3 - <<'EOF'
import ast, csv, html.parser, json, os, re, subprocess, xml.etree.ElementTree as xml

MARK = "PWN"
NASTY = {  # what it would be where it is not inert
    "markup and controls": b"""=PWN;=PWN\\"'><img src=x onerror=PWN><script>PWN</script>]]>|`"""
        b"""\\x0a::error::PWN\\x0d\\x1b[5mPWN\\x9b5m\\xff\\xed\\xa0\\x80\\xef\\xbf\\xbe\\xe2\\x80\\xaePWN""",
    "a command": b"::error file=x::PWN",
    "a program": b'''x\\"];PWN()#$(PWN)`PWN`''',
}
MODEL = b"""<ir_version: 10, opset_import: ["": 20, "d": 1, "f": 1],
    producer_name: "%(producer)s", producer_version: "%(version)s" %(signature)s>
"%(graph)s" (float["%(dimension)s", 64] "%(input)s" ["pkg.torch.onnx.original_node_name": "%(fx input)s"])
    => (float[?, 64] "%(output)s")
<float[64, 64] "%(initializer)s" ["pkg.torch.onnx.original_node_name": "p_w"] = {}, float[64, 64] "%(twin)s" = {}>
{
 ["%(node)s" %(record)s] "%(value)s" = MatMul ("%(input)s", "%(initializer)s")
 b = "d.%(operator)s" <"%(attribute)s" = "%(string)s"> ("%(value)s")
 c = "%(domain)s.Op" (b)
 ["/%(scope)s/Relu"] e = Relu ("%(value)s")
 i = MatMul (e, "%(twin)s")
 h = "f.%(function)s" (i)
 "%(output)s" = Add ("%(value)s", h)
}
<domain: "f", opset_import: ["": 20]>
"%(function)s" ("%(in function)s") => (r) { r = Relu ("%(in function)s") }
"""
SIGNATURE = b""", metadata_props: ["pkg.torch.export.ExportedProgram.graph_signature":
 "\\n# inputs\\np_w: PARAMETER target='%(parameter)s'\\nx: USER_INPUT\\n\\n# outputs\\nadd: USER_OUTPUT\\n"]"""
RECORD = b""", "pkg.torch.onnx.fx_node": "%%%(fx)s : [num_users=1] = """ \
    b"""call_function[target=torch.ops.aten.%(target)s.default](args = (%%x, %%p_w), kwargs = {})",
 "pkg.torch.onnx.name_scopes": "['', '%(path)s', 'mm']",
 "pkg.torch.onnx.class_hierarchy": "['m.Net', '%(class)s', 'aten.mm.default']",
 "pkg.torch.onnx.stack_trace": "File \\"%(file)s\\", line 7, in %(frame)s\\n    %(source)s" """
places = set(re.findall(rb"%\((.*?)\)s", MODEL + SIGNATURE + RECORD)) - {b"record", b"signature"}
EXTENSIONS = "txt full.txt json jsonl md html sarif xml codequality.json metrics github csv".split()
listed = subprocess.run([os.environ["MEMLINT"], "--list=formats"], capture_output=True, text=True).stdout
assert len(EXTENSIONS) == len(listed.splitlines()), "a format is not tested"

def printable(s):
    bad = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]", s)
    assert not bad, "U+%04X" % ord(bad.group())

class Page(html.parser.HTMLParser):
    scripts, inside = 0, None
    def handle_starttag(self, tag, attrs):
        self.inside = tag
        self.scripts += tag == "script"
        assert tag not in ("img", "iframe", "object", "form"), tag
        for name, value in attrs:
            assert not name.startswith("on") and name != "src" and (name != "href" or value[:1] == "#"), name
            assert MARK not in (value or "") or name in ("title", "alt", "aria-label") or name.startswith("data-"), name
    def handle_endtag(self, tag):
        self.inside = None
    def handle_data(self, data):
        assert self.inside not in ("script", "style") or MARK not in data

def judge(extension, s):
    printable(s)
    lines = s.split("\n")
    if extension == "github":
        note = r"::(error|warning|notice) file=[^,:]*,line=\d+,title=memlint[^,:]*::"
        assert all(re.match(note, l) for l in lines[:-1])
    else:
        assert not any(l.lstrip().startswith("::") for l in lines), "a command"
    if extension in ("json", "jsonl", "sarif", "codequality.json"):
        whole = json.loads(s)
        programs = [f["how"] for f in whole.get("findings", []) if f.get("how")] if extension == "json" else []
        assert not any(MARK in p for p in programs), "a program"
    elif extension == "xml":
        xml.fromstring(s)
    elif extension == "html":
        page = Page()
        page.feed(s)
        assert page.scripts == 1 and "Content-Security-Policy" in s and "default-src 'none'" in s
    elif extension == "csv":
        for row in csv.reader(lines):
            assert len(row) in (0, 11), row
            assert not any(re.match(r"\s*[=+@-]", cell) or re.search(r";\s*[=+@-]", cell) for cell in row), row
    elif extension == "md":
        plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", s)
        assert MARK not in plain, plain[max(plain.find(MARK) - 60, 0):][:100]
        columns = [len(re.findall(r"(?<!\\)\|", l)) for l in lines if l.startswith("|")]
        assert set(columns) <= {4, 5, 6, 7}, columns
    elif extension == "metrics":
        assert all(re.match(r'(# .*|\w+\{model="(?:[^"\\]|\\.)*"\} \d+|)$', l) for l in lines)

failed = []
shown = set()
def analyse(name, path, text):
    with open(path, "wb") as f:
        f.write(text)
    targets = ["r." + x for x in EXTENSIONS]
    for t in targets:
        if os.path.exists(t):
            os.remove(t)
    run = subprocess.run([os.environ["MEMLINT"], path, "--flags=none", "--recompute=auto", "--device=24GiB",
                          "--max-peak=1KiB", "--color=always", "-v",
                          "--dim=batch=4"] + [a for t in targets for a in ("-o", t)], capture_output=True)
    try:
        out, err = run.stdout.decode(), run.stderr.decode()
        assert run.returncode == 1, "exit %d: %s" % (run.returncode, ascii(err))
        colours = r"\x1b\[(?:0|1|2|[349][0-7]|[0-9;]*)m"
        printable(re.sub(colours, lambda m: "" if "5m" != m.group()[2:] else m.group(), out))
        printable(err)
        assert not any(l.startswith("::") for l in (out + err).split("\n")), "a command on a terminal"
        for extension, target in zip(EXTENSIONS, targets):
            with open(target, "rb") as f:
                s = f.read().decode()
            if MARK in s:
                shown.add((name[0], extension))
            try:
                judge(extension, s)
            except Exception as e:
                raise AssertionError("%s: %r" % (extension, e))
    except Exception as e:
        failed.append("%s: %s" % (name, ascii(str(e))[:300]))

count = 0
for place in sorted(places) + [b"file"]:
    for what, nasty in NASTY.items():
        for recorded in (False, True):
            if recorded != ((b"%%(%s)s" % place) in SIGNATURE + RECORD):
                continue
            names = {p: p.replace(b" ", b"_") for p in places}
            if place in names:
                names[place] = nasty
            names[b"record"] = RECORD % names if recorded else b""
            names[b"signature"] = SIGNATURE % names if recorded else b""
            own = nasty.decode("unicode_escape").encode("latin-1").replace(b"/", b"|")
            path = "m.txt" if place != b"file" else os.fsdecode(own) + ".txt"
            analyse((place.decode(), what), path, MODEL % names)
            count += 1
places = sorted({p for p, _ in shown})
failed += [] if len(places) > 12 else ["names are shown from too few places: %s" % places]
print("\n".join("FAILED: %s" % f for f in failed))
print("%d passed, %d failed" % (count + 1 - len(failed), len(failed)))
raise SystemExit(bool(failed))
EOF
status=$?

# Names that would be programs, where memlint writes a program to paste.
while read -r model word options; do
    sed "s/\([ (]\)$word\.weight\([ ),]\)/\1\"$word.weight\"\2/g; s/$word\([^ ,)]\)/$word\\\\\"];PWN();\1/g; /^#/d" \
        "$SOURCE/tests/$model" >m.txt
    # shellcheck disable=SC2086 # a list of options
    run m.txt --flags=none --recompute=auto --format=full $options
    ok "$model" [ "$code" = 0 ]
    ok "$model: the name is shown" grep -q PWN "$work/out"
    ok "$model: no program holds it: $(grep -m1 'PWN.*' "$work/out")" \
        [ "$(grep -cE '^[ |]*(del |model\.|logits =|for name in).*PWN' "$work/out")" = 0 ]
done <<'END'
cases/rules/unused.txt pooler --loss=sum
cases/rules/twins.txt source --loss=sum
cases/rules/tables.txt embed --dim=batch=16
gate/base.txt blocks --dim=batch=64
END
[ "$status" = 0 ] || failed=$((failed + 1))
finish
