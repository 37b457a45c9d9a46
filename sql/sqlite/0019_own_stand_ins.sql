-- Stand-ins of one app, and uploads in pieces that bound tokens opened.

-- As files are an app's own: what one app lets stand in says nothing to others.
CREATE TABLE stand_ins_of (
    uuid BLOB NOT NULL,
    bundle_id TEXT NOT NULL, -- '': of all apps
    stand_in BLOB NOT NULL,
    by_hand INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (uuid, bundle_id)
) STRICT, WITHOUT ROWID;
INSERT INTO stand_ins_of (uuid, bundle_id, stand_in, by_hand, created_ms)
SELECT uuid, '', stand_in, by_hand, created_ms FROM stand_ins;
DROP TABLE stand_ins;
ALTER TABLE stand_ins_of RENAME TO stand_ins;
CREATE INDEX stand_ins_used ON stand_ins (stand_in);

-- Who opened those that are open is not known. A bound token goes on with none of them, but begins
-- anew; one that an unbound token ends serves all, as what it ends has to.
ALTER TABLE open_uploads ADD COLUMN bound INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 19;
