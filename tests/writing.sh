#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever keeps a report from being written: exit 4, the older report as it was, and no litter.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
model=$SOURCE/examples/tiny_gpt.onnx
formats=$("$MEMLINT" --list=formats | sed 's/.*(\(.*\))$/\1/')
all=()
mkdir reports
for extension in $formats; do
    all+=(-o "reports/r$extension")
done
older() { # older FOLDER: reports of an earlier run
    for extension in $formats; do
        echo older >"$1/r$extension"
    done
}
same() { # same FOLDER: they are there, and nothing else
    for extension in $formats; do
        [ "$(cat "$1/r$extension")" = older ] || return 1
    done
    [ "$(find "$1" -mindepth 1 | wc -l)" = "$(wc -w <<<"$formats")" ]
}
failed_clean() { # failed_clean NAME: what came before ended as it must
    ok "$1: exit 4, not $code" [ "$code" = 4 ]
    ok "$1: the older reports stay, without litter" same reports
    ok "$1: says what is wrong" grep -q '^memlint: ' err
    ok "$1: and nobody else speaks: $(grep -v '^memlint: ' err | head -1)" [ "$(grep -vc '^memlint: ' err)" = 0 ]
}

older reports
(ulimit -f 0 && exec "$MEMLINT" "$model" -q "${all[@]}") 2>err
code=$?
# with a limit of 0 not even standard error can be a file
ok "no file may grow: exit 4, not $code" [ "$code" = 4 ]
ok "no file may grow: the older reports stay, without litter" same reports
(ulimit -f 1 && exec "$MEMLINT" "$model" -q -o reports/r.html -o reports/r.json) 2> >(cat >err)
code=$?
wait
failed_clean "files of a kilobyte"

# Folders that take no file, for root too.
for place in /proc/r.html "$work/err/r.html" "$work/none/r.html" "$work/$(printf '%0300d' 0).html"; do
    "$MEMLINT" "$model" -q -o "$place" 2>err
    code=$?
    failed_clean "$(cut -c1-60 <<<"$place")"
done
if [ "$(id -u)" != 0 ]; then
    chmod 555 reports
    "$MEMLINT" "$model" -q "${all[@]}" 2>err
    code=$?
    chmod 755 reports
    failed_clean "a folder that can't be written"
fi

