#!/bin/bash
# Who may include what: the architecture, checked over #include lines and function names.
. "$(dirname "$0")/lib.sh"
cd "$SOURCE" || exit 1
sources=$(find src onnx reports -name '*.[ch]' ! -name '*pb-c*' ! -name assets.h)

only_in() { # only_in FOLDER PATTERN: no file elsewhere includes it
    local bad
    bad=$(grep -lE "#include [<\"]$2" $sources | grep -v "^$1" | tr '\n' ' ')
    ok "$2 outside of $1: $bad" [ -z "$bad" ]
}
only_in onnx/ '(protobuf-c|onnx\.pb-c|onnx/onnx\.pb-c)'
only_in reports/ 'libxml'
only_in src/cuda.c 'cuda'
only_in reports/ '(html|json|xml|assets)\.h'

# Reports look at a const result: they call no pass and write through emit.c alone.
for pass in graph_ shapes_ lower_ expand_ aten_ step_ live_ heap_ result_build onnx_ stored_ compare_ gate_ flags_ fleet_ sources_ libraries_ cuda_; do
    bad=$(grep -nE "\\b${pass}[a-z_]*\\(" reports/*.c | head -1)
    ok "a report calls a pass: $bad" [ -z "$bad" ]
done
bad=$(grep -nE '\b(fopen|creat|mkstemp)\(' reports/*.c | grep -v '^reports/emit.c' | head -1)
ok "a report opens a file: $bad" [ -z "$bad" ]

# Passes never print, and only util.c and main.c may give up.
bad=$(grep -nE '\b(printf|puts|putchar)\(|\bstderr\b' $sources | grep -vE '^src/(main|util)\.c' | head -1)
ok "a pass prints: $bad" [ -z "$bad" ]
bad=$(grep -nE '\bdie\(|\bexit\(' $sources | grep -vE '^src/(main|util|memlint)\.[ch]|^reports/emit.c.*atexit|^[^:]*:[0-9]*: ?(/\*|\*)' | head -1)
ok "exits: $bad" [ -z "$bad" ]
finish
