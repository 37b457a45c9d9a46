/*
 * gsym_format - the index file: GSYM version 1 (LLVM), and what we put behind it.
 *
 * Purpose: constants and layout shared by gsym_write and gsym_read. One file per slice, little
 * endian. LLVM's own tools read it: bytes after the string table are ignored by them.
 *
 *   header (48 bytes)      magic "GSYM" (0x4753594d), version u16 = 1, address offset size u8
 *                          (1, 2, 4, 8), UUID size u8, base address u64, address count u32,
 *                          string table offset u32, string table size u32, UUID[20]
 *   address offsets        count x address offset size, ascending, aligned to their size
 *   address info offsets   count x u32, file offsets of the FunctionInfo records, aligned to 4
 *   file table             u32 count, then {u32 directory, u32 base name} string offsets;
 *                          file 0 is {0, 0}; aligned to 4
 *   FunctionInfo           size u32, name u32, then {type u32, length u32, payload}…: 1 line
 *                          table, 2 inline info, 0 end; aligned to 4
 *   string table           starts with a NUL; ours has names of functions that are not external
 *                          last
 *
 *   our blocks, aligned to 4, at `blocks` of the footer:
 *   locals                 u32: names at this offset of the string table and behind it are those
 *                          of functions that are not external
 *   footer (32 bytes)      magic "STL1" u32, version u16, flags u16, blocks u32, __TEXT vmaddr
 *                          u64, __TEXT size u64, CRC-32 (zlib's) u32 of all bytes before it
 *
 * Line table payload (LLVM's LineTable.cpp): SLEB min delta, SLEB max delta, ULEB first line, then
 * opcodes EndSequence 0, SetFile 1 (ULEB), AdvancePC 2 (ULEB, emits a row), AdvanceLine 3 (SLEB),
 * special opcodes from 4: line delta and address delta in one byte, emitting a row. Inline info
 * payload (InlineInfo.cpp): ranges as ULEB count and {ULEB start - base, ULEB size}…, u8 has
 * children, u32 name, ULEB call file, ULEB call line, children…, ended by an empty range list.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_FORMAT_H
#define STALLSYM_SYMBOLIZER_GSYM_FORMAT_H

#define GSYM_MAGIC           0x4753594du
#define GSYM_VERSION         1
#define GSYM_HEADER_SIZE     48
#define GSYM_UUID_MAX        20
#define GSYM_INFO_END        0
#define GSYM_INFO_LINE_TABLE 1
#define GSYM_INFO_INLINE     2

#define GSYM_LINE_END_SEQUENCE  0
#define GSYM_LINE_SET_FILE      1
#define GSYM_LINE_ADVANCE_PC    2
#define GSYM_LINE_ADVANCE_LINE  3
#define GSYM_LINE_FIRST_SPECIAL 4

#define GSYM_FOOTER_MAGIC   0x314c5453u /* "STL1" */
#define GSYM_FOOTER_VERSION 3
#define GSYM_FOOTER_SIZE    32
#define GSYM_FLAG_HAS_DWARF 1

#endif
