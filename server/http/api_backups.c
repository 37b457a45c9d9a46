#include "server/http/api.h"

#include <string.h>

#include "server/http/api_common.h"

static const char *const STATES[] = {[BACKUP_NONE] = "",
                                     [BACKUP_RUNNING] = "running",
                                     [BACKUP_DONE] = "done",
                                     [BACKUP_FAILED] = "failed"};

static void print_facts(struct jout *j, const struct backup_facts *f)
{
    jout_time(j, "created_at", f->begun_ms);
    jout_time(j, "finished_at", f->finished_ms > 0 ? f->finished_ms : INT64_MIN);
    jout_uint(j, "database_bytes", f->database_bytes);
    jout_uint(j, "files", f->files);
    jout_uint(j, "bytes", f->bytes);
}

/* The one of this run that is not, or not yet, in the folder. */
static void print_last(struct jout *j, const struct backup_status *s)
{
    jout_object(j, NULL);
    jout_string(j, "id", s->id);
    jout_string(j, "state", STATES[s->state]);
    jout_null(j, "path");
    print_facts(j, &s->facts);
    jout_uint(j, "copied_bytes", s->copied_bytes);
    jout_text(j, "reason", s->reason);
    jout_end_object(j);
}

static enum err print_done(struct http_request *r, struct jout *j, const struct read_tools *tools,
                           const struct backup_entry *e, struct error *err)
{
    const char *path =
        arena_printf(tools->arena, "%s/%s", backups_dir(r->services->backups), e->id);
    if (!path)
        return error_set(err, ERR_NO_MEMORY, "no memory for a list of backups");
    jout_object(j, NULL);
    jout_string(j, "id", e->id);
    jout_string(j, "state", STATES[BACKUP_DONE]);
    jout_string(j, "path", path);
    print_facts(j, &e->facts);
    jout_uint(j, "copied_bytes", e->facts.database_bytes);
    jout_null(j, "reason");
    jout_end_object(j);
    return ERR_OK;
}

enum err api_get_backups(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct backup_entry *list = NULL;
    size_t count = 0;
    struct backup_status last;
    struct jout j;
    struct error why;
    backups_last(r->services->backups, &last);
    enum err rc =
        backup_dir_list(backups_dir(r->services->backups), tools->arena, &list, &count, &why);
    if (rc == ERR_NO_MEMORY)
        return error_set(err, rc, "%s", why.text);
    rc = ERR_OK; /* no folder: none was made yet */
    api_items_begin(r, &j);
    if (last.state == BACKUP_RUNNING || last.state == BACKUP_FAILED)
        print_last(&j, &last);
    for (size_t i = 0; i < count && rc == ERR_OK; i++)
        rc = print_done(r, &j, tools, &list[i], err);
    api_items_end(&j, NULL);
    return rc;
}

enum err api_post_backup(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    char id[BACKUP_ID_SIZE];
    struct jout j;
    (void)tools;
    enum err rc = backups_begin(r->services->backups, r->now_ms, id, err);
    if (rc == ERR_LIMIT || rc == ERR_CONFLICT || rc == ERR_UNSUPPORTED) {
        http_problem(r, rc == ERR_LIMIT ? 507 : 409, "%s", err->text);
        return ERR_OK;
    }
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 202, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "id", id);
    jout_string(&j, "state", STATES[BACKUP_RUNNING]);
    jout_end_object(&j);
    r->reply.location = "/v1/admin/backups";
    return ERR_OK;
}
