#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What ./check says: which suites ran no test, from the logs that they leave, and what it installs first.
. "$(dirname "$0")/lib.sh"
[ -e "$SOURCE/.ci/setup" ] || skip "no .ci/setup"
. "$SOURCE/.ci/setup"
cd "$work" || exit 1
echo '12 passed, 0 failed' >cli.log
echo 'skipped: no packs at ../shared' >packs.log
printf 'skipped: the browser: no Chromium\n20 passed, 0 failed\n' >page.log
: >driver.log
echo '0 passed, 0 failed' >events.log
echo '               tests     74     74     74      0        0' >unit.log
ok "what was left out, and why" diff <(left_out gcc ./*.log) - <<'END'
gcc: driver: no test
gcc: events: no test
gcc: packs: no packs at ../shared
gcc: page: the browser: no Chromium
END
ok "the browser's tools need python3-venv" grep -q 'lib.venv:python3-venv' <<<"$wants_page"
ok "a want that is there" there bash
ok "and one that is not" bash -c '. "$1"; ! there no-such-program' - "$SOURCE/.ci/setup"
finish
