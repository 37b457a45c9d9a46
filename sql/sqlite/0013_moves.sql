-- Stacks that go to another cluster are counted there by whoever moves them, many at once
-- (storage/sqlite_moves.h). The trigger rewrote two rows of cluster_totals for each.

DROP TRIGGER stacks_counted;
CREATE TRIGGER stacks_counted AFTER UPDATE OF count ON stacks
WHEN (old.count > 0) <> (new.count > 0)
BEGIN
    UPDATE cluster_totals SET stacks = stacks + CASE WHEN new.count > 0 THEN 1 ELSE -1 END
    WHERE cluster_id = new.cluster_id;
END;

PRAGMA user_version = 13;
