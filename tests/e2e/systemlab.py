"""System libraries made on the spot, as Xcode's DeviceSupport folders have them: dylibs out of a
shared cache, without DWARF, with a symbol table or only with LC_FUNCTION_STARTS."""
import struct, uuid

CACHE_BASE = 0x180000000
TEXT_SIZE = 0x8000  # of one library's __TEXT; its code begins at +0x1000
STEP = 0x100        # from one function to the next


def uleb(value):
    out = bytearray()
    while True:
        byte = value & 0x7f
        value >>= 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def dylib(path, vmaddr, identity, names, unnamed=0, pad=0):
    """Bytes of a 64-bit arm64e library: functions `names` at STEP, `unnamed` ones behind them."""
    total = len(names) + unnamed
    starts = uleb(0x1000) + uleb(STEP) * (total - 1) + b'\0' if total else b'\0'
    starts += b'\0' * (-len(starts) % 8)
    strings, entries = b'\0', b''
    for i, name in enumerate(names):
        entries += struct.pack('<IBBHQ', len(strings), 0x0f, 1, 0, vmaddr + 0x1000 + i * STEP)
        strings += name.encode() + b'\0'
    name = path.encode() + b'\0'
    name += b'\0' * (-len(name) % 8)
    data_at = 0x1000
    commands = struct.pack('<II16sQQQQiiII', 0x19, 152, b'__TEXT', vmaddr, TEXT_SIZE, 0, TEXT_SIZE,
                           5, 5, 1, 0)
    commands += struct.pack('<16s16sQQ8I', b'__text', b'__TEXT', vmaddr + 0x1000, total * STEP,
                            0x1000, 2, 0, 0, 0x80000400, 0, 0, 0)
    commands += struct.pack('<II16s', 0x1b, 24, identity.bytes)
    commands += struct.pack('<IIIIII', 0xd, 24 + len(name), 24, 2, 0x10000, 0x10000) + name
    commands += struct.pack('<IIII', 0x26, 16, data_at, len(starts))
    count = 4
    if names:
        at = data_at + len(starts)
        commands += struct.pack('<6I', 2, 24, at, len(names), at + len(entries), len(strings))
        count += 1
    head = struct.pack('<8I', 0xfeedfacf, 0x0100000c, 0x80000002, 6, count, len(commands), 0x85, 0)
    body = head + commands
    return body + b'\0' * (data_at - len(body)) + starts + entries + strings + b'\0' * pad


class Library:
    def __init__(self, number, functions=8, named=True):
        self.number = number
        self.name = 'Kit%d' % number
        self.vmaddr = CACHE_BASE + number * TEXT_SIZE
        self.uuid = uuid.uuid5(uuid.NAMESPACE_URL, 'kit%d' % number)
        self.path = '/System/Library/Frameworks/%s.framework/%s' % (self.name, self.name)
        self.functions = ['_%sOpen%d' % (self.name, i) for i in range(functions)] if named else []
        self.unnamed = 0 if named else functions

    @property
    def id(self):
        return str(self.uuid).upper()

    def bytes(self):
        return dylib(self.path, self.vmaddr, self.uuid, self.functions, self.unnamed)

    def member(self, root):
        return root + '/Symbols' + self.path
