-- Schema 7 of archive.db with test data, written in November 2026 for test/suites/schema-upgrades.test.ts.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE accounts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, id TEXT NOT NULL,
        followers INTEGER NOT NULL, protected INTEGER NOT NULL, stored INTEGER NOT NULL,
        json TEXT NOT NULL,
        UNIQUE (platform, handle)
      );
CREATE INDEX accounts_by_id ON accounts (platform, id);
CREATE INDEX accounts_protected ON accounts (platform, handle) WHERE protected = 1;
CREATE VIRTUAL TABLE account_words USING fts5(
        words, marks, content='', contentless_delete=1, prefix='2 3', tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'"
      );
CREATE TABLE posts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, id TEXT NOT NULL, parent_id TEXT,
        gone INTEGER NOT NULL, answers_other INTEGER NOT NULL, score INTEGER NOT NULL,
        stored INTEGER NOT NULL, json TEXT NOT NULL, has_media INTEGER NOT NULL DEFAULT 0,
        UNIQUE (platform, id, handle)
      );
CREATE INDEX posts_by_parent ON posts (platform, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX posts_by_account ON posts (platform, handle) WHERE gone = 0;
CREATE INDEX posts_without_replies ON posts (platform, handle)
        WHERE gone = 0 AND answers_other = 0;
CREATE INDEX posts_with_media ON posts (platform, handle) WHERE gone = 0 AND has_media = 1;
CREATE INDEX posts_only_replies ON posts (platform, handle)
        WHERE gone = 0 AND answers_other = 1;
CREATE VIEW public_posts AS SELECT * FROM posts WHERE
        NOT EXISTS (SELECT 1 FROM accounts WHERE protected = 1) OR NOT EXISTS (
          SELECT 1 FROM accounts WHERE accounts.platform = posts.platform
            AND accounts.handle = posts.handle AND accounts.protected = 1
        );
CREATE VIRTUAL TABLE post_words USING fts5(
        text, author, tags, marks, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'"
      );
CREATE TABLE reposts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL,
        post_handle TEXT NOT NULL, post_id TEXT NOT NULL, stored INTEGER NOT NULL,
        UNIQUE (platform, handle, post_id, post_handle)
      );
CREATE INDEX reposts_by_account ON reposts (platform, handle) WHERE post_handle <> handle;
CREATE TABLE follows (
        platform TEXT NOT NULL, follower TEXT NOT NULL, followed TEXT NOT NULL,
        stored INTEGER NOT NULL,
        PRIMARY KEY (platform, follower, followed)
      ) WITHOUT ROWID;
CREATE INDEX follows_by_followed ON follows (platform, followed, follower);
CREATE TABLE imports (
        number INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE, title TEXT NOT NULL, name TEXT NOT NULL,
        exported INTEGER NOT NULL, begun INTEGER NOT NULL, updated INTEGER NOT NULL,
        done INTEGER NOT NULL, items INTEGER NOT NULL, counts TEXT NOT NULL
      );
CREATE TABLE import_accounts (
        platform TEXT NOT NULL, handle TEXT NOT NULL, import INTEGER NOT NULL,
        PRIMARY KEY (platform, handle, import)
      ) WITHOUT ROWID;
CREATE INDEX reposts_by_post ON reposts (platform, post_id, post_handle);
CREATE TABLE kept_ranges (
        platform TEXT NOT NULL, handle TEXT NOT NULL,
        with_replies INTEGER NOT NULL, with_reposts INTEGER NOT NULL,
        from_second INTEGER NOT NULL, to_second INTEGER NOT NULL,
        account_id TEXT NOT NULL,
        PRIMARY KEY (platform, handle, with_replies, with_reposts, from_second)
      ) WITHOUT ROWID;
CREATE TABLE kept_posts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, key TEXT NOT NULL, author TEXT NOT NULL,
        repost INTEGER NOT NULL, answers_other INTEGER NOT NULL,
        second INTEGER NOT NULL, below_second INTEGER NOT NULL, place INTEGER NOT NULL,
        stored INTEGER NOT NULL, json TEXT NOT NULL,
        UNIQUE (platform, handle, key, repost)
      );
