-- What a stack that goes to another cluster costs (storage/sqlite_write_resolve.c): rows of stacks
-- without a foreign key to clusters, and without an index entry for what their cluster says already.

DROP VIEW approximate_clusters;
CREATE TABLE stacks_next (
    id INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    hash BLOB NOT NULL,
    state INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    -- Of clusters. No foreign key: for its sake each UPDATE would copy every page that it changes.
    -- Whoever deletes a cluster looks whether a stack is left (cluster_any_stack).
    cluster_id INTEGER,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    provisional INTEGER NOT NULL,
    give_up INTEGER NOT NULL,
    approximate INTEGER NOT NULL,
    -- Frames of application images in the last resolution, and those of them that have a name.
    app_frames INTEGER NOT NULL,
    app_named INTEGER NOT NULL,
    -- The stack's own key where that is not its cluster's: it came there by a merge.
    part_key BLOB,
    gone_first_ms INTEGER,
    gone_last_ms INTEGER,
    heft INTEGER NOT NULL DEFAULT 0,
    UNIQUE (app_id, hash)
) STRICT;
INSERT INTO stacks_next (id, app_id, hash, state, generation, cluster_id, count, weighted, stall_ms,
    first_seen_ms, last_seen_ms, created_ms, provisional, give_up, approximate, app_frames,
    app_named, part_key, gone_first_ms, gone_last_ms, heft)
SELECT id, app_id, hash, state, generation, cluster_id, count, weighted, stall_ms, first_seen_ms,
    last_seen_ms, created_ms, provisional, give_up, approximate, app_frames, app_named,
    nullif(part_key, (SELECT key FROM clusters c WHERE c.id = stacks.cluster_id)), gone_first_ms,
    gone_last_ms, heft
FROM stacks ORDER BY id;
DROP TABLE stacks;
ALTER TABLE stacks_next RENAME TO stacks;

CREATE INDEX stacks_pending ON stacks (id) WHERE state = 0;
CREATE INDEX stacks_cluster ON stacks (cluster_id) WHERE cluster_id IS NOT NULL;
CREATE INDEX stacks_provisional ON stacks (created_ms) WHERE provisional = 1 AND give_up = 0;
CREATE INDEX stacks_part ON stacks (app_id, part_key) WHERE part_key IS NOT NULL;
CREATE INDEX stacks_approximate ON stacks (cluster_id) WHERE approximate = 1;
CREATE INDEX stacks_heft ON stacks (cluster_id, heft) WHERE heft > 0;
CREATE TRIGGER stacks_counted AFTER UPDATE OF count ON stacks
WHEN (old.count > 0) <> (new.count > 0)
BEGIN
    UPDATE cluster_totals SET stacks = stacks + CASE WHEN new.count > 0 THEN 1 ELSE -1 END
    WHERE cluster_id = new.cluster_id;
END;
CREATE TRIGGER stacks_uncounted AFTER DELETE ON stacks WHEN old.count > 0
BEGIN
    UPDATE cluster_totals SET stacks = stacks - 1 WHERE cluster_id = old.cluster_id;
END;
CREATE VIEW approximate_clusters AS
SELECT DISTINCT s.cluster_id AS id FROM stacks s
WHERE s.approximate = 1 AND s.cluster_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM stacks x WHERE x.cluster_id = s.cluster_id AND x.approximate = 0);

PRAGMA user_version = 17;
