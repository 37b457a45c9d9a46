-- Life of clusters: history of their states; alerts and what was sent.

-- When the first stack pointed there; 0: before there was such a column.
ALTER TABLE clusters ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0;
-- The cluster whose stack made it, 0: a new stack did. A person's decision goes where that one goes.
ALTER TABLE clusters ADD COLUMN origin_id INTEGER NOT NULL DEFAULT 0;
-- A person has changed its state or note.
ALTER TABLE clusters ADD COLUMN decided INTEGER NOT NULL DEFAULT 0;
-- Its release is resolved_in and this build; NULL: any build.
ALTER TABLE clusters ADD COLUMN resolved_build TEXT;
-- It was resolved, and that release brought it back.
ALTER TABLE clusters ADD COLUMN regressed_ms INTEGER;
ALTER TABLE clusters ADD COLUMN regressed_in TEXT;
ALTER TABLE clusters ADD COLUMN regressed_build TEXT;
-- Its alert "new cluster" was made.
ALTER TABLE clusters ADD COLUMN announced_ms INTEGER;
CREATE INDEX clusters_resolved ON clusters (id) WHERE state = 'resolved';
CREATE INDEX clusters_created ON clusters (created_ms) WHERE announced_ms IS NULL;

CREATE TABLE cluster_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    -- Name of the token; NULL: the daemon itself.
    who TEXT,
    -- 0: by hand, 1: regression
    kind INTEGER NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    resolved_in TEXT,
    resolved_build TEXT,
    -- The new note when it changed, '' when it was taken away.
    note TEXT,
    -- Of a regression: the release that reported it.
    version TEXT,
    build TEXT
) STRICT;
CREATE INDEX cluster_history_cluster ON cluster_history (cluster_id, id);
CREATE INDEX cluster_history_regressions ON cluster_history (id) WHERE kind = 1;

-- One row once rules were set.
CREATE TABLE alert_rules (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,
    document TEXT NOT NULL,
    -- When the first rules were set: what was there before is not new.
    since_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    who TEXT
) STRICT;

-- Up to which row of cluster_history regressions were looked at.
INSERT INTO sequences VALUES ('alert_regressions', 0);

CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL,
    -- 0: of no app (a test).
    app_id INTEGER NOT NULL,
    cluster_id INTEGER NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX alerts_cause ON alerts (kind, app_id, cluster_id, subject, created_ms);
CREATE INDEX alerts_cluster ON alerts (cluster_id) WHERE cluster_id <> 0;
CREATE INDEX alerts_created ON alerts (created_ms);

-- The outbox. state: 0 pending, 1 sent, 2 given up.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_ms INTEGER NOT NULL,
    done_ms INTEGER,
    status INTEGER NOT NULL,
    error TEXT
) STRICT;
CREATE INDEX deliveries_due ON deliveries (next_ms, id) WHERE state = 0;
CREATE INDEX deliveries_alert ON deliveries (alert_id);

PRAGMA user_version = 5;
