-- What reports say of the place of an image counts for their own app; `layouts` is of symbol files.

CREATE TABLE layout_claims (
    id INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    uuid BLOB NOT NULL,
    vmaddr INTEGER NOT NULL,
    UNIQUE (app_id, uuid)
) STRICT;

-- Whose report it was is known where one app alone has the image; else the next report says it anew.
INSERT INTO layout_claims (app_id, uuid, vmaddr)
SELECT min(i.app_id), l.uuid, l.vmaddr
FROM images i JOIN layouts l ON l.uuid = i.uuid
WHERE l.trusted = 0 GROUP BY l.uuid HAVING count(*) = 1 ORDER BY l.id;
DELETE FROM layouts WHERE trusted = 0;
ALTER TABLE layouts DROP COLUMN trusted;

PRAGMA user_version = 15;
