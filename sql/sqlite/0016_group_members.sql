-- Whose report named a member of a slide group: it counts for that app.

CREATE TABLE members_by_app (
    group_uuid BLOB NOT NULL,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    uuid BLOB NOT NULL,
    PRIMARY KEY (group_uuid, app_id, uuid)
) STRICT, WITHOUT ROWID;

-- Every app that has both the group and the image may have been the one.
INSERT INTO members_by_app (group_uuid, app_id, uuid)
SELECT m.group_uuid, a.id, m.uuid FROM group_members m CROSS JOIN apps a
WHERE EXISTS (SELECT 1 FROM images i WHERE i.app_id = a.id AND i.uuid = m.uuid)
    AND EXISTS (SELECT 1 FROM images i WHERE i.app_id = a.id AND i.uuid = m.group_uuid);
DROP TABLE group_members;
ALTER TABLE members_by_app RENAME TO group_members;
CREATE INDEX group_members_uuid ON group_members (uuid);

PRAGMA user_version = 16;
