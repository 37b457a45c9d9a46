-- Roll-ups of clusters (storage/sqlite_rollup.h).

-- === writing =====================================================================================

-- Reports above an id that are in a cluster; columns of sqlite_rolled_report().
-- name: reports_after
SELECT s.cluster_id, s.app_id, r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms,
    1000000 + r.weight_above, r.duration_ms, r.flags & 7, r.stack_id
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
WHERE r.id > ?1 AND s.cluster_id IS NOT NULL;

-- Those of one stack, wherever it points.
-- name: reports_after_of_stack
SELECT 0, 0, r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms, 1000000 + r.weight_above,
    r.duration_ms, r.flags & 7, r.stack_id
FROM reports r WHERE r.stack_id = ?2 AND r.id > ?1;

-- name: stack_heft
UPDATE stacks SET heft = stack_heft(weighted) WHERE id = ?1 AND heft <> stack_heft(weighted);

-- name: stacks_heft_of
UPDATE stacks SET heft = stack_heft(weighted)
WHERE id BETWEEN ?1 AND ?2 AND given(id, 0) AND heft <> stack_heft(weighted);

-- name: stacks_heft
UPDATE stacks SET heft = stack_heft(weighted)
WHERE cluster_id = ?1 AND heft <> stack_heft(weighted);

-- name: cube_get
SELECT t.stacks, coalesce(c.rolled, 0), c.cube
FROM cluster_totals t LEFT JOIN cluster_cubes c ON c.cluster_id = t.cluster_id
WHERE t.cluster_id = ?1;

-- name: cube_set
INSERT INTO cluster_cubes (cluster_id, rolled, cube) VALUES (?1, ?2, ?3)
ON CONFLICT (cluster_id) DO UPDATE SET rolled = excluded.rolled, cube = excluded.cube;

-- name: rolled_counters_add
INSERT INTO cluster_counters (cluster_id, day, build_id, kind, count, weighted, stall_ms, hist,
    above_ms, hours)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (cluster_id, day, build_id, kind) DO UPDATE
-- include: add_hours;

-- name: rolled_counters_take
UPDATE cluster_counters
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9,
    hours = hours_take(hours, count, weighted, stall_ms, above_ms, ?10, ?5, ?6, ?7, ?9)
WHERE cluster_id = ?1 AND day = ?2 AND build_id = ?3 AND kind = ?4;

-- name: rolled_counters_drop
DELETE FROM cluster_counters
WHERE cluster_id = ?1 AND day = ?2 AND build_id = ?3 AND kind = ?4 AND count <= 0;

-- name: rolled_devices_add
INSERT INTO cluster_devices (cluster_id, week, device_id, os_id, count, weighted, stall_ms, hist,
    above_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (cluster_id, week, device_id, os_id) DO UPDATE
-- include: add_figures;

-- name: rolled_devices_take
UPDATE cluster_devices
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9
WHERE cluster_id = ?1 AND week = ?2 AND device_id = ?3 AND os_id = ?4;

-- name: rolled_devices_drop
DELETE FROM cluster_devices
WHERE cluster_id = ?1 AND week = ?2 AND device_id = ?3 AND os_id = ?4 AND count <= 0;

-- name: rolled_pages_add
INSERT INTO cluster_pages (cluster_id, week, page_id, build_id, count, weighted, stall_ms, hist,
    above_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (cluster_id, week, page_id, build_id) DO UPDATE
-- include: add_figures;

-- name: rolled_pages_take
UPDATE cluster_pages
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9
WHERE cluster_id = ?1 AND week = ?2 AND page_id = ?3 AND build_id = ?4;

-- name: rolled_pages_drop
DELETE FROM cluster_pages
WHERE cluster_id = ?1 AND week = ?2 AND page_id = ?3 AND build_id = ?4 AND count <= 0;

-- name: rolled_hours_drop
UPDATE cluster_counters SET hours = x''
WHERE cluster_id > ?1 AND cluster_id <= ?2 AND day < ?3 AND hours <> x'';

-- === reading =====================================================================================

-- The heft of the stack that so many (?2) are before.
-- name: heft_floor
SELECT heft FROM stacks WHERE cluster_id = ?1 AND heft > 0
ORDER BY heft DESC LIMIT 1 OFFSET ?2;

-- name: stacks_heavy
SELECT id, weighted FROM stacks WHERE cluster_id = ?1 AND heft > 0 AND heft >= ?2;

-- name: stacks_light
SELECT id, weighted FROM stacks INDEXED BY stacks_cluster
WHERE cluster_id = ?1 AND heft = 0 AND count > 0 ORDER BY id LIMIT ?2;

-- name: stack_weighs
SELECT id, weighted FROM stacks WHERE id = ?1;

-- name: cluster_rolled
SELECT rolled FROM cluster_cubes WHERE cluster_id = ?1;

-- name: cubes_all
SELECT cluster_id, cube FROM cluster_cubes ORDER BY cluster_id;

-- Values that a filter names: ?1 their kind, ?2 and ?3 as in the filter, ?4 bundle id.
-- name: dict_named
SELECT id FROM dict
WHERE app_id IN (SELECT id FROM apps WHERE ?4 IS NULL OR bundle_id = ?4) AND kind = ?1
    AND (?2 IS NULL OR value = ?2) AND (?3 IS NULL OR value2 = ?3);

-- Shapes and parameters of figures_*_cluster.
-- name: figures_counters_rolled
SELECT c.build_id, 0, 0, 0, c.day, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, c.hours, c.kind, (SELECT category FROM clusters WHERE id = ?12)
FROM cluster_counters c
WHERE c.cluster_id = ?12
    -- include: cluster_is_of_app
    AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        SELECT id FROM dict
        WHERE app_id = (SELECT app_id FROM clusters WHERE id = ?12) AND kind = 1 AND (?2 IS NULL OR value = ?2)
            AND (?3 IS NULL OR value2 = ?3)));

-- name: figures_devices_rolled
SELECT 0, c.device_id, c.os_id, 0, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, (SELECT category FROM clusters WHERE id = ?12)
FROM cluster_devices c
WHERE c.cluster_id = ?12
    -- include: cluster_is_of_app
    AND c.week >= ?8 AND c.week < ?9
    AND (?4 IS NULL OR c.device_id IN (SELECT id FROM dict
        WHERE app_id = (SELECT app_id FROM clusters WHERE id = ?12) AND kind = 2 AND value = ?4))
    AND (?5 IS NULL OR c.os_id IN (SELECT id FROM dict
        WHERE app_id = (SELECT app_id FROM clusters WHERE id = ?12) AND kind = 3 AND value = ?5));

-- name: figures_pages_rolled
SELECT c.build_id, 0, 0, c.page_id, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, (SELECT category FROM clusters WHERE id = ?12)
FROM cluster_pages c
WHERE c.cluster_id = ?12
    -- include: cluster_is_of_app
    AND c.week >= ?8 AND c.week < ?9
    AND (?6 IS NULL OR c.page_id IN (SELECT id FROM dict
        WHERE app_id = (SELECT app_id FROM clusters WHERE id = ?12) AND kind = 4 AND value = ?6))
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        SELECT id FROM dict
        WHERE app_id = (SELECT app_id FROM clusters WHERE id = ?12) AND kind = 1 AND (?2 IS NULL OR value = ?2)
            AND (?3 IS NULL OR value2 = ?3)));

-- name: category_of
SELECT category FROM clusters WHERE id = ?1;

-- name: app_of
SELECT id FROM apps WHERE bundle_id = ?1;
