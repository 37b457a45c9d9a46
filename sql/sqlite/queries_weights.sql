-- Statements of flame graphs: what each stack weighs under a filter (?1 to ?11 as
-- storage/sqlite_figures.h says, ?12 cluster or NULL, ?13 category, ?14 state of the cluster).
--
-- The stacks asked for are `s`: by the index of their cluster, or all of them in the order of their
-- ids, so that their counters are read in order, too.

-- name: weights_totals
WITH s AS (
    SELECT * FROM stacks WHERE cluster_id = ?12
    UNION ALL SELECT * FROM stacks WHERE ?12 IS NULL)
SELECT s.id, s.count, s.weighted, s.stall_ms + CASE WHEN s.weighted = s.count * 1000000 THEN 0
    ELSE (SELECT coalesce(sum(above_ms), 0) FROM counters WHERE stack_id = s.id) END
FROM s
WHERE s.state <> 2 AND s.count > 0
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters;

-- name: weights_counters
WITH s AS (
    SELECT * FROM stacks WHERE cluster_id = ?12
    UNION ALL SELECT * FROM stacks WHERE ?12 IS NULL)
SELECT s.id, c.count, c.weighted, c.stall_ms + c.above_ms
FROM s CROSS JOIN counters c ON c.stack_id = s.id
WHERE s.state <> 2
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_counters;

-- name: weights_devices
WITH s AS (
    SELECT * FROM stacks WHERE cluster_id = ?12
    UNION ALL SELECT * FROM stacks WHERE ?12 IS NULL)
SELECT s.id, c.count, c.weighted, c.stall_ms + c.above_ms
FROM s CROSS JOIN week_devices c ON c.stack_id = s.id
WHERE s.state <> 2
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_devices;

-- name: weights_pages
WITH s AS (
    SELECT * FROM stacks WHERE cluster_id = ?12
    UNION ALL SELECT * FROM stacks WHERE ?12 IS NULL)
SELECT s.id, c.count, c.weighted, c.stall_ms + c.above_ms
FROM s CROSS JOIN week_pages c ON c.stack_id = s.id
WHERE s.state <> 2
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_pages;

-- name: weights_reports_cluster
SELECT r.stack_id, 1000000 + r.weight_above, r.duration_ms
FROM stacks s CROSS JOIN reports r ON r.stack_id = s.id
WHERE s.cluster_id = ?12 AND s.state <> 2
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_reports;

-- name: weights_reports_app
SELECT r.stack_id, 1000000 + r.weight_above, r.duration_ms
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
WHERE s.state <> 2
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_reports;

-- Reports with samples, a row a sample; those of a report one after the other, in their order.
-- name: weights_samples_cluster
SELECT r.id, r.stack_id, 1000000 + r.weight_above, r.duration_ms, sa.stack_id, sa.offset_ms,
    sa.repeat_count
FROM stacks s CROSS JOIN reports r ON r.stack_id = s.id CROSS JOIN samples sa ON sa.report_id = r.id
WHERE s.cluster_id = ?12 AND s.state <> 2 AND r.flags & 32 <> 0 AND r.duration_ms > 0
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_reports;

-- From the samples on: few reports have some.
-- name: weights_samples_app
SELECT r.id, r.stack_id, 1000000 + r.weight_above, r.duration_ms, sa.stack_id, sa.offset_ms,
    sa.repeat_count
FROM samples sa CROSS JOIN reports r ON r.id = sa.report_id CROSS JOIN stacks s ON s.id = r.stack_id
WHERE sa.report_id >= ?11 AND s.state <> 2 AND r.duration_ms > 0
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_clusters
    -- include: filter_values;

-- Frames of stacks from one id to another.
-- name: weights_stacks
SELECT stack_id, raw, resolved FROM stack_data WHERE stack_id >= ?1 AND stack_id <= ?2
ORDER BY stack_id;

-- name: names_between
SELECT id, value FROM names WHERE id >= ?1 AND id <= ?2;
