-- Symbol files: uploads in pieces, how rich each slice is, builds that are protected from retention.

PRAGMA user_version = 2;
