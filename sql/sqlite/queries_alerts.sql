-- Alerts; see queries.sql for the form of this file.

-- name: alert_rules_get
SELECT revision, document, since_ms, updated_ms, who FROM alert_rules WHERE id = 1;

-- name: alert_rules_set
INSERT INTO alert_rules (id, revision, document, since_ms, updated_ms, who)
VALUES (1, ?1, ?2, ?3, ?3, ?4)
ON CONFLICT (id) DO UPDATE
SET revision = excluded.revision, document = excluded.document, updated_ms = excluded.updated_ms,
    who = excluded.who;

-- name: alert_latest
SELECT created_ms FROM alerts
WHERE kind = ?1 AND app_id = ?2 AND cluster_id = ?3 AND subject = ?4
ORDER BY created_ms DESC LIMIT 1;

-- name: alert_insert
INSERT INTO alerts (kind, app_id, cluster_id, subject, body, created_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: alert_announced
UPDATE clusters SET announced_ms = ?2 WHERE id = ?1 AND announced_ms IS NULL;

-- name: delivery_insert
INSERT INTO deliveries (alert_id, target, state, attempts, next_ms, status)
VALUES (?1, ?2, 0, 0, ?3, 0);

-- name: delivery_set
UPDATE deliveries
SET state = ?2, attempts = attempts + ?3, next_ms = ?4, status = ?5, error = ?6, done_ms = ?7
WHERE id = ?1 AND state = 0;

-- name: alerts_move
UPDATE alerts SET cluster_id = ?2 WHERE cluster_id = ?1 AND cluster_id <> 0;

-- "+": by the index of their times, not by their ids through all that are kept.
-- name: alerts_expire
DELETE FROM alerts WHERE id IN (
    SELECT a.id FROM alerts a
    WHERE a.created_ms < ?1
        AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.alert_id = a.id AND d.state = 0)
    ORDER BY +a.id LIMIT 500);

-- === reading =====================================================================================

-- name: deliveries_due
SELECT d.id, d.alert_id, a.kind, d.target, d.attempts, a.created_ms, a.body
FROM deliveries d JOIN alerts a ON a.id = d.alert_id
WHERE d.state = 0 AND d.next_ms <= ?1 ORDER BY d.next_ms, d.id LIMIT ?2;

-- name: deliveries_next
SELECT min(next_ms) FROM deliveries WHERE state = 0;

-- name: deliveries_count
SELECT count(*) FROM deliveries WHERE state = 0;

-- name: deliveries_list
SELECT d.id, d.alert_id, a.kind, coalesce(p.bundle_id, ''), a.cluster_id, a.subject, d.target,
    d.state, d.attempts, d.next_ms, d.done_ms, d.status, d.error, a.created_ms, a.body
FROM deliveries d JOIN alerts a ON a.id = d.alert_id LEFT JOIN apps p ON p.id = a.app_id
WHERE d.id < ?1 AND (?2 < 0 OR d.state = ?2) AND (?3 IS NULL OR p.bundle_id = ?3)
    AND (?4 = 0 OR a.id = ?4)
ORDER BY d.id DESC LIMIT ?5;

-- name: alert_regressions
SELECT h.id, h.at_ms, h.version, h.build, h.resolved_in, h.resolved_build, c.id, p.bundle_id,
    c.title, c.function, c.file, c.image, c.category, c.owner, t.count, t.first_seen_ms,
    c.created_ms, c.provisional = 0 AND c.hidden = 0 AND c.state = 'open'
        AND c.id NOT IN (SELECT id FROM approximate_clusters)
FROM cluster_history h JOIN clusters c ON c.id = h.cluster_id
    JOIN cluster_totals t ON t.cluster_id = c.id JOIN apps p ON p.id = c.app_id
WHERE h.kind = 1 AND h.id > ?1 ORDER BY h.id LIMIT ?2;

-- Only those that had no alert, in the order of their index; joined in this order.
-- name: alert_new_clusters
SELECT c.id, p.bundle_id, c.title, c.function, c.file, c.image, c.category, c.owner, t.count,
    t.first_seen_ms, c.created_ms
FROM clusters c INDEXED BY clusters_created CROSS JOIN cluster_totals t ON t.cluster_id = c.id
    CROSS JOIN apps p ON p.id = c.app_id
WHERE c.announced_ms IS NULL AND c.created_ms >= ?1 AND (c.created_ms > ?1 OR c.id > ?4)
    AND c.provisional = 0 AND c.hidden = 0
    AND c.state = 'open' AND t.count >= ?2
    AND c.id NOT IN (SELECT id FROM approximate_clusters)
    AND NOT EXISTS (
        SELECT 1 FROM cluster_moves m JOIN clusters f ON f.id = m.from_id
        WHERE m.to_id = c.id AND f.provisional = 0)
ORDER BY c.created_ms, c.id LIMIT ?3;

-- name: alert_cluster
SELECT c.id, p.bundle_id, c.title, c.function, c.file, c.image, c.category, c.owner, t.count,
    t.first_seen_ms, c.created_ms
FROM clusters c JOIN cluster_totals t ON t.cluster_id = c.id JOIN apps p ON p.id = c.app_id
WHERE c.id = ?1;

-- name: report_received
SELECT time_ms + delay_ms FROM reports WHERE id >= ?1 ORDER BY id LIMIT 1;

-- name: alert_recent
SELECT s.cluster_id, r.time_ms / 60000, count(*)
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id JOIN clusters c ON c.id = s.cluster_id
WHERE r.id >= ?1 AND r.time_ms >= ?2 AND r.time_ms < ?3 AND c.provisional = 0 AND c.hidden = 0
    AND c.state <> 'ignored' AND c.id NOT IN (SELECT id FROM approximate_clusters)
GROUP BY 1, 2 ORDER BY 1, 2;

-- Clusters that alerts are of, seen since then; by app, the last seen first.
-- name: alert_active
SELECT c.id, c.app_id, t.stacks
FROM cluster_totals t CROSS JOIN clusters c ON c.id = t.cluster_id
WHERE t.last_seen_ms >= ?1 AND c.provisional = 0 AND c.hidden = 0 AND c.state <> 'ignored'
    AND c.id NOT IN (SELECT id FROM approximate_clusters)
ORDER BY c.app_id, t.last_seen_ms DESC, c.id;

-- So many reports of a cluster's stacks at most, of those from ?2 to before ?3.
-- name: alert_cluster_minutes
SELECT ?1, time_ms / 60000 AS minute, count(*)
FROM (SELECT r.time_ms FROM stacks s CROSS JOIN reports r ON r.stack_id = s.id
      WHERE s.cluster_id = ?1 AND s.last_seen_ms >= ?4 AND r.id >= ?2 AND r.id < ?3 LIMIT ?5)
GROUP BY minute;

-- A stack's rows of the days asked for, not all rows of all stacks.
-- name: alert_symbolication
SELECT p.bundle_id, c.day, sum(c.count), sum(c.count * s.app_frames), sum(c.count * s.app_named)
FROM stacks s CROSS JOIN counters c ON c.stack_id = s.id JOIN apps p ON p.id = s.app_id
WHERE s.state < 2 AND s.app_frames > 0 AND c.day >= ?1
GROUP BY p.id, c.day ORDER BY p.id, c.day;
