-- Control: remote configuration of the SDK, quotas of apps.

PRAGMA user_version = 6;