CREATE INDEX kept_posts_by_place ON kept_posts (platform, handle, second, place);
CREATE INDEX kept_posts_by_key ON kept_posts (platform, key);
CREATE INDEX kept_posts_by_author ON kept_posts (platform, author);
CREATE TABLE media_copies (
        hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, type TEXT NOT NULL
      ) WITHOUT ROWID;
CREATE TABLE media_references (
        platform TEXT NOT NULL, handle TEXT NOT NULL, url TEXT NOT NULL,
        author TEXT NOT NULL, name TEXT NOT NULL, hash TEXT,
        PRIMARY KEY (platform, handle, url)
      ) WITHOUT ROWID;
CREATE INDEX media_references_by_name ON media_references (platform, handle, name);
CREATE INDEX media_references_by_url ON media_references (url) WHERE hash IS NOT NULL;
CREATE INDEX media_references_by_hash ON media_references (hash) WHERE hash IS NOT NULL;
CREATE VIEW public_media AS SELECT url, hash FROM media_references WHERE hash IS NOT NULL
        AND NOT EXISTS (
          SELECT 1 FROM accounts WHERE accounts.platform = media_references.platform
            AND accounts.handle IN (media_references.handle, media_references.author)
            AND accounts.protected = 1
        );
CREATE TABLE post_versions (
        platform TEXT NOT NULL, id TEXT NOT NULL, handle TEXT NOT NULL, current TEXT NOT NULL,
        PRIMARY KEY (platform, id, handle)
      ) WITHOUT ROWID;

