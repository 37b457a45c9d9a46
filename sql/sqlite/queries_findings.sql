-- Culprits and deadlocks of reports; see queries.sql for the form.

-- === writing =====================================================================================

-- name: finding_due
INSERT INTO findings_due (report_id, generation) VALUES (?1, 1)
ON CONFLICT (report_id) DO UPDATE SET generation = generation + 1;

-- A stack that samples or threads of reports refer to has new frames.
-- The first one from there on that they do: few do, and the next ones need not be asked for.
-- name: finding_stack_wanted
SELECT min(id) FROM (SELECT min(stack_id) AS id FROM samples WHERE stack_id >= ?1
    UNION ALL SELECT min(stack_id) FROM threads WHERE stack_id >= ?1);

-- name: finding_stack_due
INSERT INTO findings_stacks (stack_id, after_id) VALUES (?1, 0)
ON CONFLICT (stack_id) DO UPDATE SET after_id = 0;

-- name: finding_generation
SELECT generation FROM findings_due WHERE report_id = ?1;

-- name: finding_due_done
DELETE FROM findings_due WHERE report_id = ?1;

-- name: finding_stack_next
SELECT stack_id, after_id FROM findings_stacks ORDER BY stack_id LIMIT 1;

-- Reports of a stack with what says whether findings are wanted.
-- name: finding_stack_reports
SELECT u.report_id, r.flags
FROM (SELECT report_id FROM samples WHERE stack_id = ?1 AND report_id > ?2
      UNION SELECT report_id FROM threads WHERE stack_id = ?1 AND report_id > ?2
      ORDER BY report_id LIMIT ?3) u JOIN reports r ON r.id = u.report_id
ORDER BY u.report_id;

-- name: finding_stack_after
UPDATE findings_stacks SET after_id = ?2 WHERE stack_id = ?1;

-- name: finding_stack_done
DELETE FROM findings_stacks WHERE stack_id = ?1;

-- What a report added to the sums, and the stack of one of its samples (NULL: it has none such).
-- name: finding_report
SELECT r.stack_id, coalesce(o.cluster_id, 0), s.stack_id, coalesce(n.cluster_id, 0), r.flags,
    r.time_ms, r.duration_ms, r.weight_above, r.build_id, r.device_id, r.os_id, r.page_id
FROM reports r JOIN stacks o ON o.id = r.stack_id
    LEFT JOIN samples s ON s.report_id = r.id AND s.seq = ?2 LEFT JOIN stacks n ON n.id = s.stack_id
WHERE r.id = ?1;

-- name: finding_restack
UPDATE reports
SET stack_id = s.stack_id, addresses = s.addresses
FROM samples s WHERE reports.id = ?1 AND s.report_id = ?1 AND s.seq = ?2;

-- name: finding_set
INSERT INTO report_findings (report_id, stack_id, sample, stage_ms, total_ms, confidence, deadlock)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (report_id) DO UPDATE
SET stack_id = excluded.stack_id, sample = excluded.sample, stage_ms = excluded.stage_ms,
    total_ms = excluded.total_ms, confidence = excluded.confidence, deadlock = excluded.deadlock;

-- name: finding_unset
DELETE FROM report_findings WHERE report_id = ?1;

-- === writing: sums that are taken back ===========================================================

-- name: counter_take
UPDATE counters
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9,
    hours = hours_take(hours, count, weighted, stall_ms, above_ms, ?10, ?5, ?6, ?7, ?9)
WHERE stack_id = ?1 AND day = ?2 AND build_id = ?3 AND kind = ?4;

-- name: counter_drop
DELETE FROM counters
WHERE stack_id = ?1 AND day = ?2 AND build_id = ?3 AND kind = ?4 AND count <= 0;

-- name: week_device_take
UPDATE week_devices
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9
WHERE stack_id = ?1 AND week = ?2 AND device_id = ?3 AND os_id = ?4;

