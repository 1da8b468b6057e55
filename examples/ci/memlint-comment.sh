#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts a report under a pull request: once, and then updates that comment.  memlint-comment.sh REPORT.md MODEL
#
# GITHUB_REPOSITORY and MEMLINT_PULL (the pull request's number) say where; gh (or what GH names) does it, with
# GH_TOKEN. A comment that can't be written, as with the read-only token of a fork, fails nothing: the job summary has
# it, too.
set -u
gh=${GH:-gh} mark="<!-- memlint: $(tr -s '\n\r ' ' ' <<<"${2//-->/}")-->"
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{ echo "$mark"; cat "$1"; } >"$body"
comments="repos/$GITHUB_REPOSITORY/issues/$MEMLINT_PULL/comments"
id=$("$gh" api "$comments" --paginate --jq '.[] | [.id, (.body | split("\n")[0])] | @tsv' 2>/dev/null |
    awk -F'\t' -v mark="$mark" '$2 == mark {print $1; exit}')
if [ -n "$id" ]; then
    "$gh" api "repos/$GITHUB_REPOSITORY/issues/comments/$id" --method PATCH -F body=@"$body" >/dev/null
else
    "$gh" api "$comments" --method POST -F body=@"$body" >/dev/null
fi || echo "::notice::memlint's comment could not be written; the report is in the job's summary"
exit 0
