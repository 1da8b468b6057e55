#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include what: the rooms and their floors, checked over #include lines, function names and, where there is nm,
# symbols.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1
sources=$(find src onnx reports -name '*.[ch]' ! -name '*pb-c*' ! -name assets.h)

# The floors from below: a room includes its own headers and those below it.
floors='base graph onnx program torch lower device result advice reports cli'

room() { # room PATH: of a file, or of a header as it is included
    case $1 in
    src/*) set -- "${1#src/}" ;;
    esac
    echo "${1%%/*}"
}
floor() { # floor ROOM: its number, from 1; nothing for what is no room
    local n=1 f
    for f in $floors; do
        [ "$f" = "$1" ] && echo "$n" && return
        n=$((n + 1))
    done
}
for file in $sources; do
    own=$(floor "$(room "$file")")
    ok "$file is in no room" [ -n "$own" ]
    for header in $(grep -ohE '#include "[a-z]+/[a-z_]+\.h"' "$file" | sed 's/.*"\(.*\)"/\1/'); do
        below=$(floor "$(room "$header")")
        ok "$file includes $header, which is above it" [ "${below:-99}" -le "$own" ]
    done
done

# The same of what is called: no object needs a symbol of a higher floor. Each line: object, D or U, symbol.
objects=$(cd "$(dirname "$MEMLINT")" && find src onnx reports -name '*.o' ! -name '*pb-c*' 2>/dev/null)
if command -v nm >/dev/null && [ -n "$objects" ]; then
    (cd "$(dirname "$MEMLINT")" && for o in $objects; do nm "$o" |
        awk -v o="$o" 'NF == 3 && $2 ~ /[TDRBV]/ {print o, "D", $3} NF == 2 && $1 == "U" {print o, "U", $2}'; done) \
        >"$work/symbols"
    up=$(awk -v floors="$floors" '
        BEGIN { n = split(floors, f, " "); for (i = 1; i <= n; i++) at[f[i]] = i }
        function room(o) { sub(/^src\//, "", o); sub(/\/.*/, "", o); return o }
        NR == FNR { if ($2 == "D") by[$3] = $1; next }
        $2 == "U" && ($3 in by) && at[room(by[$3])] > at[room($1)] { print $1 " needs " $3 " of " by[$3] }' \
            "$work/symbols" "$work/symbols" | head -3)
    ok "a room needs what lies above it: $up" [ -z "$up" ]
fi

