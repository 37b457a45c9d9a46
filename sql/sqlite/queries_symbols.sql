-- The symbol store: objects, refits, protected builds, uploads in pieces.

-- === writing =====================================================================================

-- name: object_note
INSERT INTO objects (sha256, bytes, system, used_ms)
VALUES (?1, ?2, (SELECT system FROM uploads WHERE id = ?3), ?4)
ON CONFLICT (sha256) DO UPDATE SET used_ms = max(used_ms, excluded.used_ms);

-- name: slices_found
UPDATE slices SET lost = 0 WHERE uuid = ?1 AND object_sha256 = ?2 AND lost = 1;

-- name: upload_objects_orphan
UPDATE objects SET used_ms = -1
WHERE sha256 IN (SELECT object_sha256 FROM slices WHERE upload_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM slices y WHERE y.object_sha256 = objects.sha256 AND y.upload_id <> ?1);

-- name: symbol_objects_orphan
UPDATE objects SET used_ms = -1
WHERE sha256 IN (SELECT object_sha256 FROM slices WHERE uuid = ?1)
    AND NOT EXISTS (SELECT 1 FROM slices y WHERE y.object_sha256 = objects.sha256 AND y.uuid <> ?1);

-- name: object_used
UPDATE objects SET used_ms = ?2
WHERE used_ms >= 0 AND used_ms < ?2
    AND sha256 IN (SELECT object_sha256 FROM slices WHERE uuid = ?1 AND indexed = 1);

-- name: object_drop
DELETE FROM objects WHERE sha256 = ?1;

-- name: upload_state_of
SELECT state FROM uploads WHERE id = ?1;

-- The same object of another upload takes over.
-- name: upload_heirs
UPDATE slices SET current = 1 WHERE id IN (
    SELECT (SELECT max(y.id) FROM slices y
        WHERE y.uuid = x.uuid AND y.object_sha256 = x.object_sha256 AND y.upload_id <> ?1
            AND y.indexed = 1 AND y.lost = 0)
    FROM slices x WHERE x.upload_id = ?1 AND x.current = 1);

-- name: upload_refits
INSERT INTO refits (uuid, deleted)
SELECT x.uuid, max(x.current = 1 AND NOT EXISTS (
    SELECT 1 FROM slices y WHERE y.uuid = x.uuid AND y.current = 1 AND y.upload_id <> ?1))
FROM slices x WHERE x.upload_id = ?1 AND x.indexed = 1 GROUP BY x.uuid
ON CONFLICT (uuid) DO UPDATE SET deleted = max(deleted, excluded.deleted);

-- name: upload_delete
DELETE FROM uploads WHERE id = ?1;

-- name: open_uploads_of
DELETE FROM open_uploads WHERE upload_id = ?1;

-- name: refit_queue
INSERT INTO refits (uuid, deleted) VALUES (?1, ?2)
ON CONFLICT (uuid) DO UPDATE SET deleted = max(deleted, excluded.deleted);

-- name: refit_done
DELETE FROM refits WHERE uuid = ?1;

-- name: turn_back_queue
INSERT INTO turn_backs (uuid, all_users) VALUES (?1, ?2)
ON CONFLICT (uuid) DO UPDATE SET all_users = max(all_users, excluded.all_users);

-- name: turn_back_done
DELETE FROM turn_backs WHERE uuid = ?1 AND all_users <= ?2;

-- name: slice_lost
UPDATE slices SET lost = 1, current = 0 WHERE id = ?1 AND uuid = ?2;

-- name: slice_use
UPDATE slices SET current = 1, lost = 0,
    index_bytes = CASE ?3 WHEN 0 THEN index_bytes ELSE ?3 END,
    functions = CASE ?3 WHEN 0 THEN functions ELSE ?4 END
WHERE id = ?1 AND uuid = ?2;

-- name: protect
INSERT INTO protected_builds (bundle_id, version, build, os_build, created_ms)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE (SELECT count(*) FROM protected_builds) < ?6
ON CONFLICT DO NOTHING;

-- name: protected_there
SELECT count(*) FROM protected_builds
WHERE bundle_id = ?1 AND version = ?2 AND build = ?3 AND os_build = ?4;

-- name: unprotect
DELETE FROM protected_builds WHERE bundle_id = ?1 AND version = ?2 AND build = ?3 AND os_build = ?4;

-- name: open_upload_find
SELECT id, received FROM open_uploads
WHERE sha256 = ?1 AND size = ?2 AND bundle_id = ?3 AND version = ?4 AND build = ?5 AND os_build = ?6
    AND system = ?7 AND protect = ?8 AND bound = ?9 AND upload_id IS NULL
ORDER BY id LIMIT 1;

-- name: open_upload_touch
UPDATE open_uploads SET touched_ms = ?2 WHERE id = ?1;

-- name: open_upload_sums
SELECT count(*), coalesce(sum(size), 0), coalesce(sum(bundle_id = ?1), 0),
    coalesce(sum(CASE bundle_id WHEN ?1 THEN size END), 0)
