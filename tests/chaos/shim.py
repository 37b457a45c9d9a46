"""Hands of fault_shim.c: a daemon under it, and what goes wrong in it by assignment.

    with FaultyDaemon() as d:
        d.faults.set(sync_errno=errno.EIO, path='stallsym.db-wal'); ...; d.faults.clear()
"""
import mmap, os, pathlib, struct, sys
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / 'e2e'))
from daemon import Daemon

SHIM = pathlib.Path(os.environ.get('BUILD', 'build')).resolve() / 'fault_shim.so'
# name: (offset, format); the layout is that of `struct faults`.
FIELDS = {'write_errno': (0, 'i'), 'sync_errno': (4, 'i'), 'read_errno': (8, 'i'),
          'open_errno': (12, 'i'), 'clock_ms': (16, 'q'), 'memory_at': (24, 'q'),
          'memory_times': (32, 'q'), 'allocations': (40, 'q'), 'hits': (48, 'q'),
          'path': (56, '64s'), 'thread': (120, '16s'), 'sync_ms': (136, 'i'),
          'write_part': (140, 'i'), 'watch_log': (144, 'i'), 'write_room': (152, 'q'),
          'log_written': (160, 'q'), 'log_synced': (168, 'q')}
SIZE = 176


class Faults:
    def __init__(self, path):
        path.write_bytes(bytes(SIZE))
        with open(path, 'r+b') as file:
            self.map = mmap.mmap(file.fileno(), SIZE)

    def get(self, name):
        at, form = FIELDS[name]
        return struct.unpack_from(form, self.map, at)[0]

    def set(self, **fields):
        """Which files and threads first, then what happens to them."""
        for name in sorted(fields, key=lambda n: n not in ('path', 'thread', 'memory_times', 'write_room')):
            at, form = FIELDS[name]
            value = fields[name]
            struct.pack_into(form, self.map, at, value.encode() if isinstance(value, str) else value)

    def clear(self):
        """All but the clock."""
        self.set(write_errno=0, sync_errno=0, read_errno=0, open_errno=0, memory_at=0, sync_ms=0,
                 write_part=0, write_room=0)
        self.set(path='', thread='')


class FaultyDaemon(Daemon):
    def __init__(self, folder=None, env=None):
        super().__init__(folder, env)
        self.folder.mkdir(exist_ok=True)
        control = self.folder / 'faults'
        self.faults = Faults(control)
        self.env.update({'LD_PRELOAD': str(SHIM), 'STALLSYM_FAULTS': str(control)})
