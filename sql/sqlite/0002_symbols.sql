-- Symbol files: indexes that have to be chosen or made anew, the objects that are kept, builds that are
-- protected from retention, uploads in pieces.

-- The index of this object is gone, and so is the object.
ALTER TABLE slices ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
CREATE INDEX slices_object ON slices (object_sha256);

-- The token that sent it was bound to bundle_id.
ALTER TABLE uploads ADD COLUMN bound INTEGER NOT NULL DEFAULT 0;

-- UUIDs whose index in use is to be looked after: the indexer's second queue.
CREATE TABLE refits (
    uuid BLOB PRIMARY KEY,
    -- 1: an object was deleted, stacks that used it are resolved anew.
    deleted INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Object files of uploads. used_ms: uploaded, fetched, or their index was asked; -1: no slice is left.
CREATE TABLE objects (
    sha256 BLOB PRIMARY KEY,
    bytes INTEGER NOT NULL,
    system INTEGER NOT NULL,
    used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_used ON objects (used_ms);

-- '' in a column: any.
CREATE TABLE protected_builds (
    bundle_id TEXT NOT NULL,
    version TEXT NOT NULL,
    build TEXT NOT NULL,
    os_build TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (bundle_id, version, build, os_build)
) STRICT, WITHOUT ROWID;

-- Uploads that come in pieces. `id`: 16 random bytes.
CREATE TABLE open_uploads (
    id BLOB PRIMARY KEY,
    sha256 BLOB NOT NULL,
    size INTEGER NOT NULL,
    spool_file TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    version TEXT NOT NULL,
    build TEXT NOT NULL,
    os_build TEXT NOT NULL,
    system INTEGER NOT NULL,
    protect INTEGER NOT NULL,
    received INTEGER NOT NULL,
    -- SHA-256 of what was received, as far as it is.
    hash_state BLOB,
    touched_ms INTEGER NOT NULL,
    -- What it became.
    upload_id INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX open_uploads_sha256 ON open_uploads (sha256);

PRAGMA user_version = 2;
