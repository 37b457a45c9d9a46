-- What index files are kept, for the sums (kept_index_bytes) that each upload waits for: of 150,000 symbol
-- files the rows themselves take a third of a second.

CREATE INDEX slices_kept ON slices (indexed, lost, object_sha256, uuid, upload_id, index_bytes);

PRAGMA user_version = 21;