INSERT INTO facts (name, value) VALUES ('other', 'kept');
INSERT INTO facts (name, value) VALUES ('sample_version', '0');
INSERT INTO accounts (number, platform, handle, id, followers, protected, stored, json) VALUES (1, 'x', 'wren_example', '1001', 2, 0, 1769940000, '{"description":"Small bird, loud.","location":"A hedge","avatar_url":"https://pictures.example/wren_400x400.jpg","banner_url":"https://pictures.example/wren-header","website":{"url":"https://t.co/wren","display_url":"t.co/wren"},"followers":2,"following":1,"statuses":4,"media_count":null,"likes":null,"joined":"2011-05-01T08:30:00Z","protected":false,"verification":{"verified":false,"type":null},"id":"1001","screen_name":"Wren_Example","name":"Wren & Co","url":"https://x.com/Wren_Example","platform":"x"}');
INSERT INTO posts (number, platform, handle, id, parent_id, gone, answers_other, score, stored, json, has_media) VALUES (1572864000015732, 'x', 'wren_example', '880000000000000000', NULL, 0, 0, 896, 1769940000, '{"type":"status","id":"880000000000000000","url":"https://x.com/Wren_Example/status/880000000000000000","text":"é stone field field slow cloud garden","facets":[],"created_at":"2017-07-14T02:40:00Z","created_timestamp":1500000000,"author":{"description":"Small bird, loud.","location":"A hedge","avatar_url":"https://pictures.example/wren_400x400.jpg","banner_url":"https://pictures.example/wren-header","website":{"url":"https://t.co/wren","display_url":"t.co/wren"},"followers":2,"following":1,"statuses":4,"media_count":null,"likes":null,"joined":"2011-05-01T08:30:00Z","protected":false,"verification":{"verified":false,"type":null},"id":"1001","screen_name":"Wren_Example","name":"Wren & Co","url":"https://x.com/Wren_Example","platform":"x"},"lang":"en","replies":null,"reposts":1,"likes":895,"quotes":null,"bookmarks":null,"views":null,"source":"Mobile Web","possibly_sensitive":false,"replying_to":null,"quote":null,"reposted_by":null,"media":{"all":[],"photos":[],"videos":[]},"poll":null,"article":null,"content_warning":null,"card":null,"community_note":null,"context":null,"platform":"x"}', 0);
INSERT INTO posts (number, platform, handle, id, parent_id, gone, answers_other, score, stored, json, has_media) VALUES (1572864629769038, 'x', 'wren_example', '880000002516582400', NULL, 0, 0, 409, 1769940000, '{"type":"status","id":"880000002516582400","url":"https://x.com/Wren_Example/status/880000002516582400","text":"R&B <3 signal winter river signal bell harbour amber window slow paper harbour winter ferry window slow lantern quiet stone garden paper","facets":[],"created_at":"2017-07-14T02:50:00Z","created_timestamp":1500000600,"author":{"description":"Small bird, loud.","location":"A hedge","avatar_url":"https://pictures.example/wren_400x400.jpg","banner_url":"https://pictures.example/wren-header","website":{"url":"https://t.co/wren","display_url":"t.co/wren"},"followers":2,"following":1,"statuses":4,"media_count":null,"likes":null,"joined":"2011-05-01T08:30:00Z","protected":false,"verification":{"verified":false,"type":null},"id":"1001","screen_name":"Wren_Example","name":"Wren & Co","url":"https://x.com/Wren_Example","platform":"x"},"lang":"en","replies":null,"reposts":1,"likes":408,"quotes":null,"bookmarks":null,"views":null,"source":"Mobile Web","possibly_sensitive":false,"replying_to":null,"quote":null,"reposted_by":null,"media":{"all":[],"photos":[],"videos":[]},"poll":null,"article":null,"content_warning":null,"card":null,"community_note":null,"context":null,"platform":"x"}', 0);
INSERT INTO posts (number, platform, handle, id, parent_id, gone, answers_other, score, stored, json, has_media) VALUES (1572865258951764, 'x', 'wren_example', '880000005033164800', '880000002516582400', 0, 0, 854, 1769940000, '{"type":"status","id":"880000005033164800","url":"https://x.com/Wren_Example/status/880000005033164800","text":"東京 lantern garden signal grey winter river signal garden ferry signal river harbour cloud north lantern field salt winter slow quiet copper copper salt letter train copper morning tide north slow letter bell copper salt paper","facets":[],"created_at":"2017-07-14T03:00:00Z","created_timestamp":1500001200,"author":{"description":"Small bird, loud.","location":"A hedge","avatar_url":"https://pictures.example/wren_400x400.jpg","banner_url":"https://pictures.example/wren-header","website":{"url":"https://t.co/wren","display_url":"t.co/wren"},"followers":2,"following":1,"statuses":4,"media_count":null,"likes":null,"joined":"2011-05-01T08:30:00Z","protected":false,"verification":{"verified":false,"type":null},"id":"1001","screen_name":"Wren_Example","name":"Wren & Co","url":"https://x.com/Wren_Example","platform":"x"},"lang":"en","replies":null,"reposts":1,"likes":853,"quotes":null,"bookmarks":null,"views":null,"source":"Mobile Web","possibly_sensitive":false,"replying_to":{"screen_name":"Wren_Example","status":"880000002516582400","url":"https://x.com/Wren_Example/status/880000002516582400"},"quote":null,"reposted_by":null,"media":{"all":[],"photos":[],"videos":[]},"poll":null,"article":null,"content_warning":null,"card":null,"community_note":null,"context":null,"platform":"x"}', 0);
INSERT INTO posts (number, platform, handle, id, parent_id, gone, answers_other, score, stored, json, has_media) VALUES (1572865888269368, 'x', 'bird_6', '880000007549747200', NULL, 0, 0, 0, 1769940000, '{"type":"status","id":"880000007549747200","url":"https://x.com/bird_6/status/880000007549747200","text":"field paper amber morning winter grey quiet bell stone harbour train north river paper slow letter slow signal quiet stone …","facets":[],"created_at":"2017-07-14T03:10:00Z","created_timestamp":1500001800,"author":{"description":null,"location":null,"avatar_url":null,"banner_url":null,"website":null,"followers":null,"following":null,"statuses":null,"media_count":null,"likes":null,"joined":null,"protected":false,"verification":{"verified":false,"type":null},"id":"77","screen_name":"bird_6","name":"Bird bird_6","url":"https://x.com/bird_6","platform":"x"},"lang":"en","replies":null,"reposts":null,"likes":null,"quotes":null,"bookmarks":null,"views":null,"source":"Mobile Web","possibly_sensitive":false,"replying_to":null,"quote":null,"reposted_by":null,"media":{"all":[],"photos":[],"videos":[]},"poll":null,"article":null,"content_warning":null,"card":null,"community_note":null,"context":null,"platform":"x"}', 0);
INSERT INTO reposts (number, platform, handle, post_handle, post_id, stored) VALUES (1572865888470563, 'x', 'wren_example', 'bird_6', '880000007549747200', 1769940000);
INSERT INTO follows (platform, follower, followed, stored) VALUES ('x', 'id:2000000', 'wren_example', 1769940000);
INSERT INTO follows (platform, follower, followed, stored) VALUES ('x', 'id:2000007', 'wren_example', 1769940000);
INSERT INTO follows (platform, follower, followed, stored) VALUES ('x', 'wren_example', 'id:2000003', 1769940000);
INSERT INTO imports (number, fingerprint, title, name, exported, begun, updated, done, items, counts) VALUES (1, 'b1e9e765f020e7a70dce40dd81fcaa7bc6ac921bbd1b7082b0f0e6f3d1db0db8', 'X export', 'x', 1769940000, 1795219200, 1795219200, 1, 9, '{"accounts":1,"posts":4,"reposts":1,"follows":3,"faults":0,"hidden":0}');
INSERT INTO import_accounts (platform, handle, import) VALUES ('x', 'wren_example', 1);
INSERT INTO kept_ranges (platform, handle, with_replies, with_reposts, from_second, to_second, account_id) VALUES ('x', 'heron_example', 1, 1, 1700000000, 1700100000, '2002');
INSERT INTO kept_posts (number, platform, handle, key, author, repost, answers_other, second, below_second, place, stored, json) VALUES (7, 'x', 'heron_example', '9', 'heron_example', 0, 0, 1700000050, 1700000049, 0, 1700100000, '{"type":"status","id":"880000000000000000","url":"https://x.com/Wren_Example/status/880000000000000000","text":"é stone field field slow cloud garden","facets":[],"created_at":"2017-07-14T02:40:00Z","created_timestamp":1500000000,"author":{"description":"Small bird, loud.","location":"A hedge","avatar_url":"https://pictures.example/wren_400x400.jpg","banner_url":"https://pictures.example/wren-header","website":{"url":"https://t.co/wren","display_url":"t.co/wren"},"followers":2,"following":1,"statuses":4,"media_count":null,"likes":null,"joined":"2011-05-01T08:30:00Z","protected":false,"verification":{"verified":false,"type":null},"id":"1001","screen_name":"Wren_Example","name":"Wren & Co","url":"https://x.com/Wren_Example","platform":"x"},"lang":"en","replies":null,"reposts":1,"likes":895,"quotes":null,"bookmarks":null,"views":null,"source":"Mobile Web","possibly_sensitive":false,"replying_to":null,"quote":null,"reposted_by":null,"media":{"all":[],"photos":[],"videos":[]},"poll":null,"article":null,"content_warning":null,"card":null,"community_note":null,"context":null,"platform":"x"}');
INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (1572864000015732, 'e stone field field slow cloud garden', '7772656e5f6578616d706c65', '', 'any onx');
INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (1572864629769038, 'R&B <3 signal winter river signal bell harbour amber window slow paper harbour winter ferry window slow lantern quiet stone garden paper', '7772656e5f6578616d706c65', '', 'any onx');
INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (1572865258951764, '東 京 lantern garden signal grey winter river signal garden ferry signal river harbour cloud north lantern field salt winter slow quiet copper copper salt letter train copper morning tide north slow letter bell copper salt paper', '7772656e5f6578616d706c65', '', 'any onx');
INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (1572865888269368, 'field paper amber morning winter grey quiet bell stone harbour train north river paper slow letter slow signal quiet stone ', '626972645f36', '', 'any onx');
INSERT INTO account_words (rowid, words, marks) VALUES (1, 'Wren Example Wren Co Small bird loud', 'onx');
INSERT INTO media_copies (hash, bytes, type) VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 7, 'image/png');
INSERT INTO media_references (platform, handle, url, author, name, hash) VALUES ('x', 'wren_example', 'https://pictures.example/wren_400x400.jpg', 'wren_example', 'profile 1001-wren_normal', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
INSERT INTO post_versions (platform, id, handle, current) VALUES ('x', '880000000000000001', 'wren_example', '880000000000000000');
PRAGMA user_version = 7;
