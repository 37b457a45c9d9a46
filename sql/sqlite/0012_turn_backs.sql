-- Stacks that slipped in while an index came into use or went.

-- UUIDs whose stacks are still to be turned back to pending: the indexer's third queue.
CREATE TABLE turn_backs (
    uuid BLOB PRIMARY KEY,
    -- 1: all that have it; 0: those that miss it.
    all_users INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 12;
