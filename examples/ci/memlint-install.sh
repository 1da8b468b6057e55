#!/bin/bash
# Builds and installs memlint from the checkout that this file lies in. Debian or Ubuntu.
set -eu
cd "$(dirname "$0")/../.."
sudo apt-get update -q
sudo apt-get install -q -y autoconf automake gcc make pkg-config protobuf-c-compiler libprotobuf-c-dev libxml2-dev
autoreconf -i
./configure -q
make -s -j"$(nproc)"
sudo make -s install
