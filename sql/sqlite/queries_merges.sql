-- Statements on parts, merges, splits and epochs (storage/op_merges.h, storage/read_merges.h).

-- === writing ======================================================================================

-- name: rule_next
SELECT into_key FROM cluster_rules
WHERE app_id = ?1 AND from_key = ?2 AND kind = 0 AND undone_ms IS NULL;

-- name: overlay_version
SELECT version FROM cluster_overlays WHERE app_id = ?1;

-- name: stack_rekey
UPDATE stacks SET cluster_id = ?2, part_key = ?3, provisional = ?4 WHERE id = ?1;

-- name: stack_part
SELECT coalesce(s.part_key, c.key) = ?2
FROM stacks s LEFT JOIN clusters c ON c.id = s.cluster_id WHERE s.id = ?1;

-- name: stack_variant
UPDATE stack_data SET variant = ?2 WHERE stack_id = ?1;

-- name: stack_frames
UPDATE stack_data SET resolved = ?2 WHERE stack_id = ?1;

-- name: alias_of_key
SELECT alias FROM cluster_aliases WHERE app_id = ?1 AND key = ?2 ORDER BY alias LIMIT 1;

-- name: alias_drop
DELETE FROM cluster_aliases WHERE alias = ?1;

-- name: cluster_facts
SELECT c.app_id, c.kind, c.provisional, c.hidden, c.key, c.title, a.bundle_id, c.id
FROM clusters c JOIN apps a ON a.id = c.app_id
WHERE c.id = coalesce((SELECT cluster_id FROM cluster_aliases WHERE alias = ?1), ?1);

-- name: cluster_title
SELECT title, state FROM clusters WHERE app_id = ?1 AND key = ?2;

-- name: cluster_reopen
UPDATE clusters SET state = ?3, resolved_in = CASE WHEN ?3 = 'resolved' THEN resolved_in END,
    resolved_build = CASE WHEN ?3 = 'resolved' THEN resolved_build END
WHERE app_id = ?1 AND key = ?2 AND state <> ?3;

-- name: rule_insert
INSERT INTO cluster_rules (app_id, kind, from_key, into_key, depth, by_hand, score, epoch,
    created_ms, from_title, into_title)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: rule_get
SELECT r.app_id, r.kind, r.from_key, r.into_key, r.by_hand, r.undone_ms IS NOT NULL, a.bundle_id
FROM cluster_rules r JOIN apps a ON a.id = r.app_id WHERE r.id = ?1;

-- name: rule_of_part
SELECT id, by_hand, into_key, from_title, into_title FROM cluster_rules
WHERE app_id = ?1 AND from_key = ?2 AND kind = 0 AND undone_ms IS NULL;

-- name: rule_undo
UPDATE cluster_rules SET undone_ms = ?2 WHERE id = ?1 AND undone_ms IS NULL;

-- name: rule_undo_epochs
UPDATE cluster_rules SET undone_ms = ?2
WHERE id = ?1 AND undone_ms IS NULL AND by_hand = 0 AND kind = 0;

-- name: rule_carry
UPDATE cluster_rules SET from_key = ?2, into_key = ?3 WHERE id = ?1;

-- name: rule_carry_again
INSERT INTO cluster_rules (app_id, kind, from_key, into_key, depth, by_hand, score, epoch,
    created_ms, from_title, into_title)
SELECT app_id, kind, ?2, ?3, depth, by_hand, score, epoch, created_ms, from_title, into_title
FROM cluster_rules WHERE id = ?1;

-- name: alias_carry
UPDATE cluster_aliases SET key = ?3 WHERE app_id = ?1 AND key = ?2;

-- name: rule_score
UPDATE cluster_rules SET score = ?4
WHERE app_id = ?1 AND from_key = ?2 AND into_key = ?3 AND kind = 0 AND by_hand = 0
    AND undone_ms IS NULL;

-- name: rules_undo_depth
UPDATE cluster_rules SET undone_ms = ?3
WHERE app_id = ?1 AND from_key = ?2 AND kind = 2 AND undone_ms IS NULL;

-- name: rules_apart
SELECT id, from_key, into_key FROM cluster_rules
WHERE app_id = ?1 AND kind = 1 AND undone_ms IS NULL ORDER BY id;

