/*
 * macho_format - the numbers of the Mach-O format that we use, under their own names.
 *
 * Purpose: there is no <mach-o/loader.h> outside of Apple's systems.
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_SYMBOLIZER_MACHO_FORMAT_H
#define STALLSYM_SYMBOLIZER_MACHO_FORMAT_H

#define MH_MAGIC     0xfeedfaceu
#define MH_MAGIC_64  0xfeedfacfu
#define FAT_MAGIC    0xcafebabeu
#define FAT_MAGIC_64 0xcafebabfu

#define MH_OBJECT  1u
#define MH_EXECUTE 2u
#define MH_CORE    4u
#define MH_DYLIB   6u
#define MH_BUNDLE  8u
#define MH_DSYM    10u
#define MH_FILESET 12u

#define LC_SEGMENT         0x1u
#define LC_SYMTAB          0x2u
#define LC_ID_DYLIB        0xdu
#define LC_SEGMENT_64      0x19u
#define LC_UUID            0x1bu
#define LC_FUNCTION_STARTS 0x26u

#define SECTION_TYPE_MASK        0xffu
#define S_ZEROFILL               0x1u
#define S_GB_ZEROFILL            0xcu
#define S_THREAD_LOCAL_ZEROFILL  0x12u
#define S_ATTR_PURE_INSTRUCTIONS 0x80000000u
#define S_ATTR_SOME_INSTRUCTIONS 0x400u

#define N_STAB 0xe0u
#define N_PEXT 0x10u
#define N_TYPE 0x0eu
#define N_SECT 0x0eu
#define N_EXT  0x01u

#define CPU_ARCH_ABI64      0x01000000u
#define CPU_ARCH_ABI64_32   0x02000000u
#define CPU_SUBTYPE_MASK    0xff000000u /* the capability bits */
#define CPU_TYPE_X86        7u
#define CPU_TYPE_X86_64     (CPU_TYPE_X86 | CPU_ARCH_ABI64)
#define CPU_TYPE_ARM        12u
#define CPU_TYPE_ARM64      (CPU_TYPE_ARM | CPU_ARCH_ABI64)
#define CPU_TYPE_ARM64_32   (CPU_TYPE_ARM | CPU_ARCH_ABI64_32)
#define CPU_TYPE_POWERPC    18u
#define CPU_TYPE_POWERPC64  (CPU_TYPE_POWERPC | CPU_ARCH_ABI64)
#define CPU_SUBTYPE_DEFAULT 0xffffffffu /* ours: the row of a family */

#endif
