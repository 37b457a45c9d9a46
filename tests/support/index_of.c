#include "tests/support/index_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/gsym_write.h"

bool index_object(const struct object *o, const struct parallel_for *parallel, struct index_of *ret)
{
    struct debug_info *d = NULL;
    uint64_t bytes;
    memset(ret, 0, sizeof(*ret));
    scratch_make(ret->folder, sizeof(ret->folder));
    snprintf(ret->path, sizeof(ret->path), "%s/index.gsym", ret->folder);
    enum err code = debug_info_build(o, parallel, &d, &ret->error);
    if (!code) {
        ret->counts = *debug_info_counts(d);
        code = gsym_write(d, object_info(o), ret->path, &bytes, &ret->error);
    }
    debug_info_free(d);
    if (!code)
        code = gsym_open(ret->path, &ret->gsym, &ret->error);
    if (!code)
        code = gsym_check(ret->gsym, &ret->error);
    return code == ERR_OK;
}

bool index_file(const char *path, size_t slice, const struct parallel_for *parallel,
                struct index_of *ret)
{
    struct mapped file;
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = OBJECT_SLICES_MAX;
    struct error problem;
    struct object *o = NULL;
    memset(ret, 0, sizeof(*ret));
    if (!map_file(path, &file)) {
        error_set(&ret->error, ERR_NOT_FOUND, "no file %s", path);
        return false;
    }
    bool good = !object_slices(file.data, file.size, slices, &count, &problem, &ret->error) &&
                slice < count &&
                !object_open(file.data + slices[slice].offset, slices[slice].size, &o, &ret->error);
    good = good && index_object(o, parallel, ret);
    object_close(o);
    unmap_file(&file);
    return good;
}

void index_of_done(struct index_of *i)
{
    gsym_close(i->gsym);
    if (*i->folder)
        scratch_remove(i->folder);
    memset(i, 0, sizeof(*i));
}

const char *index_answer(const struct index_of *i, uint64_t address, char out[CHAIN_SIZE])
{
    struct gsym_frame frames[GSYM_FRAMES_MAX];
    size_t count = gsym_lookup(i->gsym, address, frames, GSYM_FRAMES_MAX);
    size_t used = 0;
    out[0] = 0;
    for (size_t k = 0; k < count && used < CHAIN_SIZE; k++)
        used +=
            (size_t)snprintf(out + used, CHAIN_SIZE - used, "%s%s %s:%u", k ? " <- " : "",
                             frames[k].name, frames[k].base ? frames[k].base : "", frames[k].line);
    return out;
}

bool index_has_answer(const struct index_of *i, uint64_t from, uint64_t to, const char *answer)
{
    char text[CHAIN_SIZE];
    for (uint64_t a = from; a < to; a++) {
        if (strcmp(index_answer(i, a, text), answer) == 0)
            return true;
    }
    return false;
}

bool index_bytes(const struct index_of *i, struct mapped *ret)
{
    return map_file(i->path, ret);
}