# A small disk.
mkdir small
if mount -t tmpfs -o size=64k memlint small 2>/dev/null; then
    trap 'umount "$work/small"; rm -rf "$work"' EXIT
    older small
    head -c 1M /dev/zero >small/full 2>/dev/null
    "$MEMLINT" "$model" -q "${all[@]/#reports/small}" 2>err
    code=$?
    rm small/full
    ok "a full disk: exit 4, not $code" [ "$code" = 4 ]
    ok "a full disk: the older reports stay, without litter" same small
    "$MEMLINT" "$model" -q -o small/r.html 2>err
    ok "a disk smaller than the report: exit 4" [ $? = 4 ]
    ok "a disk smaller than the report: the older one stays" same small
    rm small/*
    "$MEMLINT" "$SOURCE/tests/gate/base.txt" -q -o small/r.jsonl --resume 2>err
    head -c 1M /dev/zero >small/full 2>/dev/null
    "$MEMLINT" "$model" -q -o small/r.jsonl --resume 2>err
    ok "a log on a full disk: exit 4" [ $? = 4 ]
    ok "a log on a full disk: one whole line" [ "$(wc -l <small/r.jsonl) $(tail -c 2 small/r.jsonl)" = "1 }" ]
else
    echo "skipped: no tmpfs can be mounted"
fi

# Standard output.
"$MEMLINT" "$model" >/dev/full 2>err
code=$?
failed_clean "a full device"
ln -s /dev/full full.html
"$MEMLINT" "$model" -q -o full.html 2>err
code=$?
failed_clean "a report to a full device"
"$MEMLINT" "$model" "${all[@]}" >&- 2>err </dev/null
ok "closed standard output: exit 4" [ $? = 4 ]
ok "closed standard output: no report is mixed up with it" grep -q '</html>' reports/r.html
older reports
{
    "$MEMLINT" "$model" --format=json 2>err
    echo $? >code
} | :
code=$(cat code)
failed_clean "a closed pipe"

# Signals, while it waits for a reader of the first report.
mkfifo waiting.md
for signal in INT TERM HUP; do
    env --default-signal=$signal "$MEMLINT" "$model" -q -o waiting.md "${all[@]}" 2>err &
    child=$!
    for _ in $(seq 200); do
        grep -q fifo_open "/proc/$child/wchan" 2>/dev/null && break
        grep -qs 'wait_for_partner\|fifo' "/proc/$child/stack" && break
        [ "$(ps -o comm= -p $child)" = memlint ] && [ "$(ps -o stat= -p $child | cut -c1)" = S ] && break
        sleep 0.05
    done
    kill -$signal $child
    wait $child
    code=$?
    failed_clean "SIG$signal"
done

# A kill, at any time: nothing but whole reports.
mkdir killed
many=()
for i in $(seq 60); do
    many+=(-o "killed/$i.html")
done
for i in $(seq 20); do
    "$MEMLINT" "$model" -q --dim batch=2 "${many[@]}" 2>err &
    child=$!
    for _ in $(seq 500); do
        [ -e killed/$((i * 2)).html ] && break
        sleep 0.01
    done
    kill -KILL $child
    wait $child 2>/dev/null
done
ok "a kill leaves no litter: $(find killed -name '.*' -type f | head -1)" [ -z "$(find killed -name '.*' -type f)" ]
for report in killed/*.html; do
    grep -q '</html>' "$report" || ok "a kill left a part of $report" false
done

# No output is an input, whatever links lead to it: exit 2, one line that names both, and nothing is written.
mkdir inputs inputs/sub
cp "$SOURCE/tests/gate/base.txt" inputs/a.txt
cp "$SOURCE/tests/gate/wider.txt" inputs/b.txt
cp "$model" inputs/in.json
"$MEMLINT" inputs/a.txt -q --dim batch=2 --flags=none -o inputs/old.json
ln inputs/a.txt inputs/hard.txt
ln -s ../a.txt inputs/sub/soft.txt
printf 'a.txt\nb.txt\n' >inputs/list.jsonl
echo 'CUDA out of memory. Tried to allocate 2.00 GiB.' >inputs/oom.txt
printf -- '--dim batch=2\n' >inputs/flags.txt
before=$(cd inputs && cat * 2>/dev/null | cksum && ls -R)
while IFS='|' read -r input arguments; do
    # shellcheck disable=SC2086 # words
    (cd inputs && "$MEMLINT" --dim batch=2 -q $arguments) 2>err
    code=$?
    ok "exit 2, not $code: $arguments" [ $code = 2 ]
    ok "names both: $arguments: $(cat err)" grep -q "would overwrite the $input" err
    ok "as it was: $arguments" [ "$(cd inputs && cat * 2>/dev/null | cksum && ls -R)" = "$before" ]
done <<'END'
model a.txt|a.txt b.txt -o %.txt
model b.txt|sub/soft.txt b.txt -o %.txt
model a.txt|a.txt -o a.txt
model ./in.json|./in.json -o r.html -o ../inputs/in.json
model in.json|in.json --baseline=in.json --update-baseline
model a.txt|a.txt -o hard.txt
model a.txt|a.txt -o sub/soft.txt
baseline old.json|b.txt --baseline=old.json -o old.json
baseline old.json|b.txt --baseline=old.json --update-baseline -o old.json
list list.jsonl|--files-from=list.jsonl -o list.jsonl
message oom.txt|a.txt --explain-oom=oom.txt -o oom.txt
flag file flags.txt|a.txt --flags=flags.txt -o flags.txt
END
"$MEMLINT" inputs/b.txt -q --dim batch=2 --flags=none --baseline=inputs/old.json --update-baseline 2>err
ok "--update-baseline may write what it reads: $(cat err)" [ ! -s err ]

# What can be written is: a link stays a link, the mode stays.
older reports
chmod 640 reports/r.html
mv reports/r.html target.html
ln -s ../target.html reports/r.html
"$MEMLINT" "$model" -q -o reports/r.html 2>err
ok "writes through a link" [ -L reports/r.html ]
ok "keeps the mode" [ "$(stat -c %a target.html)" = 640 ]
ok "a whole page" grep -q '</html>' target.html
finish
