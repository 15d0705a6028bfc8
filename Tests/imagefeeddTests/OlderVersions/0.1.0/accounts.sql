BEGIN TRANSACTION;
CREATE TABLE account (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    username TEXT NOT NULL,
    server TEXT NOT NULL,
    label TEXT NOT NULL,
    is_logged_in INTEGER NOT NULL,
    default_source TEXT,
    UNIQUE (provider, username, server)
);
INSERT INTO "account" VALUES(1,'unsplash_ada','unsplash','ada','','ada',1,NULL);
INSERT INTO "account" VALUES(2,'local_ada','local','ada','','ada',1,NULL);
CREATE TABLE like_wish (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    photo TEXT NOT NULL,
    is_wanted INTEGER NOT NULL,
    UNIQUE (account, photo)
);
INSERT INTO "like_wish" VALUES(7,'unsplash_ada','@photo@',1);
CREATE TABLE likes_unavailable (
    account TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    asked INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE local_like (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    photo TEXT NOT NULL,
    UNIQUE (account, photo)
);
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "setting" VALUES('default_account','unsplash_ada');
COMMIT;
PRAGMA user_version = 2;
