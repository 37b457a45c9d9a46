/*
 * apple_text - the frames and images of crash, hang, sample and spindump texts.
 *
 * Purpose: says of each line of a text whether it is a frame, where its address lies, which part of
 * the line an answer takes the place of, and which list of images it belongs to. What the frames are
 * called is for others (server/http/fill_text).
 *
 *   crash     3   Shop         0x00000001000a2f10 0x100a00000 + 12048     (or a name + offset)
 *   list      (0x18a98520c 0x1a3c5 …)            under "Last Exception Backtrace:"
 *   sample    + ! 2397 ???  (in Shop)  load address 0x10cd17000 + 0x3e30  [0x10cd1ae30]
 *   spindump  *1001  ??? (Shop + 1234) [0x10cd1ae30]       (or <UUID> in place of the name)
 *   image     0x1000 - 0x2fff +Shop arm64 (1.0 - 7) <UUID> /path          under "Binary Images:"
 *
 * Which images: a text is cut into processes (at "Process:" and "Incident Identifier:" of column 0,
 * and where frames go on after a list of images); a frame belongs to the images of its process. One
 * without a list of its own (a spindump's "Heaviest stack") takes those of the process that "PID:"
 * names, else the next list, else the last one.
 *
 * How addresses are taken: of a crash frame 0 is where the thread stood, of a spindump whatever has
 * no callee; the others are return addresses, as are all of an exception's backtrace; the frame after
 * _sigtramp was interrupted, not called from. In sample(1)'s texts every address is taken as it
 * stands, which is what Apple's tools do with them; CALLERS_RETURN asks for the rule of spindumps.
 *
 * Invariants: one pass for the images, one for the lines, linear in the text; a line of more than
 * APPLE_TEXT_LINE_MAX bytes is no frame. Any bytes are a text: there is no error but a cap.
 *
 * Threads: values. Memory: lines borrow the text; images are in the caller's arena.
 */
#ifndef STALLSYM_INGEST_APPLE_TEXT_H
#define STALLSYM_INGEST_APPLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "server/ingest/text_span.h"
#include "symbolizer/image_map.h"

#define APPLE_TEXT_LINE_MAX      ((size_t)64 << 10)
#define APPLE_TEXT_IMAGES_MAX    65536 /* of all processes */
#define APPLE_TEXT_PROCESSES_MAX 8192

enum text_form { TEXT_OTHER, TEXT_CRASH, TEXT_LIST, TEXT_SAMPLE, TEXT_SPINDUMP };

enum text_callers { CALLERS_BY_FORM, CALLERS_RETURN, CALLERS_EXACT };

struct text_line {
    struct text_span text; /* without its line break */
    struct text_span eol;  /* "\n", "\r\n", "\n\n\n" of empty lines, or nothing at the end */
    enum text_form form;
    /* Of a frame: */
    struct text_span cut;      /* what an answer takes the place of */
    struct text_span image;    /* as the line names it */
    struct text_span function; /* empty: none but "???" */
    bool has_source;           /* it has a file and line already */
    uint64_t address;          /* not of a list */
    bool placed;               /* `uuid` and `offset` say where, whatever the images are */
    bool has_offset;           /* `offset` counts from the image's start */
    struct uuid uuid;
    uint64_t offset;
    enum frame_kind kind;
    size_t depth; /* of call trees: the column */
};

/* Whose images a stretch of the text has. */
struct text_process {
    size_t start; /* byte of the text */
    uint64_t pid; /* 0: not told */
    struct image_entry *images;
    size_t image_count;
};

struct apple_text {
    struct text_span text;
    struct text_process *processes; /* at least one; by `start`, the first at 0 */
    size_t process_count;
    bool has_frames;
};

/* Finds the processes and their images. ERR_LIMIT: too many. */
enum err apple_text_read(const char *text, size_t len, struct arena *arena, struct apple_text *ret,
                         struct error *err);

/* Goes over the lines. */
struct apple_lines {
    const struct apple_text *text;
    enum text_callers callers;
    size_t at;      /* where the line begins that is read next */
    size_t process; /* of the line given last */
    bool ahead_there;
    struct text_line ahead;
    size_t ahead_start;
    uint64_t ahead_number;
    bool in_exception; /* under a backtrace of which all addresses are returned to */
    bool heaviest;     /* a flat call path, outermost first */
    bool after_signal;
};
void apple_lines_begin(struct apple_lines *l, const struct apple_text *text,
                       enum text_callers callers);
/* False at the end. `l->process` is the line's process then. */
bool apple_lines_next(struct apple_lines *l, struct text_line *ret);

/* One address of a list after the other; false at its end. */
bool apple_list_next(struct text_span *list, uint64_t *ret_address);

#endif
