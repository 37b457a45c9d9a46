-- Ids of reports in order of receipt (storage/sqlite_ids.h), until they are in report_ids.

CREATE TABLE new_ids (
    seq INTEGER PRIMARY KEY,
    day INTEGER NOT NULL,
    hash BLOB NOT NULL,
    report_id INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 20;
