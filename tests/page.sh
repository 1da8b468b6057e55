#!/bin/bash
# The HTML page in a real browser, when Chromium is there: its own policy lets its style and script run, nothing is fetched,
# the script finds what it needs, and the page is never wider than the window.
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "no Chromium"
[ -z "${SANITIZED:-}" ] || skip "the page is the same under sanitizers"
"$MEMLINT" "$SOURCE/examples/tiny_gpt.onnx" --dim batch=8 -q -o "$work/r.html" || { ok "a report" false; finish; }

# browse WIDTH PAGE: the page after its script ran in $work/dom, the console in $work/console.
browse() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size="$1",1000 \
        --enable-logging=stderr --v=0 --virtual-time-budget=5000 --dump-dom "file://$2" >"$work/dom" 2>"$work/console"
}
browse 1280 "$work/r.html"
ok "the page loads" grep -q '</html>' "$work/dom"
ok "no complaint on the console" bash -c "! grep -E 'CONSOLE|Refused|Content Security' '$work/console'"
ok "the timeline's control is shown" bash -c "! grep -q 'id=\"scrub\" hidden' '$work/dom'"
ok "tables sort" grep -q '<th[^>]*data-sort[^>]*><button' "$work/dom"
ok "the filter is shown" bash -c "! grep -q 'id=\"tools\" hidden' '$work/dom'"

# A copy without the policy, so that a script of the test's may measure.
probe='<script>document.title = "width " + document.documentElement.scrollWidth + " of " + innerWidth;</script></body>'
sed -e 's/<meta http-equiv[^>]*>//' -e "s|</body>|$probe|" "$work/r.html" >"$work/probe.html"
for width in 500 1280 2000; do
    browse $width "$work/probe.html"
    read -r wide room < <(sed -n 's/.*<title>width \([0-9]*\) of \([0-9]*\)<.*/\1 \2/p' "$work/dom")
    ok "no sideways scrolling at $width: ${wide:-?} of ${room:-?}" [ "${wide:-9999}" -le "${room:-0}" ]
done
finish