-- name: rules_forget
DELETE FROM cluster_rules WHERE id IN (
    SELECT id FROM cluster_rules WHERE undone_ms < ?1 LIMIT ?2);

-- name: part_app
SELECT 1 FROM stacks WHERE app_id = ?1 AND part_key = ?2
UNION ALL SELECT 1 FROM clusters c JOIN stacks s ON s.cluster_id = c.id
WHERE c.app_id = ?1 AND c.key = ?2 AND s.part_key IS NULL
LIMIT 1;

-- name: overlay_put
INSERT INTO cluster_overlays (app_id, version, epoch, data)
VALUES (?1, (SELECT coalesce(max(version), 0) + 1 FROM cluster_overlays), ?2, ?3)
ON CONFLICT (app_id) DO UPDATE
SET version = excluded.version, epoch = excluded.epoch, data = excluded.data;

-- name: overlay_epoch
UPDATE cluster_overlays SET epoch = ?2 WHERE app_id = ?1;

-- name: related_drop
DELETE FROM cluster_related WHERE app_id = ?1;

-- name: related_insert
INSERT INTO cluster_related (app_id, key, other_key, score) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (app_id, key, other_key) DO UPDATE SET score = max(score, excluded.score);

-- name: work_apps
SELECT id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1 ORDER BY id;

-- name: work_restart
UPDATE cluster_work
SET attempt = attempt + 1, phase = min(phase, ?5), after_id = 0, seen = 0, changed = 0, total = 0, requested_ms = ?4,
    started_ms = NULL
WHERE app_id = ?1 AND kind = ?2 AND cluster_id = ?3 AND finished_ms IS NULL;

-- name: work_insert
INSERT INTO cluster_work (app_id, kind, cluster_id, attempt, phase, after_id, seen, changed, total,
    rules_version, requested_ms)
VALUES (?1, ?2, ?3, 0, ?5, 0, 0, 0, 0, '', ?4);

-- name: work_progress
UPDATE cluster_work
SET phase = ?2, after_id = ?3, seen = ?4, changed = ?5, total = ?6, rules_version = ?7,
    started_ms = coalesce(started_ms, ?8), finished_ms = CASE WHEN ?9 THEN ?8 END
WHERE id = ?1 AND attempt = ?10 AND finished_ms IS NULL;

-- name: work_step
UPDATE cluster_work SET after_id = ?2, seen = seen + ?3, changed = changed + ?4
WHERE id = ?1 AND attempt = ?5 AND finished_ms IS NULL;

-- Of work that is done the newest of a kind and app is remembered, of alignments none.
-- name: work_forget
DELETE FROM cluster_work
WHERE finished_ms IS NOT NULL AND (kind = 0 OR EXISTS (
    SELECT 1 FROM cluster_work n
    WHERE n.app_id = cluster_work.app_id AND n.kind = cluster_work.kind AND n.id > cluster_work.id
        AND n.finished_ms IS NOT NULL));

-- === reading ======================================================================================

-- name: overlays_after
SELECT o.app_id, a.bundle_id, o.version, o.epoch, o.data
FROM cluster_overlays o JOIN apps a ON a.id = o.app_id WHERE o.version > ?1 ORDER BY o.version;

-- name: keyed_of_app
SELECT s.id, s.app_id, s.generation, s.give_up, s.provisional, s.weighted, s.hash,
    coalesce(s.part_key, c.key), c.key, c.rules_version, d.raw, d.resolved
FROM stacks s JOIN clusters c ON c.id = s.cluster_id JOIN stack_data d ON d.stack_id = s.id
WHERE s.id > ?2 AND s.state = 1
    AND s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
ORDER BY s.id LIMIT ?3;

-- name: keyed_of_cluster
SELECT s.id, s.app_id, s.generation, s.give_up, s.provisional, s.weighted, s.hash,
    coalesce(s.part_key, c.key), c.key, c.rules_version, d.raw, d.resolved
FROM stacks s JOIN clusters c ON c.id = s.cluster_id JOIN stack_data d ON d.stack_id = s.id
WHERE s.cluster_id = ?4 AND s.id > ?2 AND s.state = 1
    AND s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
ORDER BY s.id LIMIT ?3;

