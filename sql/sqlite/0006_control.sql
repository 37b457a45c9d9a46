-- Control: remote configuration of the SDK, quotas of apps.

-- By name and not by row of `apps`: an app may be configured before its first report.
CREATE TABLE configs (
    bundle_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    note TEXT NOT NULL,
    -- No reference: what a token wrote stays when it is revoked.
    token_id INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (bundle_id, revision)
) STRICT, WITHOUT ROWID;

-- Of apps that have one of their own; 0: any number.
CREATE TABLE quotas (
    bundle_id TEXT PRIMARY KEY,
    per_minute INTEGER NOT NULL,
    per_day INTEGER NOT NULL,
    slight_rate REAL NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 6;