FROM open_uploads WHERE upload_id IS NULL;

-- name: open_upload_insert
INSERT INTO open_uploads (sha256, size, bundle_id, version, build, os_build, system, protect, bound, id,
    spool_file, touched_ms, received)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0);

-- name: open_upload_piece
UPDATE open_uploads SET received = ?3, hash_state = ?4, touched_ms = ?5
WHERE id = ?1 AND received = ?2 AND upload_id IS NULL;

-- name: open_upload_there
SELECT 1 FROM open_uploads WHERE id = ?1;

-- name: open_upload_end
UPDATE open_uploads SET upload_id = ?2, hash_state = NULL WHERE id = ?1 AND upload_id IS NULL;

-- name: open_upload_drop
DELETE FROM open_uploads WHERE id = ?1;

-- === reading =====================================================================================

-- name: refits
SELECT uuid, deleted FROM refits ORDER BY uuid LIMIT ?1;

-- name: turn_backs
SELECT uuid, all_users FROM turn_backs ORDER BY uuid LIMIT ?1;

-- Whether an object is of a build that was asked to be kept.
-- fragment: protected
    SELECT 1 FROM slices x JOIN uploads u ON u.id = x.upload_id
        JOIN protected_builds p ON p.bundle_id IN ('', u.bundle_id) AND p.version IN ('', u.version)
            AND p.build IN ('', u.build) AND p.os_build IN ('', u.os_build)
    WHERE x.object_sha256 = o.sha256

-- name: objects_idle
SELECT o.sha256, o.bytes, o.used_ms FROM objects o
WHERE o.used_ms < max(?1, ?2) AND o.used_ms < CASE o.system WHEN 1 THEN ?2 ELSE ?1 END
    AND (o.used_ms < 0 OR NOT EXISTS (
    -- include: protected
    ))
ORDER BY o.used_ms, o.sha256 LIMIT ?3;

-- Whose an object is: the app that all its uploads name; '' otherwise, and for system libraries.
-- fragment: holder
SELECT CASE WHEN min(u.bundle_id) = max(u.bundle_id) AND max(u.system) = 0 THEN min(u.bundle_id)
    ELSE '' END
FROM slices x JOIN uploads u ON u.id = x.upload_id WHERE x.object_sha256 = o.sha256

-- name: object_holders
SELECT holder, sum(bytes) AS held, sum(CASE stays WHEN 1 THEN bytes ELSE 0 END) FROM (
    SELECT o.bytes AS bytes, (
    -- include: holder
    ) AS holder, EXISTS (
    -- include: protected
    ) AS stays FROM objects o)
GROUP BY holder ORDER BY held DESC, holder;

-- name: objects_held
SELECT o.sha256, o.bytes, o.used_ms FROM objects o
WHERE ?1 = (
    -- include: holder
    ) AND NOT EXISTS (
    -- include: protected
    )
ORDER BY o.used_ms, o.sha256 LIMIT ?2;

-- Of what was uploaded for an app; NULL: of all.
-- name: object_totals
SELECT count(*), coalesce(sum(bytes), 0), coalesce(sum(system), 0),
    coalesce(sum(CASE system WHEN 1 THEN bytes ELSE 0 END), 0),
    (SELECT coalesce(sum(x.index_bytes), 0) FROM slices x WHERE x.current = 1 AND (
        ?1 IS NULL OR ?1 = (SELECT bundle_id FROM uploads WHERE id = x.upload_id)))
FROM objects o
WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM slices x JOIN uploads u ON u.id = x.upload_id
    WHERE x.object_sha256 = o.sha256 AND u.bundle_id = ?1);

-- Of all index files, whichever is in use; of one object on a shelf there is one. Of what was uploaded
-- for an app; NULL: of all.
-- name: kept_index_bytes
SELECT coalesce(sum(bytes), 0) FROM (SELECT max(x.index_bytes) AS bytes
    FROM slices x INDEXED BY slices_kept
    WHERE x.indexed = 1 AND x.lost = 0
        AND (?1 IS NULL OR x.upload_id IN (SELECT id FROM uploads WHERE bundle_id = ?1))
    GROUP BY x.object_sha256, x.uuid);

-- name: protected_all
SELECT bundle_id, version, build, os_build, created_ms FROM protected_builds
WHERE ?1 IS NULL OR bundle_id = ?1
ORDER BY bundle_id, version, build, os_build;

-- name: open_upload_get
SELECT id, sha256, size, received, spool_file, bundle_id, version, build, os_build, system, protect,
    hash_state, touched_ms, upload_id, bound
FROM open_uploads WHERE id = ?1;

-- name: open_uploads_before
SELECT id, sha256, size, received, spool_file, bundle_id, version, build, os_build, system, protect,
    hash_state, touched_ms, upload_id, bound
FROM open_uploads WHERE touched_ms < ?1 AND (?3 IS NULL OR id > ?3) ORDER BY id LIMIT ?2;
