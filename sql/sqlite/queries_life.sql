-- Life of clusters; see queries.sql for the form of this file.

-- name: life_resolved
SELECT id, resolved_in, resolved_build FROM clusters WHERE state = 'resolved' ORDER BY id;

-- name: life_cluster
SELECT state, resolved_in, resolved_build, note, app_id, decided, origin_id, provisional,
    created_ms, announced_ms
FROM clusters WHERE id = ?1;

-- name: life_stack_releases
SELECT DISTINCT d.value, d.value2 FROM counters c JOIN dict d ON d.id = c.build_id
WHERE c.stack_id = ?1;

-- name: life_app_releases
SELECT value, value2 FROM dict WHERE app_id = ?1 AND kind = 1;

-- name: life_regress
UPDATE clusters
SET state = 'open', resolved_in = NULL, resolved_build = NULL, regressed_ms = ?2, regressed_in = ?3,
    regressed_build = ?4
WHERE id = ?1;

-- name: life_set
UPDATE clusters
SET state = ?2, resolved_in = ?3, resolved_build = ?4, note = ?5, decided = 1, regressed_ms = NULL,
    regressed_in = NULL, regressed_build = NULL
WHERE id = ?1;

-- name: life_set_note
UPDATE clusters SET note = ?2, decided = 1 WHERE id = ?1;

-- name: life_set_release
UPDATE clusters SET resolved_in = ?2, resolved_build = ?3 WHERE id = ?1;

-- name: life_record
INSERT INTO cluster_history (cluster_id, at_ms, who, kind, from_state, to_state, resolved_in,
    resolved_build, note, version, build)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- The oldest ones beyond the cap go.
-- name: life_history_trim
DELETE FROM cluster_history WHERE cluster_id = ?1 AND id <= (
    SELECT id FROM cluster_history WHERE cluster_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2);

-- name: life_history_move
UPDATE cluster_history SET cluster_id = ?2 WHERE cluster_id = ?1;

-- name: life_history_drop
DELETE FROM cluster_history WHERE cluster_id = ?1;

-- Weight that came to ?1 from other clusters than ?2 that are open and not provisional.
-- name: life_other_sources
SELECT count(*) FROM cluster_moves m JOIN clusters c ON c.id = m.from_id
WHERE m.to_id = ?1 AND m.from_id <> ?2 AND c.state = 'open' AND c.provisional = 0;

-- name: life_inherit
UPDATE clusters
SET state = f.state, resolved_in = f.resolved_in, resolved_build = f.resolved_build, note = f.note,
    regressed_ms = f.regressed_ms, regressed_in = f.regressed_in,
    regressed_build = f.regressed_build, decided = f.decided
FROM (SELECT * FROM clusters WHERE id = ?1) f
WHERE clusters.id = ?2;

-- A cluster that was known is no new one under another id.
-- name: life_inherit_age
UPDATE clusters
SET created_ms = min(clusters.created_ms, f.created_ms),
    announced_ms = coalesce(clusters.announced_ms, f.announced_ms)
FROM (SELECT * FROM clusters WHERE id = ?1) f
WHERE clusters.id = ?2 AND f.provisional = 0;

-- === reading =====================================================================================

-- name: cluster_history_of
SELECT id, at_ms, who, kind, from_state, to_state, resolved_in, resolved_build, note, version, build
FROM cluster_history WHERE cluster_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3;
