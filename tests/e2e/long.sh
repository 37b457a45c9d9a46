#!/bin/sh
# Unit tests with the inputs that are too many for `make check`: every one-byte change of every
# Swift name.
set -eu
make --no-print-directory BUILD="${BUILD##*/}" "${BUILD##*/}/unit/test_demangle_swift_hostile" >/dev/null
STALLSYM_LONG=1 "$BUILD/unit/test_demangle_swift_hostile"
