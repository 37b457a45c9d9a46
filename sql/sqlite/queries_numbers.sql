-- Statements of numbers: hours, usage, what a cluster weighs on its devices.

-- === hours =======================================================================================

-- name: hours_from
SELECT next FROM sequences WHERE name = 'hours';

-- name: hours_from_set
UPDATE sequences SET next = ?1 WHERE name = 'hours' AND next < ?1;

-- name: hours_last_stack
SELECT max(id) FROM (SELECT id FROM stacks WHERE id > ?1 ORDER BY id LIMIT ?2);

-- name: hours_drop
UPDATE counters SET hours = x''
WHERE stack_id > ?1 AND stack_id <= ?2 AND day < ?3 AND hours <> x'';

-- name: hours_cluster
SELECT c.day, c.count, c.weighted, c.stall_ms, c.hours, c.above_ms
FROM stacks s JOIN counters c ON c.stack_id = s.id
WHERE s.cluster_id = ?12 AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        SELECT id FROM dict WHERE kind = 1 AND (?2 IS NULL OR value = ?2)
            AND (?3 IS NULL OR value2 = ?3)));

-- name: hours_app
SELECT c.day, c.count, c.weighted, c.stall_ms, c.hours, c.above_ms
FROM apps a JOIN counters c ON c.stack_id = a.total_id
WHERE (?1 IS NULL OR a.bundle_id = ?1)
    AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        SELECT id FROM dict WHERE kind = 1 AND (?2 IS NULL OR value = ?2)
            AND (?3 IS NULL OR value2 = ?3)));