-- name: week_device_drop
DELETE FROM week_devices
WHERE stack_id = ?1 AND week = ?2 AND device_id = ?3 AND os_id = ?4 AND count <= 0;

-- name: week_page_take
UPDATE week_pages
SET count = count - ?5, weighted = weighted - ?6, stall_ms = stall_ms - ?7,
    hist = histogram_take(hist, ?8), above_ms = above_ms - ?9
WHERE stack_id = ?1 AND week = ?2 AND page_id = ?3 AND build_id = ?4;

-- name: week_page_drop
DELETE FROM week_pages
WHERE stack_id = ?1 AND week = ?2 AND page_id = ?3 AND build_id = ?4 AND count <= 0;

-- The reports taken away point elsewhere by now. Those that are left say when the first and the
-- last of them was, if it was one of those taken.
-- name: stack_take
UPDATE stacks
SET count = count - ?2, weighted = weighted - ?3, stall_ms = stall_ms - ?4,
    first_seen_ms = CASE WHEN first_seen_ms < ?5 THEN first_seen_ms ELSE
        min(coalesce((SELECT min(time_ms) FROM reports WHERE stack_id = ?1), 9223372036854775807),
            coalesce(gone_first_ms, 9223372036854775807)) END,
    last_seen_ms = CASE WHEN last_seen_ms > ?6 THEN last_seen_ms ELSE
        max(coalesce((SELECT max(time_ms) FROM reports WHERE stack_id = ?1), -9223372036854775808),
            coalesce(gone_last_ms, -9223372036854775808)) END
WHERE id = ?1;

-- name: stack_gone
UPDATE stacks
SET gone_first_ms = min(coalesce(gone_first_ms, r.time_ms), r.time_ms),
    gone_last_ms = max(coalesce(gone_last_ms, r.time_ms), r.time_ms)
FROM reports r WHERE r.id = ?1 AND stacks.id = r.stack_id;

-- === reading =====================================================================================

-- name: findings_due_page
SELECT report_id, generation FROM findings_due ORDER BY report_id LIMIT ?1;

-- name: finding_get
SELECT sample, stage_ms, total_ms, confidence, deadlock FROM report_findings WHERE report_id = ?1;

-- Parameters as for reports_of_stacks, of which and of reports_newest these two are the like.
-- name: deadlocks_of_stacks
SELECT r.id FROM stacks s CROSS JOIN report_findings f ON f.stack_id = s.id
    CROSS JOIN reports r ON r.id = f.report_id
WHERE s.cluster_id = ?12 AND f.deadlock IS NOT NULL AND r.id < ?13
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports
ORDER BY r.id DESC LIMIT ?14;

-- name: deadlocks_newest
SELECT r.id FROM report_findings f CROSS JOIN reports r ON r.id = f.report_id
    CROSS JOIN stacks s ON s.id = r.stack_id
WHERE f.deadlock IS NOT NULL AND f.report_id < ?13 AND (?12 IS NULL OR s.cluster_id = ?12)
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports
ORDER BY f.report_id DESC LIMIT ?14;

-- name: cluster_deadlocks
SELECT count(f.deadlock) FROM stacks s JOIN report_findings f ON f.stack_id = s.id
WHERE s.cluster_id = ?1;

-- name: cluster_findings
SELECT count(f.confidence), coalesce(sum(f.confidence), 0), count(f.deadlock)
FROM stacks s JOIN report_findings f ON f.stack_id = s.id WHERE s.cluster_id = ?1;

-- name: stats_findings
SELECT (SELECT count(*) FROM findings_due) + (SELECT count(*) FROM findings_stacks)
WHERE ?1 IS NULL
UNION ALL
SELECT (SELECT count(*) FROM findings_due d CROSS JOIN reports r ON r.id = d.report_id
            CROSS JOIN stacks s ON s.id = r.stack_id
        WHERE s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    + (SELECT count(*) FROM findings_stacks d CROSS JOIN stacks s ON s.id = d.stack_id
       WHERE s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
WHERE ?1 IS NOT NULL;
