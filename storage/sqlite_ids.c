#include "storage/sqlite_ids.h"

#include <string.h>

#include "base/clock.h"

/* What a commit learns of earlier days. */
#define LEARN_IDS (4 * ID_DAYS_STEP)

/* --- days ------------------------------------------------------------------------------------- */

enum err sqlite_ids_days(struct sqlite_storage *s, struct error *err)
{
    int64_t days[ID_DAYS_MAX];
    size_t count = 0;
    bool row = true;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_REPORT_ID_DAYS, err, sql_int(ID_DAYS_MAX));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    while (!rc && row && count < ID_DAYS_MAX) {
        days[count++] = sqlite3_column_int64(st, 0);
        rc = sql_step(&s->conn, st, &row, err);
    }
    sql_end(st);
    if (!rc)
        id_days_set(&s->id_days, days, count);
    return rc;
}

/* A step of what there is to learn about ids, up to the end of a day; false: nothing is left. */
static bool learn_step(struct sqlite_storage *s, uint8_t (*hashes)[ID_HASH_SIZE], size_t *learnt)
{
    uint8_t after[ID_HASH_SIZE];
    int64_t day = 0;
    size_t count = 0;
    bool first = true, row = true;
    if (!id_days_wants(&s->id_days, &day, &first, after))
        return false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_REPORT_IDS_OF_DAY, NULL, sql_int(day),
                                 sql_blob(after, first ? 0 : sizeof(after)), sql_int(ID_DAYS_STEP));
    enum err rc = st ? ERR_OK : ERR_INTERNAL;
    while (!rc && !(rc = sql_step(&s->conn, st, &row, NULL)) && row)
        sql_column_fixed(st, 0, hashes[count++], ID_HASH_SIZE);
    if (rc)
        id_days_give_up(&s->id_days, day);
    else
        id_days_learn(&s->id_days, day, hashes, count);
    *learnt += count;
    return true;
}

/* LEARN_IDS ids, so that the answers do not wait for long. Until all is learnt each report is looked for
 * in the days that are not. */
void sqlite_ids_learn(struct sqlite_storage *s)
{
    size_t learnt = 0;
    uint8_t(*hashes)[ID_HASH_SIZE] = arena_array(&s->scratch, ID_DAYS_STEP, ID_HASH_SIZE);
    while (hashes && learnt < LEARN_IDS && learn_step(s, hashes, &learnt))
        continue;
}

/* --- what waits ------------------------------------------------------------------------------- */

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for ids of reports");
}

static enum err keep(struct sqlite_storage *s, const struct new_id *id, struct error *err)
{
    if (!new_ids_add(&s->ids.waiting, id))
        return no_memory(err);
    id_days_add(&s->id_days, id->day, id->hash);
    return ERR_OK;
}

