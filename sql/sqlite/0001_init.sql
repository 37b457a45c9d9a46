-- The first schema. The design is in storage/sqlite_write.c (head comment) and storage/storage.h.
--
-- Numbers that stand for something: stacks.state 0 pending, 1 resolved, 2 the row that counts a whole
-- app; reports.kind, images.kind, images.class, clusters.kind, uploads.state as the enums of
-- storage/write_op.h and base/stack.h; weighted: millionths of a report; hist: base/histogram.h;
-- 64-bit addresses as the signed number of the same bits.

PRAGMA application_id = 1400139628;

CREATE TABLE sequences (
    name TEXT PRIMARY KEY,
    next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sequences VALUES ('report', 1), ('stack', 1);

CREATE TABLE apps (
    id INTEGER PRIMARY KEY,
    bundle_id TEXT NOT NULL UNIQUE,
    -- The row of stacks that counts every report of the app, with and without a stack.
    total_id INTEGER NOT NULL
) STRICT;

-- Values that clients send again and again. Kinds: storage/sqlite_dict.h.
CREATE TABLE dict (
    id INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    kind INTEGER NOT NULL,
    value TEXT NOT NULL,
    value2 TEXT NOT NULL,
    UNIQUE (app_id, kind, value, value2)
) STRICT;

-- How many new values of a kind an app brought on a day (of receipt).
CREATE TABLE dict_days (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    kind INTEGER NOT NULL,
    day INTEGER NOT NULL,
    added INTEGER NOT NULL,
    PRIMARY KEY (app_id, kind, day)
) STRICT, WITHOUT ROWID;

-- Function and file names of resolved frames; `hash` is of `value`, equal hashes are compared.
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    value TEXT NOT NULL
) STRICT;
CREATE INDEX names_hash ON names (hash);

