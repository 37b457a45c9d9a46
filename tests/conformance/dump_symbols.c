#include "storage/read_shelves.h"
#include "storage/read_stand_ins.h"
#include "tests/conformance/dump_parts.h"
#include "tests/conformance/suite.h"

static void dump_images(struct dump *d)
{
    struct error err = {0};
    struct layout_row *rows;
    size_t n;
    for (uint32_t i = 0; i < 100; i++) {
        struct uuid u = suite_uuid(i);
        struct image_row image;
        if (read_image(d->r, SUITE_APP, &u, &d->arena, &image, &err) == ERR_OK)
            buf_printf(d->out, "image %u %d %d %s %s\n", i, image.kind, image.class, image.name,
                       dump_text(image.arch));
    }
    struct uuid group = suite_uuid(SUITE_GROUP);
    for (int any = 0; any <= 1; any++) {
        dump_ok(d, read_group(d->r, any ? NULL : SUITE_APP, &group, &d->arena, &rows, &n, &err),
                &err);
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "member %d %llx %llx", any, (unsigned long long)rows[i].vmaddr,
                       (unsigned long long)rows[i].size);
            dump_uuid(d, &rows[i].uuid);
            buf_puts(d->out, "\n");
        }
    }
    dump_ok(d, read_layouts(d->r, 1000, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "layout %s %llx", rows[i].own, (unsigned long long)rows[i].vmaddr);
        dump_uuid(d, &rows[i].uuid);
        buf_puts(d->out, "\n");
    }
    struct layout_claim_row *claims;
    dump_ok(d, read_layout_claims(d->r, 1000, &d->arena, &claims, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "claim %s %llx", claims[i].bundle_id,
                   (unsigned long long)claims[i].vmaddr);
        dump_uuid(d, &claims[i].uuid);
        buf_puts(d->out, "\n");
    }
}

static void dump_slice(struct dump *d, const struct slice_row *x)
{
    buf_printf(d->out, "  slice %s %s %s %s %d%d%d f=%llu l=%llu up=%llu app=%s %d%d %llu %llu",
               dump_text(x->name), dump_text(x->member), dump_text(x->arch), dump_text(x->reason),
               x->indexed, x->current, x->has_dwarf, (unsigned long long)x->functions,
               (unsigned long long)x->lines, (unsigned long long)x->upload_id,
               dump_text(x->bundle_id), x->lost, x->object_kept, (unsigned long long)x->id,
               (unsigned long long)x->index_bytes);
    dump_uuid(d, &x->shelf);
    dump_uuid(d, &x->image);
    buf_puts(d->out, "\n");
}

/* Which index serves whom. */
static void dump_shelves(struct dump *d)
{
    static const char *const apps[] = {SUITE_APP, "com.example.other", NULL};
    struct error err = {0};
    bool present = false, owns = false;
    for (size_t a = 0; a < sizeof(apps) / sizeof(apps[0]); a++) {
        for (uint32_t i = 0; i < 40; i++) {
            const struct uuid image = suite_uuid(i), shelf = suite_uuid(SUITE_SHELF_OF(i));
            struct uuid found, whose;
            const char *own = NULL;
            struct slice_row *rows;
            size_t n = 0;
            dump_ok(d, read_shelf_for(d->r, apps[a], &image, &found, &err), &err);
            dump_ok(d, read_shelf_image(d->r, &shelf, &d->arena, &whose, &own, &err), &err);
            dump_ok(d,
                    read_symbols_present(d->r, apps[a] ? apps[a] : "", &image, 1, &present, &err),
                    &err);
            if (read_symbol_files(d->r, apps[a], &image, &d->arena, &rows, &n, &err) != ERR_OK)
                n = 0;
            buf_printf(d->out, "serves %zu %u %d %zu %s", a, i, present, n, own);
            dump_uuid(d, &found);
            dump_uuid(d, &whose);
            buf_puts(d->out, "\n");
        }
        dump_ok(d, read_owns_shelves(d->r, apps[a] ? apps[a] : "", &owns, &err), &err);
        buf_printf(d->out, "owns %zu %d\n", a, owns);
    }
}

static void dump_objects(struct dump *d)
{
    struct error err = {0};
    struct object_row *rows;
    struct object_totals t;
    uint64_t kept = 0;
    char sha[SHA256_TEXT_SIZE];
    size_t n;
    for (int app = 0; app < 2; app++) {
        if (!dump_ok(d, read_object_totals(d->r, app ? SUITE_APP : NULL, &t, &err), &err) ||
            !dump_ok(d, read_kept_index_bytes(d->r, app ? SUITE_APP : NULL, &kept, &err), &err))
            continue;
        buf_printf(d->out, "objects %llu %llu %llu %llu %llu %llu\n", (unsigned long long)t.files,
                   (unsigned long long)t.bytes, (unsigned long long)t.system_files,
                   (unsigned long long)t.system_bytes, (unsigned long long)t.index_bytes,
                   (unsigned long long)kept);
    }
    for (int mode = 0; mode < 3; mode++) {
        if (!dump_ok(d,
                     read_idle_objects(d->r, mode == 0 ? 0 : INT64_MAX, mode == 2 ? INT64_MAX : 0,
                                       100, &d->arena, &rows, &n, &err),
                     &err))
            return;
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, " object %d %s %llu %lld\n", mode,
                       sha256_format(rows[i].sha256, sha), (unsigned long long)rows[i].bytes,
                       (long long)rows[i].used_ms);
    }
}

