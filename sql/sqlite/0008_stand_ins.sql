-- Stand-ins for symbol files that never came; stacks that retention left for later.

-- Frames of `uuid` are named by the symbol file of `stand_in`, of another build, until its own comes.
CREATE TABLE stand_ins (
    uuid BLOB PRIMARY KEY,
    stand_in BLOB NOT NULL,
    -- 0: chosen by the daemon.
    by_hand INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stand_ins_used ON stand_ins (stand_in);
CREATE INDEX stacks_approximate ON stacks (cluster_id) WHERE approximate = 1;
-- All stacks of them are.
CREATE VIEW approximate_clusters AS
SELECT DISTINCT s.cluster_id AS id FROM stacks s
WHERE s.approximate = 1 AND s.cluster_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM stacks x WHERE x.cluster_id = s.cluster_id AND x.approximate = 0);
CREATE INDEX slices_name ON slices (name) WHERE current = 1;

-- Stacks that lost their last report while they were pending: they are retired when resolved.
CREATE TABLE stacks_left (
    stack_id INTEGER PRIMARY KEY REFERENCES stacks (id) ON DELETE CASCADE
) STRICT;

PRAGMA user_version = 8;
