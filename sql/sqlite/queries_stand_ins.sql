-- Stand-ins for symbol files that never came (storage/op_stand_ins.h), retention by size.

-- === writing =====================================================================================

-- name: stand_in_get
SELECT stand_in, by_hand FROM stand_ins WHERE uuid = ?1;

-- name: stand_in_count
SELECT count(*) FROM stand_ins;

-- The image is known by a name or an architecture that no index of the other UUID has. App by app,
-- as the key of images goes: there are few apps and many images.
-- name: stand_in_differs
SELECT 1 FROM apps a CROSS JOIN images i ON i.app_id = a.id
WHERE i.uuid = ?1 AND i.name <> '' AND NOT EXISTS (
    SELECT 1 FROM slices x
    WHERE x.uuid IN (SELECT ?2 UNION ALL SELECT shelf FROM own_shelves WHERE image = ?2)
        AND x.current = 1 AND x.name = i.name
        AND (i.arch IS NULL OR x.arch = '' OR x.arch = i.arch));

-- name: stand_in_set
INSERT INTO stand_ins (uuid, stand_in, by_hand, created_ms) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (uuid) DO UPDATE SET stand_in = excluded.stand_in, by_hand = excluded.by_hand,
    created_ms = excluded.created_ms;

-- name: stand_in_delete
DELETE FROM stand_ins WHERE uuid = ?1;

-- name: stand_in_repend
UPDATE stacks SET state = 0, generation = generation + 1
WHERE state IN (0, 1) AND id IN (SELECT stack_id FROM stack_missing WHERE uuid = ?1);

-- Stacks whose frames an index was a stand-in for, of whom it serves.
-- name: stand_in_users_repend
UPDATE stacks SET state = 0, generation = generation + 1
WHERE state IN (0, 1) AND id IN (
    SELECT m.stack_id FROM stand_ins t JOIN stack_missing m ON m.uuid = t.uuid
    WHERE t.stand_in = coalesce((SELECT image FROM own_shelves WHERE shelf = ?1), ?1))
    AND (NOT EXISTS (SELECT 1 FROM own_shelves WHERE shelf = ?1) OR app_id = (
        SELECT a.id FROM own_shelves o JOIN apps a ON a.bundle_id = o.bundle_id
        WHERE o.shelf = ?1));

-- === reading =====================================================================================

-- name: stand_ins_all
SELECT uuid, stand_in, by_hand, created_ms FROM stand_ins
WHERE ?1 IS NULL OR uuid = ?1 ORDER BY uuid;

-- Of every upload that brought the object whose index is in use.
-- name: missing_candidates
SELECT coalesce((SELECT image FROM own_shelves WHERE shelf = c.uuid), c.uuid), u.version, u.build,
    c.has_dwarf, x.id
FROM slices c CROSS JOIN slices x ON x.uuid = c.uuid AND x.object_sha256 = c.object_sha256
    AND x.indexed = 1 AND x.lost = 0
JOIN uploads u ON u.id = x.upload_id
WHERE c.current = 1 AND c.name = ?1 AND c.name <> '' AND (?2 IS NULL OR c.arch = ?2)
    AND u.bundle_id = ?3 AND u.bundle_id <> '' AND u.version <> ''
ORDER BY x.id DESC;

-- name: quick_check
PRAGMA quick_check(1);

-- name: used_bytes
SELECT (c.page_count - f.freelist_count) * s.page_size
FROM pragma_page_count c, pragma_freelist_count f, pragma_page_size s;

-- A pending stack that no raw row points to.
-- name: stack_left
INSERT INTO stacks_left SELECT id FROM stacks
WHERE id = ?1 AND state = 0 AND NOT EXISTS (SELECT 1 FROM reports WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM samples WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM threads WHERE stack_id = ?1)
ON CONFLICT DO NOTHING;

-- name: stack_left_done
DELETE FROM stacks_left WHERE stack_id = ?1;

-- name: stacks_left
SELECT l.stack_id FROM stacks_left l JOIN stacks s ON s.id = l.stack_id
WHERE s.state = 1 ORDER BY l.stack_id LIMIT ?1;