# No circle of files: of two, one never calls the other, by however many steps. What counts is what the code of a file
# names, not its data: a table's rows name the functions of files that read the table (docs/ARCHITECTURE.md, A circle of
# files).
if command -v readelf >/dev/null && [ -s "$work/symbols" ]; then
    needs() { # needs SECTION: lines of two files, the second of which the first one's relocations of such sections name
        (cd "$(dirname "$MEMLINT")" && for o in $objects; do readelf -rW "$o" | awk -v o="$o" -v section="$1" '
            /^Relocation section/ { counts = $3 ~ section }
            counts && NF > 4 { print o, "U", $5 }'; done) |
            awk 'NR == FNR { if ($2 == "D") by[$3] = $1; next } ($3 in by) && by[$3] != $1 { print $1, by[$3] }' \
            "$work/symbols" - | sort -u
    }
    needs '[.]text' >"$work/calls"
    circle=$(tsort "$work/calls" 2>&1 >/dev/null | sed 's/^tsort: //' | tr '\n' ' ')
    ok "a circle of files: $circle" [ -z "$circle" ]
    needs '[.](text|data)' >"$work/with-rows"
    ok "this check finds no circle" [ -n "$(tsort "$work/with-rows" 2>&1 >/dev/null)" ]
fi

bad=$(grep -L SPDX-License-Identifier $sources tests/*.sh tests/*.c tests/unit/*.[ch] | head -1)
ok "no licence line: $bad" [ -z "$bad" ]

# 120 columns: of C clang-format sees to the code, this to comments, to programs and to the prose that people write.
# Tables and examples in prose are as wide as they are. tests/oracle/programs.py is yet to follow.
wide() { # wide FILE...: lines that are too long
    LC_ALL=C.UTF-8 grep -nHE '^.{121}' "$@" | head -1
}
# shellcheck disable=SC2086 # a list of files
bad=$(wide $sources tests/*.c tests/unit/*.[ch] tests/fuzz/*.[ch])
ok "more than 120 columns: $bad" [ -z "$bad" ]
bad=$(wide check try .ci/* tests/*.sh tests/*.py tests/oracle/*.py examples/*.py examples/ci/*.sh \
    packaging/python/*/*.py)
ok "more than 120 columns: $bad" [ -z "$bad" ]
for page in README.md CONTRIBUTING.md NEWS.md \
    docs/{ARCHITECTURE,FILES,FLEET,GLOSSARY,HACKING,REPLAY,RULES,SECURITY,STEPS,TUTORIAL}.md; do
    grep -vE '^(\||    |!\[)' "$page" >"$work/prose"
    bad=$(wide "$work/prose")
    ok "more than 120 columns: $page: $bad" [ -z "$bad" ]
done

only_in() { # only_in FOLDER PATTERN: no file elsewhere includes it
    local bad
    bad=$(grep -lE "#include [<\"]$2" $sources | grep -v "^$1" | tr '\n' ' ')
    ok "$2 outside of $1: $bad" [ -z "$bad" ]
}
only_in onnx/ '(protobuf-c|onnx\.pb-c|onnx/onnx\.pb-c)'
only_in reports/ 'libxml'
only_in src/device/cuda.c 'cuda'
only_in reports/ '(html|json|xml|assets)\.h'
only_in src/graph/ 'graph/infer\.h'
only_in src/program/ 'program/(syntax|stack)\.h'
only_in src/torch/ 'torch/run\.h'
only_in src/lower/ 'lower/(lowering|dynamo|matcher)\.h'
only_in src/advice/ 'advice/edit\.h'

# No operator, module or rule is told by its name in a body: its row in a table has a column for what a body asks. In a
# file that may, the bodies are the table:
#   patterns.c   a pattern is a drawing of nodes by name, and its matcher is the drawing
by_name='src/lower/patterns.c'
{
    "$MEMLINT" --list=ops | cut -f2
    "$MEMLINT" --list=aten | cut -f1
    "$MEMLINT" --list=rules | cut -f1
} >"$work/names"
compared() { # compared FILE...: file and literal of each name that an expression compares
    awk -v names="$work/names" '
        BEGIN {
            RS = "\n"
            while ((getline name <names) > 0) {
                known[name]
                sub(/\..*/, ".", name)
                known[name]
            }
            RS = "[;{}]"
        }
        { # what stands between the brackets of a comparison
            compares = "(cmp|strstr|_with|has_stem|glob_match|does|spelled|[^a-z_]is(_[a-z]+)?|only_maker)[(]"
            for (all = $0; match(all, compares);) {
                rest = all = substr(all, RSTART + RLENGTH)
                for (n = depth = 1; depth && n <= length(rest); n++)
                    depth += substr(rest, n, 1) == "(" ? 1 : substr(rest, n, 1) == ")" ? -1 : 0
                rest = substr(rest, 1, n - 1)
                while (match(rest, /"[^"]*"/)) {
                    text = name = substr(rest, RSTART + 1, RLENGTH - 2)
                    rest = substr(rest, RSTART + RLENGTH)
                    sub(/^(aten|prims)\./, "", name)
                    if (name in known || (name != "" && text != name) ||
                        text ~ /^(torch\.nn|torchvision|transformers)\./)
                        print FILENAME ": " text
                }
            }
        }' "$@"
}
compared src/{graph,lower,program,advice}/*.c >"$work/compared"
bad=$(grep -v "^$by_name: " "$work/compared" | head -1)
ok "a name is compared outside of a table: $bad" [ -z "$bad" ]
ok "this check finds nothing" grep -q "^$by_name: " "$work/compared"

# Reports look at a const result: they call no pass and write through emit.c alone.
for pass in graph_ shapes_ lower_ expand_ aten_ step_ live_ heap_ result_build onnx_ stored_ compare_ gate_ flags_ \
    fleet_ sources_ libraries_ cuda_ rules_ fits_run; do
    bad=$(grep -nE "\\b${pass}[a-z_]*\\(" reports/*.c | head -1)
    ok "a report calls a pass: $bad" [ -z "$bad" ]
done
bad=$(grep -nE '\b(fopen|creat|mkstemp)\(' reports/*.c | grep -v '^reports/emit.c' | head -1)
ok "a report opens a file: $bad" [ -z "$bad" ]

# Passes never print, and only util.c and main.c may give up.
bad=$(grep -nE '\b(printf|puts|putchar)\(|\bstderr\b' $sources | grep -vE '^src/(cli/main|base/util)\.c' | head -1)
ok "a pass prints: $bad" [ -z "$bad" ]
bad=$(grep -nE '\bdie\(|\bexit\(' $sources |
    grep -vE '^src/(cli/main\.c|base/(util\.c|base\.h))|^reports/emit.c.*atexit|^[^:]*:[0-9]*: ?(/\*|\*)' | head -1)
ok "exits: $bad" [ -z "$bad" ]
finish
