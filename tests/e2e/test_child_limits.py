#!/usr/bin/env python3
"""Uploads that break each limit of the indexing process: the upload is failed and says why, the
daemon goes on serving, and the next upload is indexed. (Descriptors and system calls, which no file
can spend or make, are in tests/unit/test_child_limits.c.)"""
import struct
import time
import zipfile

from daemon import Daemon, SANITIZER


def many_symbols(count):
    """A library of `count` functions that only its symbol table knows."""
    text = 0x4000
    names = b'\0' + b''.join(b'_function_number_%07d\0' % k for k in range(count))
    table = b''.join(struct.pack('<IBBHQ', 1 + k * 25, 0x0f, 1, 0, 0x100000000 + text + k * 16)
                     for k in range(count))
    at, end = 0x1000, (text + count * 16 + 0x3fff) & ~0x3fff
    linkedit = len(table) + len(names)
    head = struct.pack('<8I', 0xfeedfacf, 0x0100000c, 0, 6, 4, 24 + 24 + 152 + 72, 0, 0)
    head += struct.pack('<2I', 0x1b, 24) + struct.pack('<QQ', count, 0x1234)
    head += struct.pack('<6I', 2, 24, at, count, at + len(table), len(names))
    head += struct.pack('<2I16s4Q4I', 0x19, 152, b'__TEXT', 0x100000000, end, 0, 0, 5, 5, 1, 0)
    head += struct.pack('<16s16s2Q8I', b'__text', b'__TEXT', 0x100000000 + text, count * 16, 0, 2,
                        0, 0, 0x80000400, 0, 0, 0)
    head += struct.pack('<2I16s4Q4I', 0x19, 72, b'__LINKEDIT', 0x200000000, linkedit, at, linkedit,
                        1, 1, 0, 0)
    return head.ljust(at, b'\0') + table + names


LARGE = many_symbols(2000000)
HUGE = many_symbols(6000000)
SMALL = many_symbols(100)
CASES = [  # setting, upload, words of the reason
    ('CHILD_DATA_BYTES', '48M', LARGE, ('memory',)),
    ('CHILD_CPU_S', '1', HUGE, ('CPU', 'processor')),
    ('CHILD_FILE_BYTES', '1M', LARGE, ('large', 'file size', 'too big')),
    ('CHILD_WALL_S', '1', HUGE, ('time', 'seconds', 'long')),
]

if SANITIZER: # it has address space by the terabyte
    print('skipped: %s, with a sanitizer' % CASES.pop(0)[0])

for key, value, body, words in CASES:
    with Daemon(env={'STALLSYM_SYMBOLS_' + key: value, 'STALLSYM_SYMBOLS_CHILD_THREADS': '1'}) as d:
        answer = d.upload(body)
        assert answer.status == 422, (key, answer)
        told = answer.json
        said = ' '.join(str(t) for t in [told['detail']] + [s['reason'] for s in told['slices']])
        assert told['state'] == 'failed' and any(w in said for w in words), (key, told)
        assert d.get('/v1/symbols/uploads/%d' % told['upload_id'])['state'] == 'failed', key
        assert d.get('/readyz') and d.upload(SMALL).status == 200, key
        assert [s['functions'] for s in d.get('/v1/symbols')['items']] == [100], key
        leftovers = [p for p in (d.folder / 'data').rglob('*.tmp*')]
        assert not leftovers, (key, leftovers)
        print('ok: %s = %s: %s' % (key.lower(), value, said))

# An archive that inflates beyond what one may: stopped while it is read, not when it is full.
with Daemon() as d:
    path = d.folder / 'bomb.zip'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as z, \
            z.open('App.dSYM/Contents/Resources/DWARF/App', 'w') as member:
        member.write(SMALL)
        for _ in range(600):
            member.write(bytes(1 << 20))
    began = time.monotonic()
    answer = d.upload(path)
    took = time.monotonic() - began
    assert answer.status == 422, answer
    assert d.get('/readyz') and d.upload(SMALL).status == 200
    print('ok: bomb: %s (%.1f s)' % (answer.json['detail'], took))
