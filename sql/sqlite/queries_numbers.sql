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

-- === usage =======================================================================================

-- name: usage_device_known
SELECT 1 FROM usage_devices WHERE app_id = ?1 AND day = ?2 AND device_id = ?3 AND os_id = ?4;

-- name: usage_page_known
SELECT 1 FROM usage_pages WHERE app_id = ?1 AND day = ?2 AND page_id = ?3 AND build_id = ?4;

-- Sums stop growing at USAGE_SUM_MAX.
-- name: usage_device_add
INSERT INTO usage_devices (app_id, day, device_id, os_id, foreground_ms, launches)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (app_id, day, device_id, os_id) DO UPDATE
SET foreground_ms = min(foreground_ms + excluded.foreground_ms, 4000000000000000000),
    launches = min(launches + excluded.launches, 4000000000000000000);

-- name: usage_page_add
INSERT INTO usage_pages (app_id, day, page_id, build_id, foreground_ms, launches)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (app_id, day, page_id, build_id) DO UPDATE
SET foreground_ms = min(foreground_ms + excluded.foreground_ms, 4000000000000000000),
    launches = min(launches + excluded.launches, 4000000000000000000);

-- name: usage_devices_of
SELECT 0, u.device_id, u.os_id, 0, u.day, u.foreground_ms, u.launches
FROM usage_devices u
WHERE u.app_id IN (SELECT id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1)
    AND u.day >= ?8 AND u.day < ?9
    AND (?4 IS NULL OR u.device_id IN (
        -- include: dict_of_apps
        AND kind = 2 AND value = ?4))
    AND (?5 IS NULL OR u.os_id IN (
        -- include: dict_of_apps
        AND kind = 3 AND value = ?5));

-- name: usage_pages_of
SELECT u.build_id, 0, 0, u.page_id, u.day, u.foreground_ms, u.launches
FROM usage_pages u
WHERE u.app_id IN (SELECT id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1)
    AND u.day >= ?8 AND u.day < ?9
    AND (?6 IS NULL OR u.page_id IN (
        -- include: dict_of_apps
        AND kind = 4 AND value = ?6))
    AND ((?2 IS NULL AND ?3 IS NULL) OR u.build_id IN (
        -- include: dict_of_apps
        AND kind = 1 AND (?2 IS NULL OR value = ?2) AND (?3 IS NULL OR value2 = ?3)));

-- === figures of many clusters ====================================================================

-- As figures_*_cluster; ?13 category, ?14 state.
-- name: figures_counters_clusters
SELECT c.build_id, 0, 0, 0, c.day, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, c.hours, c.kind, k.category
FROM clusters k JOIN stacks s ON s.cluster_id = k.id JOIN counters c ON c.stack_id = s.id
WHERE (?1 IS NULL OR k.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND (?13 IS NULL OR k.category = ?13) AND (?14 IS NULL OR k.state = ?14)
    -- include: filter_counters;

-- name: figures_devices_clusters
SELECT 0, c.device_id, c.os_id, 0, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, k.category
FROM clusters k JOIN stacks s ON s.cluster_id = k.id JOIN week_devices c ON c.stack_id = s.id
WHERE (?1 IS NULL OR k.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND (?13 IS NULL OR k.category = ?13) AND (?14 IS NULL OR k.state = ?14)
    -- include: filter_devices;

-- name: figures_pages_clusters
SELECT c.build_id, 0, 0, c.page_id, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, k.category
FROM clusters k JOIN stacks s ON s.cluster_id = k.id JOIN week_pages c ON c.stack_id = s.id
WHERE (?1 IS NULL OR k.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND (?13 IS NULL OR k.category = ?13) AND (?14 IS NULL OR k.state = ?14)
    -- include: filter_pages;

-- name: figures_reports_clusters
SELECT r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms, 1, 1000000 + r.weight_above,
    r.duration_ms, r.cpu, r.memory, r.path_id, r.flags & 7, k.category
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
    CROSS JOIN clusters k ON k.id = s.cluster_id
WHERE (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND (?13 IS NULL OR k.category = ?13) AND (?14 IS NULL OR k.state = ?14)
    -- include: filter_reports;

-- === context =====================================================================================

-- name: report_newest
SELECT max(id) FROM reports;

-- Columns as of figures_reports_clusters, then page and path.
-- name: figures_report
SELECT r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms, 1, 1000000 + r.weight_above,
    r.duration_ms, r.cpu, r.memory, r.path_id, r.flags & 7, coalesce(k.category, ''), p.value, w.value
FROM reports r JOIN stacks s ON s.id = r.stack_id LEFT JOIN clusters k ON k.id = s.cluster_id
    JOIN dict p ON p.id = r.page_id JOIN dict w ON w.id = r.path_id
WHERE r.id = ?1;

-- === comparing ===================================================================================

-- name: clusters_hidden
SELECT id FROM clusters
WHERE hidden = 1 AND app_id IN (SELECT id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1) ORDER BY id;

-- ?12 and ?13: the versions.
-- name: compare_app
SELECT 0, d.value = ?13 AS side, c.day, sum(c.count), sum(c.weighted), sum(c.stall_ms),
    sum(c.above_ms)
FROM apps a JOIN counters c ON c.stack_id = a.total_id JOIN dict d ON d.id = c.build_id
WHERE a.bundle_id = ?1 AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
    AND d.value IN (?12, ?13)
GROUP BY side, c.day ORDER BY side, c.day;

-- name: compare_clusters
SELECT s.cluster_id, b.side, c.day, sum(c.count), sum(c.weighted), sum(c.stall_ms), sum(c.above_ms)
FROM stacks s JOIN counters c ON c.stack_id = s.id
    JOIN (SELECT id, value = ?13 AS side FROM dict
          WHERE kind = 1 AND app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
              AND value IN (?12, ?13)) b ON b.id = c.build_id
WHERE s.cluster_id IS NOT NULL AND s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
    AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
GROUP BY s.cluster_id, b.side, c.day ORDER BY s.cluster_id, b.side, c.day;
