-- The heaviest stacks of a cluster that has very many (storage/sqlite_heft.h).

-- Grows with what the stack weighs, in steps. Kept in clusters with tables of their own (0010), as of
-- the last report that was rolled up.
ALTER TABLE stacks ADD COLUMN heft INTEGER NOT NULL DEFAULT 0;
UPDATE stacks SET heft = stack_heft(weighted)
WHERE cluster_id IN (SELECT cluster_id FROM cluster_cubes WHERE rolled = 1);
CREATE INDEX stacks_heft ON stacks (cluster_id, heft) WHERE heft > 0;

PRAGMA user_version = 11;
