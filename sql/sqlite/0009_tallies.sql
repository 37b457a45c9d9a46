-- What a row of a list of clusters shows beside its sums, kept with them.

-- Days, builds and devices with their counts (storage/tally.h).
ALTER TABLE cluster_totals ADD COLUMN tally BLOB NOT NULL DEFAULT x'';
-- How many stacks with reports point there.
ALTER TABLE cluster_totals ADD COLUMN stacks INTEGER NOT NULL DEFAULT 0;

UPDATE cluster_totals SET
    stacks = (SELECT count(*) FROM stacks s WHERE s.cluster_id = cluster_totals.cluster_id
        AND s.count > 0),
    tally = (SELECT tally_sum(kind, id, n) FROM (
        SELECT 0 AS kind, c.day AS id, c.count AS n
        FROM stacks s JOIN counters c ON c.stack_id = s.id
        WHERE s.cluster_id = cluster_totals.cluster_id
        UNION ALL SELECT 1, c.build_id, c.count
        FROM stacks s JOIN counters c ON c.stack_id = s.id
        WHERE s.cluster_id = cluster_totals.cluster_id
        UNION ALL SELECT 2, w.device_id, w.count
        FROM stacks s JOIN week_devices w ON w.stack_id = s.id
        WHERE s.cluster_id = cluster_totals.cluster_id));

CREATE TRIGGER stacks_counted AFTER UPDATE OF count, cluster_id ON stacks
WHEN (old.count > 0) <> (new.count > 0) OR old.cluster_id IS NOT new.cluster_id
BEGIN
    UPDATE cluster_totals SET stacks = stacks - 1
    WHERE cluster_id = old.cluster_id AND old.count > 0;
    UPDATE cluster_totals SET stacks = stacks + 1
    WHERE cluster_id = new.cluster_id AND new.count > 0;
END;
CREATE TRIGGER stacks_uncounted AFTER DELETE ON stacks WHEN old.count > 0
BEGIN
    UPDATE cluster_totals SET stacks = stacks - 1 WHERE cluster_id = old.cluster_id;
END;

PRAGMA user_version = 9;