static void dump_holders(struct dump *d)
{
    struct error err = {0};
    struct object_holder_row *holders;
    struct object_row *rows;
    size_t n, count;
    if (!dump_ok(d, read_object_holders(d->r, &d->arena, &holders, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++) {
        const char *app = holders[i].bundle_id;
        buf_printf(d->out, "holder %s %llu %llu", app, (unsigned long long)holders[i].bytes,
                   (unsigned long long)holders[i].fixed);
        if (dump_ok(d, read_held_objects(d->r, app, 5, &d->arena, &rows, &count, &err), &err)) {
            for (size_t k = 0; k < count; k++)
                buf_printf(d->out, " %02x%02x", rows[k].sha256[0], rows[k].sha256[1]);
        }
        buf_puts(d->out, "\n");
    }
}

static void dump_store(struct dump *d)
{
    struct error err = {0};
    struct refit_row *refits;
    struct turn_back_row *backs;
    struct protected_row *builds;
    struct open_upload_row *open;
    size_t n;
    if (dump_ok(d, read_refits(d->r, 100, &d->arena, &refits, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "refit %d", refits[i].deleted);
            dump_uuid(d, &refits[i].shelf);
            buf_puts(d->out, "\n");
        }
    }
    if (dump_ok(d, read_turn_backs(d->r, 100, &d->arena, &backs, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "turn back %d", backs[i].all_users);
            dump_uuid(d, &backs[i].uuid);
            buf_puts(d->out, "\n");
        }
    }
    dump_objects(d);
    dump_holders(d);
    if (dump_ok(d, read_protected(d->r, NULL, &d->arena, &builds, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "protected %s/%s/%s/%s %lld\n", builds[i].bundle_id,
                       builds[i].version, builds[i].build, builds[i].os_build,
                       (long long)builds[i].created_ms);
    }
    if (!dump_ok(d, read_open_uploads(d->r, NULL, INT64_MAX, 100, &d->arena, &open, &n, &err),
                 &err))
        return;
    for (size_t i = 0; i < n; i++) {
        struct open_upload_row x;
        dump_ok(d, read_open_upload(d->r, open[i].id, &d->arena, &x, &err), &err);
        buf_printf(d->out, "open %d %d %llu/%llu %s %s %s %d%d %zu %lld %llu\n", x.id[0],
                   x.sha256[0], (unsigned long long)x.received, (unsigned long long)x.size,
                   x.spool_file, x.bundle_id, x.version, x.system, x.protect, x.hash_state_len,
                   (long long)x.touched_ms, (unsigned long long)x.upload_id);
    }
}

static void dump_uploads(struct dump *d)
{
    struct error err = {0};
    struct slice_row *rows;
    const char *cursor = NULL;
    size_t n;
    for (uint64_t id = 1; id < 40; id++) {
        struct upload_row u;
        if (read_upload(d->r, id, &d->arena, &u, &err))
            continue; /* deleted, or not there yet */
        buf_printf(d->out, "upload %llu %d %s %zu\n", (unsigned long long)id, u.state,
                   dump_text(u.reason), u.slice_count);
        for (size_t i = 0; i < u.slice_count; i++)
            dump_slice(d, &u.slices[i]);
        dump_ok(d, read_upload_by_sha256(d->r, u.sha256, &SUITE_ANY_ORIGIN, &d->arena, &u, &err),
                &err);
    }
    do {
        if (!dump_ok(d, read_symbols(d->r, NULL, 2, cursor, &d->arena, &rows, &n, &cursor, &err),
                     &err))
            break;
        for (size_t i = 0; i < n; i++)
            dump_slice(d, &rows[i]);
        buf_printf(d->out, " next %s\n", dump_text(cursor));
    } while (cursor);
}

static void dump_missing(struct dump *d)
{
    struct error err = {0};
    struct missing_row *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!dump_ok(d, read_missing(d->r, NULL, 3, cursor, &d->arena, &rows, &n, &cursor, &err),
                     &err))
            break;
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "missing %s %s %d %s n=%llu f=%llu %lld-%lld", rows[i].name,
                       dump_text(rows[i].arch), rows[i].class, rows[i].bundle_id,
                       (unsigned long long)rows[i].reports, (unsigned long long)rows[i].frames,
                       (long long)rows[i].first_seen_ms, (long long)rows[i].last_seen_ms);
            dump_uuid(d, &rows[i].uuid);
            for (size_t k = 0; k < rows[i].version_count; k++)
                buf_printf(d->out, " %s", rows[i].versions[k]);
            for (size_t k = 0; k < rows[i].candidate_count; k++) {
                const struct missing_candidate *c = &rows[i].candidates[k];
                buf_printf(d->out, " or %s (%s) %d%d", c->version, c->build, c->same_build,
                           c->has_dwarf);
                dump_uuid(d, &c->uuid);
            }
            if (rows[i].stand_in)
                dump_uuid(d, rows[i].stand_in);
            buf_puts(d->out, "\n");
        }
        buf_printf(d->out, " next %s\n", dump_text(cursor));
    } while (cursor);
}

static void dump_stand_ins(struct dump *d)
{
    struct error err = {0};
    struct stand_in_row *rows;
    size_t n;
    if (!dump_ok(d, read_stand_ins(d->r, NULL, &d->arena, &rows, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "stand-in %s %d %lld", rows[i].bundle_id, rows[i].by_hand,
                   (long long)rows[i].created_ms);
        dump_uuid(d, &rows[i].uuid);
        dump_uuid(d, &rows[i].stand_in);
    }
}

void dump_symbols(struct dump *d)
{
    dump_images(d);
    dump_shelves(d);
    dump_uploads(d);
    dump_store(d);
    dump_missing(d);
    dump_stand_ins(d);
}
