-- Findings: culprits of reports with several samples, deadlocks, and what is due to be found anew.

-- Times of a stack's reports that have expired: the others say theirs themselves. NULL: none has.
ALTER TABLE stacks ADD COLUMN gone_first_ms INTEGER;
ALTER TABLE stacks ADD COLUMN gone_last_ms INTEGER;

-- Labels of dispatch queues: the one a thread works for, the one it waits for.
ALTER TABLE threads ADD COLUMN queue TEXT;
ALTER TABLE threads ADD COLUMN waits_queue TEXT;

-- In place of what 0001 kept room for; nothing ever wrote to it.
DROP TABLE report_findings;
CREATE TABLE report_findings (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    -- That of the report.
    stack_id INTEGER NOT NULL,
    -- Which sample stands for the report; so the next three: NULL without several samples.
    sample INTEGER,
    stage_ms INTEGER,
    total_ms INTEGER,
    -- Share of the time, millionths.
    confidence INTEGER,
    -- Indexes of the cycle's threads, compact JSON; NULL: none.
    deadlock TEXT
) STRICT;
CREATE INDEX report_findings_stack ON report_findings (stack_id, confidence, deadlock);
CREATE INDEX report_findings_deadlock ON report_findings (report_id) WHERE deadlock IS NOT NULL;

-- The queue: reports to look at; and stacks whose frames changed, with the reports above `after_id`
-- still to be put there.
CREATE TABLE findings_due (
    report_id INTEGER PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL
) STRICT;
CREATE TABLE findings_stacks (
    stack_id INTEGER PRIMARY KEY REFERENCES stacks (id) ON DELETE CASCADE,
    after_id INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 7;
