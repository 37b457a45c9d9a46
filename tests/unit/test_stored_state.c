/* Covers: server/stored_state.c. The daemon's own files are in no library: included. */
#include "server/stored_state.c"

#include <stdio.h>
#include <unistd.h>

#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define NOW OPS_TIME_MS

static struct write_op *new_op(enum write_op_kind kind)
{
    struct write_op *op = write_op_new(kind, (size_t)1 << 20);
    ck_assert_ptr_nonnull(op);
    return op;
}

/* A file in the spool; its name is in `name`. */
static void spool(struct rig *r, char name[64])
{
    struct error err;
    int fd = -1;
    ck_assert_int_eq(blob_store_spool_create(r->blobs, name, 64, &fd, &err), ERR_OK);
    ck_assert_int_eq(close(fd), 0);
}

static bool is_spooled(struct rig *r, const char *name)
{
    char path[512];
    ck_assert(blob_store_spool_path(r->blobs, name, path, sizeof(path)));
    return access(path, F_OK) == 0;
}

static void add_upload(struct rig *r, const char *spool_file)
{
    struct write_op *op = new_op(WRITE_UPLOAD);
    op->u.upload = (struct op_upload){.size = 10,
                                      .spool_file = spool_file,
                                      .bundle_id = "com.example.shop",
                                      .version = "1",
                                      .build = "1",
                                      .os_build = "",
                                      .now_ms = NOW};
    rig_apply(r, op);
}

static void add_open_upload(struct rig *r, const char *spool_file, uint32_t n)
{
    struct write_op *op = new_op(WRITE_OPEN_UPLOAD);
    op->u.open_upload = (struct op_open_upload){.size = 10,
                                                .spool_file = spool_file,
                                                .bundle_id = "com.example.shop",
                                                .version = "1",
                                                .build = "1",
                                                .os_build = "",
                                                .now_ms = NOW,
                                                .max_open = 10000,
                                                .max_bytes = 1000000};
    memcpy(op->u.open_upload.id, &n, sizeof(n));
    memcpy(op->u.open_upload.sha256, &n, sizeof(n));
    rig_apply(r, op);
}

static void add_report(struct rig *r, const char *bundle_id, uint8_t image, uint64_t vmaddr)
{
    const struct uuid uuid = {.bytes = {image}};
    const struct raw_frame frame = {.image = uuid, .offset = 8, .image_kind = IMAGE_UUID};
    const struct op_image described = {.id = uuid,
                                       .kind = IMAGE_UUID,
                                       .class = IMAGE_CLASS_APP,
                                       .name = "Shop",
                                       .arch = "arm64",
                                       .has_vmaddr = true,
                                       .vmaddr = vmaddr};
    char id[16];
    snprintf(id, sizeof(id), "r%d", image);
    rig_apply(r, ops_report(bundle_id, id, &frame, 1, &described, 1));
}

static void set_quota(struct rig *r, const char *bundle_id, uint32_t per_minute)
{
    struct write_op *op = new_op(WRITE_QUOTA);
    op->u.quota = (struct op_quota){.bundle_id = bundle_id,
                                    .quota = {.reports_per_minute = per_minute,
                                              .reports_per_day = 9,
                                              .slight_sample_rate = 0.5}};
    rig_apply(r, op);
}

static void load(struct rig *r, struct layouts *layouts, size_t layout_count, struct admission *a)
{
    struct error err;
    const struct stored_state_taker taker = {
        .blobs = r->blobs, .layouts = layouts, .layout_count = layout_count, .admission = a};
    enum err rc = stored_state_load(r->storage, &taker, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
}

static struct admission *no_admission(void)
{
    const struct admission_options options = {.standard = {.slight_sample_rate = 1}, .apps = 1};
    struct admission *a = admission_new(&options);
    ck_assert_ptr_nonnull(a);
    return a;
}

/* Only what no upload names goes; more open uploads than one page of them. */
START_TEST(spool_files_without_an_upload_go)
{
    struct rig r;
    char waiting[64], orphan[64], open[READ_LIMIT_MAX + 1][64];
    struct admission *a = no_admission();
    struct layouts *l = layouts_new(10);
    rig_start(&r);
    spool(&r, waiting);
    spool(&r, orphan);
    add_upload(&r, waiting);
    for (uint32_t i = 0; i < READ_LIMIT_MAX + 1; i++) {
        snprintf(open[i], sizeof(open[i]), "9-%016x.part", i);
        if (i == 0 || i == READ_LIMIT_MAX)
            spool(&r, open[i]);
        add_open_upload(&r, open[i], i + 1);
    }
    load(&r, l, 10, a);
    ck_assert(is_spooled(&r, waiting));
    ck_assert(!is_spooled(&r, orphan));
    ck_assert(is_spooled(&r, open[0]));
    ck_assert(is_spooled(&r, open[READ_LIMIT_MAX]));
    layouts_free(l);
    admission_free(a);
    rig_stop(&r);
}
END_TEST

START_TEST(layouts_and_quotas_come_back)
{
    struct rig r;
    const struct uuid first = {.bytes = {1}}, second = {.bytes = {2}};
    struct admission *a = no_admission();
    struct layouts *l = layouts_new(10);
    struct quota q;
    uint64_t vmaddr = 0;
    rig_start(&r);
    add_report(&r, "com.example.shop", 1, 0x100000000);
    add_report(&r, "com.example.news", 2, 0x200000000);
    set_quota(&r, "com.example.news", 7);
    load(&r, l, 10, a);
    struct layout_view shop = layouts_view(l, "com.example.shop");
    struct layout_view news = layouts_view(l, "com.example.news");
    ck_assert(layouts_find(&shop, &first, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x100000000);
    ck_assert(layouts_find(&news, &second, &vmaddr));
    ck_assert_uint_eq(vmaddr, 0x200000000);
    ck_assert(!layouts_find(&shop, &second, &vmaddr)); /* each app's own */
    ck_assert(admission_get(a, "com.example.news", &q));
    ck_assert_uint_eq(q.reports_per_minute, 7);
    ck_assert(!admission_get(a, "com.example.shop", &q));
    /* Both are known: they may go on, though there may be one app only; another may not come. */
    ck_assert(admission_bring(a, "com.example.shop", false));
    ck_assert(!admission_bring(a, "com.example.third", false));
    layouts_free(l);
    admission_free(a);
    rig_stop(&r);
}
END_TEST

UNIT_MAIN("stored_state", spool_files_without_an_upload_go, layouts_and_quotas_come_back)
