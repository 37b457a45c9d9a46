-- Stand-ins for symbol files that never came (storage/op_stand_ins.h), retention by size.

-- === writing =====================================================================================

-- ?2 is the app that decides, '' all of them.

-- How many there are that the op is about, and whether it would change anything: ?3 stands in for ?2
-- alone.
-- name: stand_ins_at
SELECT count(*), coalesce(sum(bundle_id = ?2 AND stand_in = ?3), 0) FROM stand_ins
WHERE uuid = ?1 AND (?2 = '' OR bundle_id = ?2);

-- name: stand_in_there
SELECT 1 FROM stand_ins WHERE uuid = ?1 AND bundle_id IN ('', ?2) LIMIT 1;

-- Slices of an image ?1 in use, that may stand in.
-- fragment: decided
    x.current = 1 AND x.uuid IN (SELECT ?1 UNION ALL
        SELECT shelf FROM own_shelves WHERE image = ?1 AND (?2 = '' OR bundle_id = ?2))

-- name: stand_in_indexed
SELECT 1 FROM slices x WHERE
    -- include: decided
LIMIT 1;

-- name: stand_in_count
SELECT count(*) FROM stand_ins;

-- The image ?3 is known by a name or an architecture that no index of the other UUID has; an index
-- without a name has the one that reports of the app say, or any. App by app, as the key of images
-- goes: there are few apps and many images.
-- name: stand_in_differs
SELECT 1 FROM apps a CROSS JOIN images i ON i.app_id = a.id
WHERE i.uuid = ?3 AND i.name <> '' AND (?2 = '' OR a.bundle_id = ?2) AND NOT EXISTS (
    SELECT 1 FROM slices x WHERE
        -- include: decided
        AND (x.name = i.name OR (x.name = '' AND NOT EXISTS (
            SELECT 1 FROM images k
            WHERE k.app_id = a.id AND k.uuid = ?1 AND k.name NOT IN ('', i.name))))
        AND (i.arch IS NULL OR x.arch = '' OR x.arch = i.arch));

-- name: stand_in_set
INSERT INTO stand_ins (uuid, bundle_id, stand_in, by_hand, created_ms) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: stand_in_delete
DELETE FROM stand_ins WHERE uuid = ?1 AND (?2 = '' OR bundle_id = ?2);

-- An index came to the shelf ?1.
-- name: stand_in_end
DELETE FROM stand_ins
WHERE uuid =
        -- include: of_shelf_image
    AND bundle_id = coalesce((SELECT bundle_id FROM own_shelves WHERE shelf = ?1), bundle_id);

-- name: stand_in_repend
UPDATE stacks SET state = 0, generation = generation + 1
WHERE state IN (0, 1) AND id IN (SELECT stack_id FROM stack_missing WHERE uuid = ?1)
    AND (?2 = '' OR app_id = (SELECT id FROM apps WHERE bundle_id = ?2));

-- Stacks whose frames an index was a stand-in for, of whom it serves.
-- name: stand_in_users_repend
UPDATE stacks SET state = 0, generation = generation + 1
WHERE state IN (0, 1) AND id IN (
    SELECT m.stack_id FROM stand_ins t JOIN stack_missing m ON m.uuid = t.uuid
        JOIN stacks k ON k.id = m.stack_id JOIN apps a ON a.id = k.app_id
    WHERE t.stand_in =
        -- include: of_shelf_image
        AND t.bundle_id IN ('', a.bundle_id))
    AND (NOT EXISTS (SELECT 1 FROM own_shelves WHERE shelf = ?1) OR app_id = (
        -- include: of_shelf_owner
        ));

-- === reading =====================================================================================

-- name: stand_ins_all
SELECT uuid, bundle_id, stand_in, by_hand, created_ms FROM stand_ins
WHERE ?1 IS NULL OR uuid = ?1 ORDER BY uuid, bundle_id;

-- The app's own first.
-- name: stand_in_of
SELECT stand_in FROM stand_ins WHERE uuid = ?1 AND bundle_id IN ('', ?2)
ORDER BY bundle_id DESC LIMIT 1;

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
