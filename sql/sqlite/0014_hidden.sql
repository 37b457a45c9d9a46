-- Those that lists leave out are few, and a comparison of versions asks which they are.
CREATE INDEX clusters_hidden ON clusters (app_id) WHERE hidden = 1;

PRAGMA user_version = 14;