-- name: stack_total
SELECT count(*) FROM stacks
WHERE state = 1 AND app_id = (SELECT id FROM apps WHERE bundle_id = ?1);

-- name: stack_floor
SELECT weighted, hash FROM stacks
WHERE state = 1 AND app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
ORDER BY weighted DESC, hash LIMIT 1 OFFSET ?2;

-- name: rules_page
SELECT r.id, a.bundle_id, r.kind, r.from_key, r.into_key, r.depth, r.by_hand, r.score, r.epoch,
    r.created_ms, r.undone_ms, r.from_title, r.into_title,
    coalesce((SELECT cluster_id FROM (
            SELECT * FROM (SELECT s.id, s.cluster_id FROM stacks s
             WHERE s.app_id = r.app_id AND s.part_key = r.from_key ORDER BY s.id LIMIT 1)
            UNION ALL SELECT * FROM (SELECT s.id, s.cluster_id
             FROM clusters c JOIN stacks s ON s.cluster_id = c.id
             WHERE c.app_id = r.app_id AND c.key = r.from_key AND s.part_key IS NULL
             ORDER BY s.id LIMIT 1))
         ORDER BY id LIMIT 1),
        CASE WHEN r.kind = 2 THEN (SELECT l.cluster_id FROM cluster_aliases l
         WHERE l.app_id = r.app_id AND l.key = r.from_key ORDER BY l.alias LIMIT 1) END)
FROM cluster_rules r JOIN apps a ON a.id = r.app_id
WHERE r.id < ?2 AND (?1 IS NULL OR a.bundle_id = ?1) AND (?3 <> 0 OR r.undone_ms IS NULL)
ORDER BY r.id DESC LIMIT ?4;

-- name: parts_of_cluster
SELECT coalesce(s.part_key, c.key) AS part, s.part_key IS NULL, sum(s.count > 0),
    sum(s.count) AS reports,
    c.title,
    r.id, a.bundle_id, r.kind, r.from_key, r.into_key, r.depth, r.by_hand, r.score, r.epoch,
    r.created_ms, r.undone_ms, r.from_title, r.into_title
FROM clusters c JOIN apps a ON a.id = c.app_id JOIN stacks s ON s.cluster_id = c.id
    LEFT JOIN cluster_rules r ON r.app_id = c.app_id AND r.from_key = coalesce(s.part_key, c.key)
        AND r.kind = 0 AND r.undone_ms IS NULL
WHERE c.id = ?1 GROUP BY part ORDER BY reports DESC, part LIMIT ?2;

-- name: related_page
SELECT r.key, r.other_key, r.score, coalesce(o.id, 0), o.title
FROM cluster_related r LEFT JOIN clusters o ON o.app_id = r.app_id AND o.key = r.other_key
WHERE r.app_id = (SELECT id FROM apps WHERE bundle_id = ?1)
    AND (?2 = 0 OR r.key = (SELECT key FROM clusters WHERE id = ?2))
ORDER BY r.key, r.other_key;

-- name: work_open
SELECT w.id, a.bundle_id, w.kind, w.cluster_id, w.phase, w.after_id, w.seen, w.changed, w.total,
    w.rules_version, w.requested_ms, w.started_ms, w.finished_ms, w.attempt
FROM cluster_work w JOIN apps a ON a.id = w.app_id WHERE w.finished_ms IS NULL ORDER BY w.id;

-- name: work_last
SELECT w.id, a.bundle_id, w.kind, w.cluster_id, w.phase, w.after_id, w.seen, w.changed, w.total,
    w.rules_version, w.requested_ms, w.started_ms, w.finished_ms, w.attempt
FROM cluster_work w JOIN apps a ON a.id = w.app_id
WHERE w.kind > 0 AND (?1 IS NULL OR a.bundle_id = ?1)
    AND w.id = (SELECT max(n.id) FROM cluster_work n WHERE n.app_id = w.app_id AND n.kind = w.kind)
ORDER BY a.bundle_id, w.kind;

-- name: cluster_apps
SELECT a.bundle_id,
    (SELECT max(w.finished_ms) FROM cluster_work w WHERE w.app_id = a.id AND w.kind > 0),
    EXISTS (SELECT 1 FROM clusters c WHERE c.app_id = a.id AND c.rules_version <> ?1)
FROM apps a ORDER BY a.bundle_id;