CREATE TABLE images (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    uuid BLOB NOT NULL,
    kind INTEGER NOT NULL,
    class INTEGER NOT NULL,
    name TEXT NOT NULL,
    arch TEXT,
    PRIMARY KEY (app_id, uuid)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_members (
    group_uuid BLOB NOT NULL,
    uuid BLOB NOT NULL,
    PRIMARY KEY (group_uuid, uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_members_uuid ON group_members (uuid);

CREATE TABLE layouts (
    id INTEGER PRIMARY KEY,
    uuid BLOB NOT NULL UNIQUE,
    vmaddr INTEGER NOT NULL,
    size INTEGER NOT NULL,
    -- 1: from a symbol file; what a report claims never replaces it.
    trusted INTEGER NOT NULL
) STRICT;

CREATE TABLE clusters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    key BLOB NOT NULL,
    kind INTEGER NOT NULL,
    provisional INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    title TEXT NOT NULL,
    key_text TEXT NOT NULL,
    function TEXT,
    file TEXT,
    image TEXT,
    category TEXT NOT NULL,
    owner TEXT,
    state TEXT NOT NULL DEFAULT 'open',
    resolved_in TEXT,
    note TEXT,
    rules_version TEXT NOT NULL,
    UNIQUE (app_id, key)
) STRICT;

-- Sums over the cluster's stacks; apart from clusters because every batch rewrites these rows.
CREATE TABLE cluster_totals (
    cluster_id INTEGER PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    hist BLOB NOT NULL
) STRICT;

-- An id that was given out and lives on in another one.
CREATE TABLE cluster_aliases (
    alias INTEGER PRIMARY KEY,
    cluster_id INTEGER NOT NULL REFERENCES clusters (id)
) STRICT;
CREATE INDEX cluster_aliases_cluster ON cluster_aliases (cluster_id);

-- Weight that left a living cluster, until it is empty and becomes an alias.
CREATE TABLE cluster_moves (
    from_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    to_id INTEGER NOT NULL REFERENCES clusters (id),
    weighted INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (from_id, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_moves_to ON cluster_moves (to_id);

CREATE TABLE stacks (
    id INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    hash BLOB NOT NULL,
    state INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    cluster_id INTEGER REFERENCES clusters (id),
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    provisional INTEGER NOT NULL,
    give_up INTEGER NOT NULL,
    approximate INTEGER NOT NULL,
    -- Frames of application images in the last resolution, and those of them that have a name.
    app_frames INTEGER NOT NULL,
    app_named INTEGER NOT NULL,
    UNIQUE (app_id, hash)
) STRICT;
CREATE INDEX stacks_pending ON stacks (id) WHERE state = 0;
CREATE INDEX stacks_cluster ON stacks (cluster_id) WHERE cluster_id IS NOT NULL;
CREATE INDEX stacks_provisional ON stacks (created_ms) WHERE provisional = 1 AND give_up = 0;

-- What is read only when a stack is resolved or shown.
CREATE TABLE stack_data (
    stack_id INTEGER PRIMARY KEY REFERENCES stacks (id) ON DELETE CASCADE,
    frame_count INTEGER NOT NULL,
    raw BLOB NOT NULL,
    resolved BLOB,
    missing BLOB,
    variant BLOB
) STRICT;

-- `missing` of stack_data the other way round (no foreign key: it would need a second index).
CREATE TABLE stack_missing (
    uuid BLOB NOT NULL,
    stack_id INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    PRIMARY KEY (uuid, stack_id)
) STRICT, WITHOUT ROWID;

-- The counters, kept for ever. build_id, device_id, os_id, page_id: rows of dict.
CREATE TABLE counters (
    stack_id INTEGER NOT NULL REFERENCES stacks (id) ON DELETE CASCADE,
    day INTEGER NOT NULL,
    build_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    PRIMARY KEY (stack_id, day, build_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE week_devices (
    stack_id INTEGER NOT NULL REFERENCES stacks (id) ON DELETE CASCADE,
    week INTEGER NOT NULL,
    device_id INTEGER NOT NULL,
    os_id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    PRIMARY KEY (stack_id, week, device_id, os_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE week_pages (
    stack_id INTEGER NOT NULL REFERENCES stacks (id) ON DELETE CASCADE,
    week INTEGER NOT NULL,
    page_id INTEGER NOT NULL,
    build_id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    PRIMARY KEY (stack_id, week, page_id, build_id)
) STRICT, WITHOUT ROWID;

-- By day of receipt, so that inserts fall into the last pages and a day goes as one range.
CREATE TABLE report_ids (
    day INTEGER NOT NULL,
    hash BLOB NOT NULL,
    report_id INTEGER NOT NULL,
    PRIMARY KEY (day, hash)
) STRICT, WITHOUT ROWID;

-- The smallest report id of a day of receipt: turns a time filter into a range of ids.
CREATE TABLE report_days (
    day INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL
) STRICT;

CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    -- The app's own row of stacks when the report has no stack.
    stack_id INTEGER NOT NULL REFERENCES stacks (id),
    -- kind, 8: clock_skew, 16: a row in report_extra, 32: has samples, 64: has threads
    flags INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    -- received - time
    delay_ms INTEGER NOT NULL,
    duration_ms INTEGER,
    -- weight above 1, millionths
    weight_above INTEGER NOT NULL,
    -- Rows of dict, which are never deleted.
    build_id INTEGER NOT NULL,
    device_id INTEGER NOT NULL,
    os_id INTEGER NOT NULL,
    page_id INTEGER NOT NULL,
    path_id INTEGER NOT NULL,
    threshold_id INTEGER,
    cpu INTEGER,
    memory INTEGER,
    -- 16 bytes when it is a UUID in lower case with dashes, else text
    client_id ANY NOT NULL,
    addresses BLOB
) STRICT;
CREATE INDEX reports_stack ON reports (stack_id);

CREATE TABLE report_extra (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    device_time_ms INTEGER,
    stack_skipped TEXT,
    tags TEXT,
    frame_gaps BLOB
) STRICT;

CREATE TABLE samples (
    report_id INTEGER NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    offset_ms INTEGER NOT NULL,
    repeat_count INTEGER NOT NULL,
    cpu INTEGER,
    thread_state TEXT,
    stack_id INTEGER NOT NULL REFERENCES stacks (id),
    addresses BLOB,
    PRIMARY KEY (report_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX samples_stack ON samples (stack_id);

CREATE TABLE threads (
    report_id INTEGER NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    tid INTEGER NOT NULL,
    name TEXT,
    state TEXT,
    stalled INTEGER NOT NULL,
    stack_id INTEGER REFERENCES stacks (id),
    waits_kind TEXT,
    waits_address INTEGER NOT NULL,
    owner_tid INTEGER NOT NULL,
    addresses BLOB,
    PRIMARY KEY (report_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX threads_stack ON threads (stack_id) WHERE stack_id IS NOT NULL;

-- Places for what is not computed yet (README, "What it does not do yet"): of a report with several
-- samples its culprit's stage, of one with threads the cycle of waits; clusters that the second
-- stage, or a person, found to be one.
CREATE TABLE report_findings (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    -- The stage that is the culprit, and its share of the report's time, 0 to 1.
    stage_ms INTEGER,
    confidence REAL,
    -- Thread ids of the cycle, compact JSON.
    deadlock TEXT
) STRICT;

CREATE TABLE cluster_merges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    from_key BLOB NOT NULL,
    into_key BLOB NOT NULL,
    -- NULL: by hand.
    score REAL,
    epoch INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    -- Taken back then.
    undone_ms INTEGER
) STRICT;
CREATE INDEX cluster_merges_from ON cluster_merges (app_id, from_key);

CREATE TABLE image_sets (
    id INTEGER PRIMARY KEY,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    client_id TEXT NOT NULL,
    used_ms INTEGER NOT NULL,
    UNIQUE (app_id, client_id)
) STRICT;

-- Apart, so that noting a use does not rewrite 60 kB.
CREATE TABLE image_set_data (
    image_set_id INTEGER PRIMARY KEY REFERENCES image_sets (id) ON DELETE CASCADE,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 BLOB NOT NULL,
    size INTEGER NOT NULL,
    spool_file TEXT NOT NULL,
    bundle_id TEXT NOT NULL,
    version TEXT NOT NULL,
    build TEXT NOT NULL,
    os_build TEXT NOT NULL,
    system INTEGER NOT NULL,
    state INTEGER NOT NULL,
    reason TEXT,
    created_ms INTEGER NOT NULL,
    slice_count INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_sha256 ON uploads (sha256);
CREATE INDEX uploads_waiting ON uploads (id) WHERE state < 2;

CREATE TABLE slices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    upload_id INTEGER NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
    uuid BLOB NOT NULL,
    name TEXT NOT NULL,
    member TEXT NOT NULL,
    arch TEXT NOT NULL,
    reason TEXT,
    indexed INTEGER NOT NULL,
    current INTEGER NOT NULL,
    has_dwarf INTEGER NOT NULL,
    functions INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    inlines INTEGER NOT NULL,
    index_bytes INTEGER NOT NULL,
    text_vmaddr INTEGER NOT NULL,
    text_size INTEGER NOT NULL,
    object_sha256 BLOB NOT NULL,
    object_bytes INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX slices_upload ON slices (upload_id);
CREATE INDEX slices_uuid ON slices (uuid);
CREATE INDEX slices_current ON slices (id) WHERE current = 1;

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    scopes INTEGER NOT NULL,
    name TEXT NOT NULL,
    bundle_id TEXT,
    created_ms INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 1;
