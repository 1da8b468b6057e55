#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER SECONDS COMPILER: the fuzz targets in FOLDER/build under libFuzzer, or AFL++ when the compiler is AFL's, for
# SECONDS each. What they learn is kept in FOLDER/TARGET, and begins with tests/fuzz/corpus; what they find lies in
# FOLDER/found-TARGET. Exit 1 when something was found.
set -eu
folder=$1 seconds=$2 compiler=$3
SOURCE=${SOURCE:-$PWD}
programs=$folder/build
found=0

# quoted FILE...: the words that stand alone between quotes in source files, of globs what they match.
quoted() {
    grep -oh '"[A-Za-z_*][A-Za-z_0-9.*]*(\?"' "$@" | tr -d '"*' | sort -u
}

# Words of models: operators, element types, and the attributes and metadata that the source names. Words of stored results.
{
    "$programs/memlint" --list=ops | cut -f1 | tr ' .:' '\n\n\n'
    quoted "$SOURCE"/src/*/*.c "$SOURCE"/onnx/*.c
} | grep -xE '[A-Za-z_.][A-Za-z_0-9.(]{1,60}' | sort -u | sed 's/.*/"&"/' >"$folder/words"
quoted "$SOURCE"/src/result/*.c | sed 's/.*/"\\"&\\""/' >"$folder/keys"

for target in bytes text pipeline stored; do
    mkdir -p "$folder/$target" "$folder/found-$target"
    cp -n "$SOURCE/tests/fuzz/corpus/$target"/* "$folder/$target"
    words=$folder/words
    [ "$target" != stored ] || words=$folder/keys
    case $compiler in
    *afl*)
        AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 nice -n 19 afl-fuzz -V "$seconds" -m none \
            -i "$folder/$target" -o "$folder/found-$target" -- "$programs/tests/fuzz/$target" >"$folder/$target.log" 2>&1 || true
        grep -E 'execs_done|saved_crashes|saved_hangs|bitmap_cvg' "$folder/found-$target"/default/fuzzer_stats || true
        n=$(find "$folder/found-$target" -path '*/crashes/id*' | wc -l)
        ;;
    *) # ends at a fault: begin again until the time is spent
        begin=$SECONDS
        while left=$((seconds - SECONDS + begin)) && [ $left -gt 0 ]; do
            ASAN_OPTIONS=allocator_may_return_null=1 nice -n 19 "$programs/tests/fuzz/$target" "$folder/$target" \
                -max_total_time=$left -max_len=12288 -timeout=10 -rss_limit_mb=2500 -dict="$words" -reload=0 \
                -print_final_stats=1 -artifact_prefix="$folder/found-$target/" >>"$folder/$target.log" 2>&1 || true
        done
        n=$(find "$folder/found-$target" -type f | wc -l)
        grep -a ' cov: ' "$folder/$target.log" | tail -1
        ;;
    esac
    echo "$target: $n found, in $folder/found-$target"
    found=$((found + n))
done
[ $found = 0 ]
