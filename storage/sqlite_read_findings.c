/* Reads of the queue of findings, and of what was found. */
#include <math.h>

#include "storage/figures.h"
#include "storage/sqlite_read.h"

static bool fill_due(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct finding_due *due = row;
    (void)arena;
    due->report_id = (uint64_t)sqlite3_column_int64(st, 0);
    due->generation = (uint32_t)sqlite3_column_int64(st, 1);
    return true;
}

enum err sqlite_read_findings_due(struct storage_reader *base, size_t limit, struct arena *arena,
                                  struct finding_due **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *q = sqlite_reader_of(base);
    struct finding_due *due = NULL;
    size_t wanted = 0;
    size_t count = 0;
    sqlite3_stmt *st = sql_start(&q->conn, SQL_FINDINGS_DUE_PAGE, err, sql_int((int64_t)limit));
    enum err rc = sqlite_row_array(&q->conn, st, fill_due, arena, &due, &wanted, err);
    if (rc)
        return rc;
    for (; count < wanted && !rc; count++) {
        struct finding_due *d = &due[count];
        rc = sqlite_report_get(q, (int64_t)d->report_id, arena, &d->report, err);
        if (rc == ERR_NO_MEMORY && count > 0)
            break; /* the page ends where memory does */
        d->damaged = rc == ERR_FORMAT || rc == ERR_NO_MEMORY;
        rc = d->damaged ? ERR_OK : rc;
    }
    if (rc && rc != ERR_NO_MEMORY)
        return rc;
    *ret = due;
    *ret_count = count;
    return ERR_OK;
}

enum err sqlite_read_cluster_findings(struct storage_reader *base, uint64_t cluster_id,
                                      struct cluster_findings *ret, struct error *err)
{
    struct sqlite_reader *q = sqlite_reader_of(base);
    bool row = false;
    sqlite3_stmt *st = sql_start(&q->conn, SQL_CLUSTER_FINDINGS, err, sql_int((int64_t)cluster_id));
    enum err rc = st ? sql_step(&q->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    int64_t count = sqlite3_column_int64(st, 0);
    double sum = (double)sqlite3_column_int64(st, 1);
    ret->culprits = (uint64_t)count;
    ret->mean_confidence = count ? sum / (double)count / FIGURES_WEIGHT_ONE : (double)NAN;
    ret->deadlocks = (uint64_t)sqlite3_column_int64(st, 2);
    sql_end(st);
    return ERR_OK;
}
