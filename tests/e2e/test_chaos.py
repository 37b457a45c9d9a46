#!/usr/bin/env python3
"""Faults against the real daemon, in their short form (`make chaos` is the long one): kill -9, power
cuts, full, broken and read-only disks, folders that go, descriptors, memory, clocks, damaged files."""
import os, pathlib, sys

sys.path.insert(0, os.path.dirname(__file__))
from daemon import SANITIZER, skip

if SANITIZER:
    skip('the faults are put in place of functions that a sanitizer replaces, too')
chaos = pathlib.Path(__file__).resolve().parent.parent / 'chaos/chaos.py'
os.execv(sys.executable, [sys.executable, '-B', str(chaos), '--quick'])
