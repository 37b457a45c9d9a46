#!/usr/bin/env python3
"""The program as it was linked: position-independent, RELRO, no executable stack, stack protector,
fortified calls, control-flow protection; and the systemd unit keeps its sandbox."""
import os, pathlib, platform, re, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(__file__))
from daemon import PROGRAM, skip

SANDBOX = {'NoNewPrivileges': 'yes', 'ProtectSystem': 'strict', 'ProtectHome': 'yes', 'PrivateTmp': 'yes',
           'PrivateDevices': 'yes', 'PrivateUsers': 'yes', 'MemoryDenyWriteExecute': 'yes', 'CapabilityBoundingSet': '',
           'AmbientCapabilities': '', 'RestrictNamespaces': 'yes', 'LockPersonality': 'yes',
           'SystemCallFilter': '@system-service', 'SystemCallArchitectures': 'native', 'DynamicUser': 'yes'}


def readelf(*options):
    return subprocess.run(['readelf', '-W', *options, PROGRAM], check=True, capture_output=True, text=True).stdout


def program():
    head, segments, dynamic = readelf('-h'), readelf('-l'), readelf('-d')
    assert re.search(r'Type:\s+DYN', head), head
    assert 'PIE' in dynamic, dynamic
    assert 'GNU_RELRO' in segments and ('BIND_NOW' in dynamic or re.search(r'FLAGS_1.*NOW', dynamic)), dynamic
    stack = next(line for line in segments.splitlines() if 'GNU_STACK' in line)
    assert 'RWE' not in stack, stack
    assert not [line for line in segments.splitlines() if re.search(r'LOAD.*RWE', line)], segments
    for word in ('RPATH', 'RUNPATH', 'TEXTREL'):
        assert word not in dynamic, dynamic
    if 'san' in os.environ.get('BUILD', ''):
        return
    symbols = readelf('--dyn-syms')
    assert '__stack_chk_fail' in symbols, 'no stack protector'
    assert len(set(re.findall(r'__\w+_chk\b', symbols))) > 5, 'no fortified calls'
    build = open('Makefile').read()
    for flag in ('-fstack-protector-strong', '-fstack-clash-protection', '-fcf-protection', '-D_FORTIFY_SOURCE=2'):
        assert flag in build, flag
    if platform.machine() == 'x86_64':
        # The linker keeps the mark only when every object has it; ours begin functions with endbr64.
        code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', PROGRAM], capture_output=True, text=True).stdout
        assert code.count('endbr64') > 1000, code.count('endbr64')


def unit():
    settings = {}
    for line in pathlib.Path('conf/stallsymd.service').read_text().splitlines():
        key, equals, value = line.partition('=')
        if equals and not line.startswith('#'):
            settings[key] = value
    for key, value in SANDBOX.items():
        assert settings.get(key) == value, (key, settings.get(key))
    if shutil.which('systemd-analyze'):
        done = subprocess.run(['systemd-analyze', 'security', '--offline=true', '--threshold=20', '--no-pager',
                               'conf/stallsymd.service'], capture_output=True, text=True)
        if 'unrecognized option' not in done.stderr:
            assert done.returncode == 0, (done.stdout[-400:], done.stderr[-400:])


if not shutil.which('readelf') or not shutil.which('objdump'):
    skip('no readelf or objdump')
program()
unit()
