#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py FOLDER PROGRAM OUT: packs FOLDER/memlint and the program as a wheel in OUT, the same bytes each time.

The platform tag names the newest symbol version of the C library that the program asks for.
Format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import base64, hashlib, os, re, subprocess, sys, zipfile

METADATA = """Metadata-Version: 2.1
Name: memlint
Version: {version}
Summary: How much GPU memory a training step of a PyTorch model takes, before anyone trains it
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: export
Requires-Dist: torch>=2.4; extra == "export"
Requires-Dist: onnx; extra == "export"
Description-Content-Type: text/markdown

{text}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: memlint\nRoot-Is-Purelib: false\nTag: {tag}\n"
ENTRY_POINTS = "[console_scripts]\nmemlint = memlint.__main__:main\n\n[pytest11]\nmemlint = memlint.testing\n"


def tag(program):
    said = subprocess.run(["readelf", "-VW", program], check=True, capture_output=True, text=True).stdout
    newest = max(tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", said))
    return "py3-none-manylinux_{}_{}_{}".format(*newest, os.uname().machine)


def main(folder, program, out):
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    info = f"memlint-{version}.dist-info/"
    text = open(os.path.join(folder, "README.md")).read()
    files = {
        "memlint/bin/memlint": open(program, "rb").read(),
        info + "METADATA": METADATA.format(version=version, text=text).encode(),
        info + "WHEEL": WHEEL.format(tag=tag(program)).encode(),
        info + "entry_points.txt": ENTRY_POINTS.encode(),
    }
    package = os.path.join(folder, "memlint")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name == "py.typed":
            files["memlint/" + name] = open(os.path.join(package, name), "rb").read()
    rows = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    files[info + "RECORD"] = "".join([*rows, info + "RECORD,,\n"]).encode()
    path = os.path.join(out, f"memlint-{version}-{tag(program)}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if name.endswith("/bin/memlint") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
