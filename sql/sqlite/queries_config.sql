-- Remote configuration of the SDK: revisions.

-- name: config_newest
SELECT max(revision) FROM configs WHERE bundle_id = ?1;

-- name: config_insert
INSERT INTO configs (bundle_id, revision, body, note, token_id, created_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: config_prune
DELETE FROM configs WHERE bundle_id = ?1 AND revision <= ?2;

-- name: config_get
SELECT c.revision, c.body, c.note, t.name, c.created_ms
FROM configs c LEFT JOIN tokens t ON t.id = c.token_id
WHERE c.bundle_id = ?1 AND (c.revision = ?2 OR ?2 = 0) ORDER BY c.revision DESC LIMIT 1;

-- name: config_history
SELECT c.revision, NULL, c.note, t.name, c.created_ms
FROM configs c LEFT JOIN tokens t ON t.id = c.token_id
WHERE c.bundle_id = ?1 ORDER BY c.revision DESC;
