#!/usr/bin/env python3
"""The faults of `make chaos`, each for a moment.

Covers: tests/chaos/*.py server/jobs/*.c storage/sqlite_*.c base/steady_wall.c"""
import os, pathlib, sys
from daemon import skip

if 'asan' in os.environ.get('BUILD', '') or 'tsan' in os.environ.get('BUILD', ''):
    skip('a sanitizer and the shim of faults each want malloc for themselves')
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'chaos'))
import chaos

status = chaos.main([], quick=True)
sys.stdout.flush()
os._exit(status)