static enum err put_shelf(struct sqlite_storage *s, size_t shelf, struct error *err)
{
    size_t count = 0;
    enum err rc = ERR_OK;
    const struct new_id *ids = new_ids_sorted(&s->ids.waiting, shelf, &count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = sql_run(&s->conn, SQL_REPORT_ID_INSERT, err, sql_int(ids[i].day),
                     sql_blob(ids[i].hash, sizeof(ids[i].hash)), sql_int(ids[i].report_id));
    new_ids_clear_shelf(&s->ids.waiting, shelf);
    return rc;
}

/* Starts that follow one another sooner than a round ends would leave ever more of them. */
static enum err put_all(struct sqlite_storage *s, struct error *err)
{
    struct sqlite_ids *i = &s->ids;
    enum err rc = ERR_OK;
    for (size_t shelf = 0; shelf < NEW_ID_SHELVES && !rc; shelf++)
        rc = put_shelf(s, shelf, err);
    i->kept_from = i->next_seq;
    return rc ? rc : sql_run(&s->conn, SQL_NEW_IDS_DROP, err, sql_int(i->kept_from));
}

/* From the database, as it is in this transaction. */
static enum err load(struct sqlite_storage *s, struct error *err)
{
    struct sqlite_ids *i = &s->ids;
    bool row = true;
    int64_t last = 0, count = 0;
    new_ids_clear(&i->waiting);
    sqlite3_stmt *st = sql_bind(&s->conn, SQL_NEW_IDS, NULL, 0, err);
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    i->kept_from = !rc && row ? sqlite3_column_int64(st, 0) : 1;
    while (!rc && row) {
        struct new_id id = {.day = sqlite3_column_int64(st, 1),
                            .report_id = sqlite3_column_int64(st, 3)};
        last = sqlite3_column_int64(st, 0);
        sql_column_fixed(st, 2, id.hash, sizeof(id.hash));
        count++;
        rc = keep(s, &id, err);
        if (!rc)
            rc = sql_step(&s->conn, st, &row, err);
    }
    sql_end(st);
    i->next_seq = last + 1;
    if (!rc && count > (int64_t)NEW_IDS_ROUNDS * s->new_ids)
        rc = put_all(s, err);
    i->round_from = i->next_seq;
    i->away_below = i->kept_from;
    i->shelf = 0;
    i->steps = i->came = 0;
    i->known = !rc;
    return rc;
}

static enum err is_stored(struct sqlite_storage *s, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                          bool *ret, struct error *err)
{
    const struct sql_value hash = sql_blob(id_hash, REPORT_ID_HASH_SIZE);
    *ret = new_ids_have(&s->ids.waiting, id_hash);
    /* All days there are, whatever day it is: the server's clock may have been set back, or ahead. */
    for (size_t i = 0; i < s->id_days.count && !*ret; i++) {
        const struct id_day *day = &s->id_days.days[i];
        int64_t seen = 0;
        if (!id_day_may_have(day, id_hash))
            continue;
        enum err rc = sql_get(&s->conn, SQL_REPORT_ID_SEEN, 0, &seen, err, sql_int(day->day), hash);
        if (rc)
            return rc;
        *ret = seen != 0;
    }
    return ERR_OK;
}

enum err sqlite_claim_id(struct sqlite_storage *s, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                         int64_t received_ms, int64_t report_id, bool *ret_duplicate,
                         struct error *err)
{
    struct new_id id = {.day = clock_day(received_ms), .report_id = report_id};
    *ret_duplicate = false;
    enum err rc = s->ids.known ? ERR_OK : load(s, err);
    if (!rc)
        rc = is_stored(s, id_hash, ret_duplicate, err);
    if (rc || *ret_duplicate)
        return rc;
    memcpy(id.hash, id_hash, sizeof(id.hash));
    const int64_t seq = s->ids.next_seq++;
    s->ids.came++;
    rc = sql_run(&s->conn, SQL_NEW_ID_INSERT, err, sql_int(seq), sql_int(id.day),
                 sql_blob(id_hash, REPORT_ID_HASH_SIZE), sql_int(report_id));
    return rc ? rc : keep(s, &id, err);
}

/* --- the hand --------------------------------------------------------------------------------- */

static void end_round(struct sqlite_ids *i)
{
    i->shelf = 0;
    i->away_below = i->round_from;
    i->round_from = i->next_seq;
}

/* Twice as many as came, so that it ends before the next round does. */
static enum err drop_rows(struct sqlite_storage *s, int64_t came, struct error *err)
{
    struct sqlite_ids *i = &s->ids;
    if (i->kept_from >= i->away_below)
        return ERR_OK;
    i->kept_from += 2 * came;
    if (i->kept_from > i->away_below)
        i->kept_from = i->away_below;
    return sql_run(&s->conn, SQL_NEW_IDS_DROP, err, sql_int(i->kept_from));
}

enum err sqlite_ids_put_away(struct sqlite_storage *s, struct error *err)
{
    struct sqlite_ids *i = &s->ids;
    const int64_t came = i->came;
    enum err rc = ERR_OK;
    if (!i->known || came == 0)
        return ERR_OK;
    i->came = 0;
    i->steps += came * NEW_ID_SHELVES;
    for (; i->steps >= s->new_ids && !rc; i->steps -= s->new_ids) {
        rc = put_shelf(s, i->shelf, err);
        if (++i->shelf == NEW_ID_SHELVES)
            end_round(i);
    }
    return rc ? rc : drop_rows(s, came, err);
}

void sqlite_ids_forget(struct sqlite_storage *s)
{
    s->ids.known = false;
    s->ids.next_seq = 0; /* none, so that whoever reads them anew is seen to have done so */
}

void sqlite_ids_done(struct sqlite_storage *s)
{
    new_ids_done(&s->ids.waiting);
    id_days_done(&s->id_days);
}
