#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds memlint from the checkout that this file lies in and installs it below $MEMLINT_PREFIX (default /usr/local),
# unless it is there already. memlint-install.sh --key prints a name for a cache, which changes with the source.
# Debian or Ubuntu.
set -eu
cd "$(dirname "$0")/../.."
if [ "${1:-}" = --key ]; then
    echo "memlint-$(uname -m)-$(. /etc/os-release &&
        echo "$ID$VERSION_ID")-$(find configure.ac Makefile.am onnx reports src -type f -name '[!.]*' |
        LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16)"
    exit
fi
prefix=${MEMLINT_PREFIX:-/usr/local}
sudo=sudo
[ "$(id -u)" != 0 ] || sudo=
built=$prefix/bin/memlint
$sudo apt-get update -q
if [ -x "$built" ]; then # the cache has the program, not the libraries
    "$built" --version >/dev/null 2>&1 || $sudo apt-get install -q -y libprotobuf-c-dev libxml2-dev
    "$built" --version && exit
fi
$sudo apt-get install -q -y autoconf automake gcc make pkg-config protobuf-c-compiler libprotobuf-c-dev libxml2-dev
autoreconf -i
./configure -q --prefix="$prefix"
make -s -j"$(nproc)"
mkdir -p "$prefix" 2>/dev/null || true
[ ! -w "$prefix" ] || sudo=
$sudo make -s install
