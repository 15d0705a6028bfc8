BEGIN TRANSACTION;
CREATE TABLE user (
    -- The name in the form in which names are compared
    key TEXT PRIMARY KEY,
    name TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "user" VALUES('ada','ada');
COMMIT;
PRAGMA user_version = 1;
