#include "tests/support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/sigbus_guard.h"
#include "tests/support/gsym_bytes.h"
#include "tests/support/temp_dir.h"

#define VMADDR UINT64_C(0x100000000)

static void want(enum err rc, const struct error *err)
{
    if (rc == ERR_OK)
        return;
    fprintf(stderr, "rig: %s: %s\n", err_name(rc), err->text);
    abort();
}

static void on_pending(void *ctx)
{
    struct rig *r = ctx;
    struct resolver *resolver = atomic_load(&r->resolver);
    atomic_fetch_add(&r->rings, 1);
    if (resolver)
        resolver_ring(resolver);
}

static bool locate(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    return blob_store_index_path(ctx, uuid, path, size);
}

static void open_database(struct rig *r)
{
    char path[512];
    struct error err;
    snprintf(path, sizeof(path), "%s/test.db", r->dir);
    struct storage_options so = {.backend = "sqlite",
                                 .path = path,
                                 .synchronous_full = true,
                                 .busy_ms = 1000,
                                 .retry_days = 3,
                                 .daily_values = 1000,
                                 .migrate = true};
    struct writer_options wo = {.queue_capacity = 1000,
                                .high_mark = 500,
                                .group_ops = 512,
                                .group_ms = 5,
                                .wal_high_bytes = 1 << 30,
                                .pending_bell = on_pending,
                                .bell_ctx = r};
    want(storage_open(&so, &r->storage, &err), &err);
    want(writer_start(r->storage, &wo, r->metrics, &r->writer, &err), &err);
    want(storage_reader_open(r->storage, &r->reader, &err), &err);
}

static void close_database(struct rig *r)
{
    storage_reader_close(r->reader);
    writer_stop(r->writer);
    storage_close(r->storage);
}

void rig_start(struct rig *r)
{
    struct error err;
    memset(r, 0, sizeof(*r));
    r->dir = temp_dir_new();
    arena_init(&r->arena, (size_t)256 << 20);
    r->metrics = metrics_new();
    r->layouts = layouts_new(1000);
    want(sigbus_guard_install(&err), &err);
    want(blob_store_open(r->dir, &r->blobs, &err), &err);
    struct index_locator locator = {.locate = locate, .ctx = r->blobs};
    r->cache = index_cache_new(locator, 16, 1000);
    open_database(r);
}

void rig_stop(struct rig *r)
{
    close_database(r);
    index_cache_free(r->cache);
    blob_store_close(r->blobs);
    layouts_free(r->layouts);
    metrics_free(r->metrics);
    arena_done(&r->arena);
    temp_dir_free(r->dir);
}

void rig_restart(struct rig *r)
{
    close_database(r);
    open_database(r);
}

enum err rig_call(struct rig *r, struct write_op *op, struct error *err)
{
    return writer_call(r->writer, op, err);
}

void rig_apply(struct rig *r, struct write_op *op)
{
    struct error err;
    want(writer_call(r->writer, op, &err), &err);
    write_op_free(op);
}

void rig_put_index(struct rig *r, const struct uuid *uuid, const char *function)
{
    char path[1024];
    struct buf bytes;
    struct error err;
    struct gsym_bytes_function f = {.address = VMADDR + 0x1000, .size = 0x100, .name = function};
    struct gsym_bytes g = {.uuid = *uuid,
                           .offset_size = 4,
                           .base = VMADDR,
                           .functions = &f,
                           .function_count = 1,
                           .footer = 1,
                           .text_vmaddr = VMADDR,
                           .text_size = 0x10000};
    buf_init(&bytes, 1 << 20);
    gsym_bytes_make(&g, &bytes);
    snprintf(path, sizeof(path), "%s/made.gsym", r->dir);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes.data, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
        abort();
    buf_done(&bytes);
    want(blob_store_install_index(r->blobs, path, uuid, &err), &err);
    index_cache_changed(r->cache, uuid);
}

void rig_own(struct rig *r, const char *bundle_id, const struct uuid *image,
             const struct uuid *shelf)
{
    struct op_slice slice = {.shelf = *shelf,
                             .image = *image,
                             .name = "Shop",
                             .member = "",
                             .arch = "arm64",
                             .indexed = true,
                             .installed = true};
    struct error err;
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    op->u.upload = (struct op_upload){.spool_file = "",
                                      .bundle_id = bundle_id,
                                      .version = "",
                                      .build = "",
                                      .os_build = "",
                                      .bound = true};
    want(rig_call(r, op, &err), &err);
    const uint64_t id = op->u.upload.id;
    write_op_free(op);
    op = write_op_new(WRITE_UPLOAD_STATE, 65536);
    op->u.upload_state = (struct op_upload_state){
        .id = id, .state = UPLOAD_INDEXED, .slices = &slice, .slice_count = 1};
    rig_apply(r, op);
}
