-- Shelves (storage/shelf.h): which index serves which app.

-- fragment: serving_app_id
    x.uuid IN (?1, (
        -- include: shelf_of_app_id
    ))

-- Slices of an image ?1, whomever they serve.
-- fragment: serving_any
    x.uuid IN (SELECT ?1 UNION ALL SELECT shelf FROM own_shelves WHERE image = ?1)

-- === writing =====================================================================================

-- name: shelf_note
INSERT INTO own_shelves (shelf, image, bundle_id) SELECT ?1, ?2, bundle_id FROM uploads WHERE id = ?3
ON CONFLICT DO NOTHING;

-- Nothing lies there any more, nobody has to be told, and no place of the image is known from it: that
-- one stays the app's, as the place of what serves all stays.
-- name: shelf_end
DELETE FROM own_shelves WHERE shelf = ?1 AND NOT EXISTS (SELECT 1 FROM slices WHERE uuid = ?1)
    AND NOT EXISTS (SELECT 1 FROM refits WHERE uuid = ?1)
    AND NOT EXISTS (SELECT 1 FROM turn_backs WHERE uuid = ?1)
    AND NOT EXISTS (SELECT 1 FROM layouts WHERE uuid = ?1);

-- name: shelf_refit
INSERT INTO refits (uuid, deleted)
SELECT o.shelf, 0 FROM own_shelves o JOIN apps a ON a.bundle_id = o.bundle_id
WHERE o.image = ?1 AND a.id = ?2
ON CONFLICT DO NOTHING;

-- name: symbol_serves_app
SELECT 1 FROM slices x WHERE x.current = 1 AND
    -- include: serving_app_id
LIMIT 1;

-- Whether an image ?1 has an index on another shelf than ?2 for those whom that one serves.
-- name: symbol_rival
SELECT 1 FROM slices x WHERE x.current = 1 AND x.uuid <> ?2 AND x.uuid IN (
    SELECT ?1 UNION ALL SELECT shelf FROM own_shelves WHERE image = ?1 AND ?1 = ?2)
LIMIT 1;

-- === reading =====================================================================================

-- name: shelf_secret
SELECT secret FROM shelf_secret;

-- name: shelf_image
SELECT image, bundle_id FROM own_shelves WHERE shelf = ?1;

-- name: shelf_for
SELECT x.uuid FROM slices x WHERE x.current = 1 AND
    -- include: serving
ORDER BY
    -- include: richest
LIMIT 1;

-- name: shelf_for_any
SELECT x.uuid FROM slices x WHERE x.current = 1 AND
    -- include: serving_any
ORDER BY
    -- include: richest
LIMIT 1;

-- name: shelves_owned
SELECT 1 FROM own_shelves WHERE bundle_id = ?1 LIMIT 1;

-- Not where it is what another app owns.
-- name: stand_in_serves
SELECT 1 WHERE EXISTS (SELECT 1 FROM slices x WHERE x.current = 1 AND
    -- include: serving
    ) OR NOT EXISTS (SELECT 1 FROM slices x WHERE x.current = 1 AND
    -- include: serving_any
    );

-- name: symbol_serves
SELECT 1 FROM slices x WHERE x.current = 1 AND
    -- include: serving
LIMIT 1;
