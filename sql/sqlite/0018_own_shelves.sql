-- What a token bound to an app sends serves that app alone.

-- Shelves of what apps own (storage/shelf.h); slices.uuid, layouts.uuid, refits.uuid and
-- turn_backs.uuid are shelves.
CREATE TABLE own_shelves (
    shelf BLOB PRIMARY KEY,
    image BLOB NOT NULL,
    bundle_id TEXT NOT NULL,
    UNIQUE (image, bundle_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX own_shelves_app ON own_shelves (bundle_id);

CREATE TABLE shelf_secret (
    secret BLOB NOT NULL
) STRICT;
INSERT INTO shelf_secret (secret) VALUES (randomblob(32));

-- What came before serves all, but for what another app's token sent: it was never used, and is to be
-- sent again.
UPDATE slices SET indexed = 0, lost = 1,
    reason = 'this UUID was another app''s, whose symbols stayed in use; send it again'
WHERE indexed = 1 AND current = 0 AND EXISTS (
    SELECT 1 FROM uploads u WHERE u.id = slices.upload_id AND u.bound = 1 AND u.bundle_id <> (
        SELECT f.bundle_id FROM slices y JOIN uploads f ON f.id = y.upload_id
        WHERE y.uuid = slices.uuid ORDER BY y.id LIMIT 1));
-- Those that wait, or were being indexed when the daemon went down, are indexed from now on.
UPDATE uploads SET bound = 0 WHERE state > 1;

PRAGMA user_version = 18;
