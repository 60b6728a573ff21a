// Generated from openapi/perch.json by `npm run generate`. Do not edit.

export interface Account {
  readonly id: string;
  /** Handle, without `@`. */
  readonly screen_name: string;
  readonly name: string;
  readonly url: string;
  /** Server from which Perch read the account, if it is not the server of the account; otherwise absent. */
  readonly copied_from?: CopiedFrom;
  readonly description: string | null;
  /** Links, mentions and styles of `description`. Absent if none are known. */
  readonly description_facets?: readonly Facet[];
  readonly location: string | null;
  readonly avatar_url: string | null;
  readonly banner_url: string | null;
  /** Website in the profile of the account. */
  readonly website: {
    readonly url: string;
    /** URL in the form that the platform displays. */
    readonly display_url: string;
  } | null;
  readonly followers: number | null;
  readonly following: number | null;
  readonly statuses: number | null;
  readonly media_count: number | null;
  readonly likes: number | null;
  /** Time at which the account was created: ISO 8601, UTC. */
  readonly joined: string | null;
  readonly protected: boolean;
  readonly verification: {
    readonly verified: boolean;
    readonly type: 'individual' | 'organization' | 'government' | (string & {}) | null;
  };
  /** Names of the JSON members of this object that are incomplete, because the source sent too much data or unreadable data. Absent if all members are complete. */
  readonly left_out?: readonly string[];
  readonly platform: 'x' | 'bluesky' | 'mastodon' | 'activitypub' | 'sample' | (string & {});
}

export interface Article {
  readonly id: string | null;
  readonly title: string;
  readonly preview_text: string | null;
  readonly cover_url: string | null;
  /** Time at which the article was published: ISO 8601, UTC. */
  readonly created_at: string | null;
  /** Time of the last change of the article: ISO 8601, UTC. */
  readonly modified_at: string | null;
  readonly blocks: readonly ArticleBlock[];
}

export type ArticleBlock = {
  readonly type: 'paragraph';
  readonly text: string;
  readonly styles: readonly ({
    readonly style: 'bold' | 'italic' | 'strikethrough' | 'code' | 'link' | (string & {});
    readonly start: number;
    readonly end: number;
    readonly url?: string;
  })[];
} | {
  readonly type: 'heading';
  readonly level: number;
  readonly text: string;
  readonly styles: readonly ({
    readonly style: 'bold' | 'italic' | 'strikethrough' | 'code' | 'link' | (string & {});
    readonly start: number;
    readonly end: number;
    readonly url?: string;
  })[];
} | {
  readonly type: 'list_item';
  readonly ordered: boolean;
  readonly text: string;
  readonly styles: readonly ({
    readonly style: 'bold' | 'italic' | 'strikethrough' | 'code' | 'link' | (string & {});
    readonly start: number;
    readonly end: number;
    readonly url?: string;
  })[];
} | {
  readonly type: 'quote';
  readonly text: string;
  readonly styles: readonly ({
    readonly style: 'bold' | 'italic' | 'strikethrough' | 'code' | 'link' | (string & {});
    readonly start: number;
    readonly end: number;
    readonly url?: string;
  })[];
} | {
  readonly type: 'code';
  readonly text: string;
} | {
  readonly type: 'markdown';
  readonly text: string;
} | {
  readonly type: 'image';
  readonly url: string;
  readonly alt: string | null;
  readonly width: number | null;
  readonly height: number | null;
} | {
  readonly type: 'post';
  readonly url: string;
} | {
  readonly type: 'divider';
};

export interface BrowseReply {
  /** Content of the response: a profile with its posts, a list of accounts, a search, or replies. */
  readonly resource: 'profile' | 'followers' | 'following' | 'search' | 'replies' | (string & {});
  /** Handle of the requested account, without `@`. For a list of replies, the handle of the author of the post whose replies were requested. Absent if unknown, and for a search. */
  readonly handle?: string;
  /** Id of the post whose replies were requested; absent for other lists. */
  readonly id?: string;
  /** URL of the post whose replies were requested; absent for other lists. */
  readonly url?: string;
  /** Search text; absent for other lists. */
  readonly query?: string;
  /** Kind of search results; absent for other lists. */
  readonly feed?: 'latest' | 'top' | 'photos' | 'videos' | 'users' | (string & {});
  readonly profile?: Account;
  /** Posts on this page: posts of a profile, replies to a post, or search results. Absent for a list of accounts, or if no posts were requested. */
  readonly posts?: readonly Post[];
  /** Accounts on this page: followers, followed accounts, or search results. Absent for a list of posts, or if no list was requested. */
  readonly users?: readonly Account[];
  /** Page number, from 1. */
  readonly page: number;
  /** Maximum number of items on the page, as requested, up to 100. */
  readonly limit: number;
  /** Cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
  /** Sentences for people about parts of the response that are missing, outdated or unusual. */
  readonly warnings: readonly string[];
  /** Whether the results of a search are not live: they come from the archive instead of the platform, or they are old results from the cache. */
  readonly degraded: boolean;
  /** Content of this response as Markdown. */
  readonly markdown: string;
  /** Name of the data provider from which Perch read the content. */
  readonly source: 'archive' | 'fxtwitter' | 'syndication' | 'bluesky' | 'mastodon' | 'activitypub' | (string & {});
  /** Time at which Perch read the content from the source: ISO 8601, UTC. For an imported account, the time at which the platform created the export. */
  readonly fetched_at: string;
}

export interface Card {
  readonly url: string;
  /** Title of the linked page; may be empty. */
  readonly title: string;
  readonly description: string | null;
  readonly image_url: string | null;
  /** Description of the preview image; absent if there is none. */
  readonly image_alt?: string;
  /** Name or domain of the website of the linked page. */
  readonly provider_name?: string;
  /** Author of the linked page. */
  readonly author_name?: string;
  readonly author_url?: string;
}

export interface Community {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly description: string | null;
}

export interface CopiedFrom {
  /** Host of the Mastodon server from which Perch read a copy of the post or account. The host is not the home of the author, and may have changed the content. */
  readonly host: string;
  /** URL of the copy on the server `host`. */
  readonly url: string;
}

export interface EarlierVersion {
  /** Id of this version, if the platform gives each version an id. */
  readonly id: string | null;
  readonly text: string;
  /** Time at which the author published this version: ISO 8601, UTC. */
  readonly created_at: string;
}

export interface EmbedReply {
  readonly version: '1.0';
  readonly type: 'rich';
  /** HTML block quote with the post, without scripts, styles and event attributes. */
  readonly html: string;
  /** Width of the embedded post in pixels, up to `maxwidth`. */
  readonly width: number;
  /** Estimated height of the embedded post in pixels, up to `maxheight`. */
  readonly height: number;
  readonly title: string;
  readonly author_name?: string;
  readonly author_url?: string;
  readonly provider_name: string;
  readonly provider_url: string;
  /** Suggested caching time in seconds. */
  readonly cache_age: number;
  /** URL of a picture of the post that is not larger than `maxwidth` and `maxheight`. Either all three `thumbnail_` members are present, or none. */
  readonly thumbnail_url?: string;
  readonly thumbnail_width?: number;
  readonly thumbnail_height?: number;
}

export interface Facet {
  readonly type: 'link' | 'mention' | 'hashtag' | 'symbol' | 'bold' | 'italic' | 'strikethrough' | 'code' | (string & {});
  /** Start of the range in `text`, as a number of Unicode code points. */
  readonly start: number;
  /** End of the range in `text` (exclusive), as a number of Unicode code points. */
  readonly end: number;
  /** Target of a link, mention or tag. */
  readonly url?: string;
}

export interface HistoryIndexEntry {
  readonly id: string;
  readonly url: string;
  /** Time at which the post was published: ISO 8601, UTC. For a repost, this is the time of the original post. */
  readonly created_at: string;
  /** `created_at` in Unix seconds. */
  readonly created_timestamp: number;
  /** Whether the entry is a repost by the account whose history was requested. */
  readonly repost: boolean;
}

export interface HistoryMeta {
  /** Handle of the account, in the spelling that the account uses, without `@`. */
  readonly handle: string;
  /** Value of the request parameter `since`: ISO 8601, UTC; null if it was omitted. */
  readonly since: string | null;
  /** Value of the request parameter `until`: ISO 8601, UTC; null if it was omitted. */
  readonly until: string | null;
  readonly max_posts: number;
  readonly with_replies: boolean;
  /** Whether reposts are included; always false with `only_replies`. */
  readonly with_reposts: boolean;
  readonly only_replies: boolean;
  readonly index: boolean;
  readonly nocache: boolean;
  /** Number of posts in the response. */
  readonly count: number;
  /** Number of posts in the response that Perch had stored when it read earlier histories of the account (`PERCH_ARCHIVE_HISTORY`). */
  readonly from_archive: number;
  /** Time of the last post in the response: ISO 8601, UTC; null if there is no such time. If the last post is a repost, this is the time of the next newer post that is not a repost, because not every source sends the times of reposts. */
  readonly oldest: string | null;
  /** Time of the first post in the response: ISO 8601, UTC; null if there is no such time. For reposts, see `oldest`. */
  readonly newest: string | null;
  /** Whether Perch did not read the whole requested time range, because of `max_posts`, a timeout, or a failure. */
  readonly truncated: boolean;
  /** Whether the requested time range contains no posts older than `oldest`. */
  readonly floor_reached: boolean;
  /** Value of `until` for the request that continues a truncated response. The first posts of the next response may repeat posts of this response. */
  readonly next_until?: string;
  /** Parts of the requested time range that Perch did not read because of a failure or a timeout, newest first. */
  readonly gaps: readonly HistoryRange[];
  /** Parts of the requested time range in which posts may be missing, because the source repeatedly sent fewer posts than expected. */
  readonly uncertain: readonly HistoryRange[];
  /** Number of pages requested from the source. */
  readonly pages: number;
  /** Number of milliseconds that Perch took to read the history. */
  readonly duration_ms: number;
}

export interface HistoryMetaLine {
  readonly meta: {
    /** Handle of the account, in the spelling that the account uses, without `@`. */
    readonly handle: string;
    /** Value of the request parameter `since`: ISO 8601, UTC; null if it was omitted. */
    readonly since: string | null;
    /** Value of the request parameter `until`: ISO 8601, UTC; null if it was omitted. */
    readonly until: string | null;
    readonly max_posts: number;
    readonly with_replies: boolean;
    /** Whether reposts are included; always false with `only_replies`. */
    readonly with_reposts: boolean;
    readonly only_replies: boolean;
    readonly index: boolean;
    readonly nocache: boolean;
    /** Number of posts in the response. */
    readonly count: number;
    /** Number of posts in the response that Perch had stored when it read earlier histories of the account (`PERCH_ARCHIVE_HISTORY`). */
    readonly from_archive: number;
    /** Time of the last post in the response: ISO 8601, UTC; null if there is no such time. If the last post is a repost, this is the time of the next newer post that is not a repost, because not every source sends the times of reposts. */
    readonly oldest: string | null;
    /** Time of the first post in the response: ISO 8601, UTC; null if there is no such time. For reposts, see `oldest`. */
    readonly newest: string | null;
    /** Whether Perch did not read the whole requested time range, because of `max_posts`, a timeout, or a failure. */
    readonly truncated: boolean;
    /** Whether the requested time range contains no posts older than `oldest`. */
    readonly floor_reached: boolean;
    /** Value of `until` for the request that continues a truncated response. The first posts of the next response may repeat posts of this response. */
    readonly next_until?: string;
    /** Parts of the requested time range that Perch did not read because of a failure or a timeout, newest first. */
    readonly gaps: readonly HistoryRange[];
    /** Parts of the requested time range in which posts may be missing, because the source repeatedly sent fewer posts than expected. */
    readonly uncertain: readonly HistoryRange[];
    /** Number of pages requested from the source. */
    readonly pages: number;
    /** Number of milliseconds that Perch took to read the history. */
    readonly duration_ms: number;
    /** Sentences for people about parts of the response that are missing, outdated or unusual. */
    readonly warnings: readonly string[];
    /** Name of the data provider from which Perch read the history. */
    readonly source: 'archive' | 'fxtwitter' | 'syndication' | 'bluesky' | 'mastodon' | 'activitypub' | (string & {});
    /** Time at which Perch started to read the history: ISO 8601, UTC. */
    readonly fetched_at: string;
  };
}

export interface HistoryPostLine {
  readonly post: Post | HistoryIndexEntry;
}

export interface HistoryRange {
  /** Start of the time range: ISO 8601, UTC; null if the range starts with the first post of the account. */
  readonly since: string | null;
  /** End of the time range, exclusive: ISO 8601, UTC; null if the range ends now. */
  readonly until: string | null;
}

export interface HistoryReply {
  /** Kind of the response. */
  readonly resource: 'history' | (string & {});
  /** Handle of the account, without `@`. */
  readonly handle: string;
  readonly profile?: Account;
  /** Posts in the order of the timeline, newest first. If the parameter `index` is true, the items are index entries instead of full posts. */
  readonly posts: readonly (Post | HistoryIndexEntry)[];
  readonly meta: HistoryMeta;
  /** Sentences for people about parts of the response that are missing, outdated or unusual. */
  readonly warnings: readonly string[];
  /** Name of the data provider from which Perch read the history. */
  readonly source: 'archive' | 'fxtwitter' | 'syndication' | 'bluesky' | 'mastodon' | 'activitypub' | (string & {});
  /** Time at which Perch started to read the history: ISO 8601, UTC. */
  readonly fetched_at: string;
}

export interface Media {
  readonly type: 'photo' | 'video' | 'gif' | 'audio' | 'file' | (string & {});
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
  /** Description of the content by the author of the post; null if there is none. */
  readonly alt: string | null;
  readonly thumbnail_url?: string | null;
  /** Duration in seconds, for video and audio. */
  readonly duration?: number | null;
  readonly variants?: readonly ({
    readonly url: string;
    readonly content_type: string | null;
    /** Bit rate in bits per second; null if unknown, for example for HLS. */
    readonly bitrate: number | null;
  })[];
  /** Name of the file, for media of type `file`. */
  readonly name?: string;
  /** Media type such as `application/pdf`. Absent if unknown. */
  readonly content_type?: string;
  /** Size of the file in bytes. Absent if unknown. */
  readonly size?: number;
}

export interface MediaSet {
  readonly all: readonly Media[];
  readonly photos: readonly Media[];
  readonly videos: readonly Media[];
}

export interface Poll {
  readonly choices: readonly ({
    readonly label: string;
    readonly count: number | null;
    readonly percentage: number | null;
  })[];
  readonly total_votes: number | null;
  /** Number of voters, who may have chosen several options. Absent if unknown. */
  readonly total_voters?: number | null;
  /** Time at which the poll ends: ISO 8601, UTC. */
  readonly ends_at: string | null;
}

export type Post = Status | Tombstone;

export interface PostReply {
  /** Format of the response. */
  readonly format: 'json' | (string & {});
  /** Canonical URL of the requested post. */
  readonly url: string;
  /** Content of this response as Markdown. */
  readonly markdown: string;
  /** Posts in reading order: ancestors, the post, the rest of the author’s thread, replies. */
  readonly posts: readonly Post[];
  /** Whether `markdown` is compact. It is false if the parameter `full=true` added dates, metrics and profile details. */
  readonly compact: boolean;
  /** Sentences for people about parts of the response that are missing, outdated or unusual. */
  readonly warnings: readonly string[];
  readonly postCount: number;
  /** Time at which Perch read the content from the source: ISO 8601, UTC. For an imported account, the time at which the platform created the export. */
  readonly fetched_at: string;
  /** Name of the data provider from which Perch read the content. */
  readonly source: 'archive' | 'fxtwitter' | 'syndication' | 'bluesky' | 'mastodon' | 'activitypub' | (string & {});
}

export interface Problem {
  /** URL of the documentation of the error code. */
  readonly type: string;
  readonly title: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** Description of the error, for people. */
  readonly detail: string;
  /** Path and query of the request, without secrets. */
  readonly instance?: string;
  /** Error code for programs. The meaning and the HTTP status of a code never change. */
  readonly code: 'missing_url' | 'invalid_url' | 'unsupported_host' | 'invalid_path' | 'invalid_params' | 'invalid_handle' | 'missing_query' | 'invalid_query' | 'invalid_feed' | 'invalid_resource' | 'invalid_cursor' | 'invalid_format' | 'invalid_thread' | 'invalid_context' | 'invalid_replies' | 'invalid_userinfo' | 'invalid_option' | 'unsupported_platform' | 'malformed_request' | 'invalid_body' | 'invalid_key' | 'unauthorized' | 'origin_not_allowed' | 'invalid_picture_address' | 'not_found' | 'picture_not_found' | 'route_not_found' | 'method_not_allowed' | 'request_timeout' | 'expired_picture_address' | 'payload_too_large' | 'uri_too_long' | 'unsupported_media_type' | 'range_not_satisfiable' | 'headers_too_large' | 'rate_limited' | 'internal_error' | 'not_implemented' | 'upstream_error' | 'upstream_unavailable' | 'upstream_rate_limited' | 'overloaded' | 'key_store_unavailable' | 'shutting_down' | 'missing_message' | 'invalid_message' | 'invalid_start_index' | 'missing_continuation_token' | 'conflicting_continuation_tokens' | 'missing_bearer' | 'invalid_continuation_token' | 'session_forbidden' | 'session_not_found' | 'session_not_active' | 'turn_in_progress' | 'session_expired' | 'unsupported_feature' | 'idempotency_conflict' | 'turn_queue_full' | 'not_ready' | (string & {});
  /** Name of the parameter at fault, or of the member of the request body. */
  readonly param?: string;
  /** Text for people that explains how to solve the problem. */
  readonly resolution: string;
  /** Why the post is unavailable. Present only if a source states the reason. */
  readonly unavailable?: Unavailable;
  /** Number of seconds to wait before the next attempt, as in the header `Retry-After`. */
  readonly retry_after?: number;
  /** Same text as `detail`. Present only in replies of session routes. */
  readonly error?: string;
  /** Always `false`. Present only in replies of session routes. */
  readonly ok?: false;
}

export interface Reaction {
  /** Emoji, or name of a server’s custom emoji. */
  readonly name: string;
  readonly count: number;
  /** URL of the image of a custom emoji. */
  readonly url?: string;
}

export interface SessionCancelAccepted {
  readonly ok: true;
  /** Id of the session. Anyone who knows the id can read the session. */
  readonly sessionId: string;
  readonly status: 'accepted';
}

export interface SessionCitation {
  /** Path of the file in its folder of documents, preceded by the name of the folder if there are several. */
  readonly path: string;
  /** Heading of the section as plain text. Empty for text before the first heading of a file. */
  readonly heading: string;
  /** Number of the first line of the quoted text, from 1. */
  readonly line: number;
  /** Number of the last line of the quoted text. */
  readonly endLine: number;
  /** Relevance of the section to the question, from 0 to 1. Not comparable between answers. */
  readonly score: number;
  /** Title of the document, if it has one. */
  readonly title?: string;
  /** Absolute URL of the section, if this server has a page with the document. */
  readonly url?: string;
}

export type SessionEvent = {
  readonly type: 'session.started';
  readonly data: {
    readonly runtime: {
      readonly agentId: string;
      readonly agentName: string;
      readonly eveVersion: string;
    };
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'turn.started';
  readonly data: {
    readonly sequence: number;
    readonly turnId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'message.received';
  readonly data: {
    readonly message: string;
    readonly parts: readonly ({
      readonly type: 'text';
      readonly text: string;
    })[];
    readonly sequence: number;
    readonly turnId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'step.started';
  readonly data: {
    readonly modelId: string;
    readonly sequence: number;
    readonly turnId: string;
    readonly stepIndex: 0;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'message.appended';
  readonly data: {
    readonly messageDelta: string;
    /** The answer so far, including `messageDelta`. */
    readonly messageSoFar: string;
    readonly sequence: number;
    readonly turnId: string;
    readonly stepIndex: 0;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'message.completed';
  readonly data: {
    /** Complete answer as Markdown. */
    readonly message: string;
    /** Sources of the answer, most relevant first. */
    readonly citations: readonly SessionCitation[];
    /** Whether the corpus has no answer to the question, or the answer is uncertain. An uncertain answer has citations. */
    readonly abstained: boolean;
    readonly finishReason: 'stop' | 'length' | 'error' | (string & {});
    readonly sequence: number;
    readonly turnId: string;
    readonly stepIndex: 0;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'step.completed';
  readonly data: {
    readonly finishReason: 'stop' | 'length' | 'error' | (string & {});
    readonly usage?: { readonly [name: string]: number };
    /** Answer engine that replaced the model named in `step.started`. Present only if the model gave no usable answer. */
    readonly fallback?: {
      /** Id of the replacement, such as the built-in answer engine, which wrote the answer or finished the answer of the model. */
      readonly modelId: string;
      /** Code of the reason why the model gave no usable answer; begins with `model_`. */
      readonly code: string;
      /** Sentence that explains the reason in `code`. */
      readonly message: string;
    };
    readonly sequence: number;
    readonly turnId: string;
    readonly stepIndex: 0;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'step.failed';
  readonly data: {
    readonly code: string;
    readonly message: string;
    readonly details?: { readonly [name: string]: unknown };
    readonly sequence: number;
    readonly turnId: string;
    readonly stepIndex: 0;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'turn.completed';
  readonly data: {
    readonly sequence: number;
    readonly turnId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'turn.failed';
  readonly data: {
    readonly code: string;
    readonly message: string;
    readonly details?: { readonly [name: string]: unknown };
    /** Whether the event `session.failed` follows. */
    readonly terminal: boolean;
    readonly sequence: number;
    readonly turnId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'turn.cancelled';
  readonly data: {
    readonly sequence: number;
    readonly turnId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'session.waiting';
  readonly data: {
    readonly wait: 'next-user-message';
    /** Continuation token of the session if the request for the stream contained it; otherwise an empty string. */
    readonly continuationToken: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'session.completed';
  readonly data: {
    readonly reason: 'reset' | 'expired' | 'evicted' | 'turn_limit' | (string & {});
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
} | {
  readonly type: 'session.failed';
  readonly data: {
    readonly code: string;
    readonly message: string;
    readonly details?: { readonly [name: string]: unknown };
    readonly sessionId: string;
  };
  readonly meta: {
    /** Id of the event: `evt_` and a ULID. The same in each read of the session. */
    readonly id: string;
    /** Time at which the event was recorded, in UTC. */
    readonly at: string;
    /** Array with the id of the message that is being answered. Present in all events from `turn.started` to `session.waiting`. */
    readonly deliveryIds?: readonly string[];
    /** Position of the event in the session, from 0. To continue a stream after this event, start at `index` + 1. */
    readonly index: number;
  };
};

export interface SessionHealth {
  readonly ok: true;
  readonly status: 'ready';
  readonly workflowId: string;
}

export interface SessionMessageAccepted {
  readonly ok: true;
  /** Id of the session. Anyone who knows the id can read the session. */
  readonly sessionId: string;
  /** Opaque token for further messages. Constant for the life of the session. */
  readonly continuationToken: string;
  readonly status: 'accepted';
  /** Id of this message, found in `meta.deliveryIds` of the events that answer it. */
  readonly deliveryId: string;
  /** Number of earlier messages that are still unanswered. The server answers them before this message. */
  readonly queued: number;
}

export interface SessionNotRunning {
  readonly ok: true;
  readonly status: 'no_active_turn';
}

export interface SessionResetDone {
  readonly ok: true;
  readonly status: 'reset' | 'no_active_session' | (string & {});
  readonly previousSessionId?: string;
}

export interface SessionStarted {
  /** Id of the session. Anyone who knows the id can read the session. */
  readonly sessionId: string;
  /** Opaque token for further messages. Constant for the life of the session. */
  readonly continuationToken: string;
  readonly ok: true;
  readonly status: 'accepted';
  /** Id of this message, found in `meta.deliveryIds` of the events that answer it. */
  readonly deliveryId: string;
}

export interface Status {
  readonly type: 'status';
  readonly id: string;
  /** URL of the post. If `copied_from` is present, this is the URL of the original post as stated by the server that sent the copy. */
  readonly url: string;
  /** Server from which Perch read the post, if it is not the server of the author; otherwise absent. Perch does not verify who wrote a post that another server sent. */
  readonly copied_from?: CopiedFrom;
  readonly text: string;
  /** Links, mentions and styles in `text`, sorted by `start`. Their ranges may nest but never cross. */
  readonly facets: readonly Facet[];
  /** Time of the post: ISO 8601, UTC. */
  readonly created_at: string;
  /** Time of the post in Unix seconds. */
  readonly created_timestamp: number;
  /** Time of the author’s last edit: ISO 8601, UTC. Absent if unknown. */
  readonly edited_at?: string;
  /** Texts of the post before edits, the oldest first. Absent if none are known. */
  readonly earlier_versions?: readonly EarlierVersion[];
  /** Time at which the platform first saw the post: ISO 8601, UTC. Present only if this is well after `created_at`, which the author’s app chooses. */
  readonly indexed_at?: string;
  readonly author: Account;
  /** Language tag (BCP 47). */
  readonly lang: string | null;
  readonly replies: number | null;
  readonly reposts: number | null;
  readonly likes: number | null;
  readonly quotes: number | null;
  readonly bookmarks: number | null;
  readonly views: number | null;
  /** Reactions by emoji, the most frequent first, on servers that support them. */
  readonly reactions?: readonly Reaction[];
  /** Name of the app with which the author wrote the post. */
  readonly source: string | null;
  /** Hashtags that are not in `text`, without `#`. Absent if there are none. */
  readonly tags?: readonly string[];
  /** Community that the post was published in. */
  readonly community?: Community;
  readonly possibly_sensitive: boolean;
  /** Content warning by the author or by a moderation label, to show before the text. */
  readonly content_warning: string | null;
  readonly replying_to: {
    readonly screen_name: string | null;
    readonly status: string | null;
    readonly url: string | null;
  } | null;
  readonly quote: Status | Tombstone | null;
  readonly reposted_by: Account | null;
  readonly media: MediaSet;
  readonly poll: Poll | null;
  readonly article: Article | null;
  /** Preview of a page that the post links to. */
  readonly card: Card | null;
  readonly community_note: string | null;
  /** Links in `community_note`. Absent if none are known. */
  readonly community_note_facets?: readonly Facet[];
  /** Names of the JSON members of this object that are incomplete, because the source sent too much data or unreadable data. Absent if all members are complete. */
  readonly left_out?: readonly string[];
  readonly context: 'parent' | 'post' | 'thread' | 'reply' | (string & {}) | null;
  readonly platform: 'x' | 'bluesky' | 'mastodon' | 'activitypub' | 'sample' | (string & {});
}

export interface Tombstone {
  readonly type: 'tombstone';
  readonly id: string | null;
  readonly url: string | null;
  /** Sentence that explains why the post is missing. */
  readonly text: string;
  readonly reason: 'deleted' | 'suspended' | 'private' | 'blocked' | 'unavailable' | (string & {});
  /** Absent in placeholders that an earlier version of Perch stored. */
  readonly unavailable?: Unavailable;
  readonly author: Account | null;
  readonly context: 'parent' | 'post' | 'thread' | 'reply' | (string & {}) | null;
  readonly platform: 'x' | 'bluesky' | 'mastodon' | 'activitypub' | 'sample' | (string & {});
}

export interface Unavailable {
  /** Reason as stated by the source. `pending`: the author of a quoted post has not approved the quote yet. `withheld`: the platform hides the post in some countries. */
  readonly reason: 'deleted' | 'protected' | 'suspended' | 'age_restricted' | 'withheld' | 'blocked' | 'pending' | 'unknown' | (string & {});
  /** Sentence that explains why the post is missing. */
  readonly detail: string;
}

/** Optional query parameters of the API operation `getPost`. */
export interface PostParameters {
  /** Parts of the thread to return. `off`: only the post. `full`: the post with its thread. `conversation`: the post with its thread and all replies that the source returns. `whole`: as `conversation`; on the fediverse, read from all servers that took part. 2 to 100: maximum number of posts of the thread. */
  readonly thread?: 'off' | 'full' | 'conversation' | 'whole' | number | undefined;
  /** Posts to return. `full`: posts of all authors. `thread`: only consecutive posts of the same author, without replies. */
  readonly context?: 'full' | 'thread' | undefined;
  /** Order of the replies. `top`: the most liked first. `recent`: the newest first. `off`: no replies. */
  readonly replies?: 'top' | 'recent' | 'off' | undefined;
  /** Profiles that the Markdown includes. Default: `author` with `full=true`, otherwise `off`. */
  readonly userinfo?: 'off' | 'author' | 'all' | undefined;
  /** Adds details to posts in Markdown and HTML: the exact time, the language, and the counts of quotes, bookmarks and reactions. */
  readonly full?: boolean | undefined;
  /** Maximum number of characters of the text, 2000 to 400000. Longer texts are shortened: replies are left out from the end, then the posts of the thread that are farthest from the post. */
  readonly max_chars?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `listReplies`. */
export interface RepliesParameters {
  /** Order of the direct replies. `top`: the most liked first. `recent`: the newest first. */
  readonly replies?: 'top' | 'recent' | undefined;
  /** Number of items on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the next page, unchanged: `nextCursor` of the previous page in JSON, or `cursor` in its link “Next page”. */
  readonly cursor?: string | undefined;
  /** Page number, 1 to 10. Cannot be combined with `cursor`. */
  readonly page?: number | undefined;
  /** Adds details to Markdown and HTML. Posts get the exact time, the language, and the counts of quotes, bookmarks and reactions. Accounts get details such as the complete biography or the ID. */
  readonly full?: boolean | undefined;
  /** Maximum number of characters of the text, 2000 to 400000. Longer texts are shortened: items at the end of the page are left out, and the next page starts with them. */
  readonly max_chars?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `getProfile`. */
export interface ProfileParameters {
  /** Includes the account’s replies to others. */
  readonly with_replies?: boolean | undefined;
  /** Includes reposts: posts that the account reposted, with their original author and time. */
  readonly with_reposts?: boolean | undefined;
  /** Omits posts without a photo, video or audio of their own. */
  readonly only_media?: boolean | undefined;
  /** `false`: omits the posts of the account. */
  readonly include_posts?: boolean | undefined;
  /** Only posts before this time: `2026-01-31`, `2026-01-31T12:00Z` or Unix seconds. */
  readonly until?: string | number | undefined;
  /** Number of items on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the next page, unchanged: `nextCursor` of the previous page in JSON, or `cursor` in its link “Next page”. */
  readonly cursor?: string | undefined;
  /** Page number, 1 to 10. Cannot be combined with `cursor`. */
  readonly page?: number | undefined;
  /** Adds details to Markdown and HTML. Posts get the exact time, the language, and the counts of quotes, bookmarks and reactions. Accounts get details such as the complete biography or the ID. */
  readonly full?: boolean | undefined;
  /** Maximum number of characters of the text, 2000 to 400000. Longer texts are shortened: items at the end of the page are left out, and the next page starts with them. */
  readonly max_chars?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `listFollowers`. */
export interface AccountsParameters {
  /** Number of items on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the next page, unchanged: `nextCursor` of the previous page in JSON, or `cursor` in its link “Next page”. */
  readonly cursor?: string | undefined;
  /** Page number, 1 to 10. Cannot be combined with `cursor`. */
  readonly page?: number | undefined;
  /** Adds details to Markdown and HTML. Posts get the exact time, the language, and the counts of quotes, bookmarks and reactions. Accounts get details such as the complete biography or the ID. */
  readonly full?: boolean | undefined;
  /** Maximum number of characters of the text, 2000 to 400000. Longer texts are shortened: items at the end of the page are left out, and the next page starts with them. */
  readonly max_chars?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `searchPosts`. */
export interface SearchParameters {
  /** Kind of results. `latest`: the newest posts. `top`: popular posts. `photos` or `media`: posts with photos. `videos`: posts with videos. `users`: accounts. */
  readonly feed?: 'latest' | 'top' | 'photos' | 'videos' | 'users' | 'media' | undefined;
  /** Only posts at or after this time: `2026-01-31`, `2026-01-31T12:00Z` or Unix seconds. */
  readonly since?: string | number | undefined;
  /** Only posts before this time: `2026-01-31`, `2026-01-31T12:00Z` or Unix seconds. */
  readonly until?: string | number | undefined;
  /** Posts and accounts to search: those of the platform `x`, `bluesky` or `mastodon`, the imported accounts (`archive`), or the fictional accounts (`sample`). Default: the platform of the first provider in `PERCH_PROVIDERS` that supports searches. `archive` counts only if it is the only provider. */
  readonly platform?: 'x' | 'bluesky' | 'mastodon' | 'archive' | 'sample' | undefined;
  /** Whether the search fails with 503 `upstream_unavailable` if there are no live results. */
  readonly require_live?: boolean | undefined;
  /** Number of items on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Cursor of the next page, unchanged: `nextCursor` of the previous page in JSON, or `cursor` in its link “Next page”. */
  readonly cursor?: string | undefined;
  /** Page number, 1 to 10. Cannot be combined with `cursor`. */
  readonly page?: number | undefined;
  /** Adds details to Markdown and HTML. Posts get the exact time, the language, and the counts of quotes, bookmarks and reactions. Accounts get details such as the complete biography or the ID. */
  readonly full?: boolean | undefined;
  /** Maximum number of characters of the text, 2000 to 400000. Longer texts are shortened: items at the end of the page are left out, and the next page starts with them. */
  readonly max_chars?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `getOEmbed`. */
export interface EmbedParameters {
  /** Maximum width of the embedded post in pixels. */
  readonly maxwidth?: number | undefined;
  /** Maximum height of the embedded post in pixels. */
  readonly maxheight?: number | undefined;
  /** Fetches new data instead of using the response cache. */
  readonly nocache?: boolean | undefined;
}

/** Optional query parameters of the API operation `importProfilePosts`. */
export interface HistoryParameters {
  /** Only posts at or after this time: `2026-01-31`, `2026-01-31T12:00Z` or Unix seconds. */
  readonly since?: string | number | undefined;
  /** Only posts before this time: `2026-01-31`, `2026-01-31T12:00Z` or Unix seconds. */
  readonly until?: string | number | undefined;
  /** Maximum number of posts, 1 to 5000. If the range has more, the response contains the newest. */
  readonly max_posts?: number | undefined;
  /** Includes the account’s replies to others. */
  readonly with_replies?: boolean | undefined;
  /** Includes reposts: posts that the account reposted, with their original author and time. */
  readonly with_reposts?: boolean | undefined;
  /** Whether to return only the account’s replies to other accounts, without its other posts and its reposts. */
  readonly only_replies?: boolean | undefined;
  /** Whether to return only the ids, URLs and times of the posts. */
  readonly index?: boolean | undefined;
  /** Reads all posts from the platform, and ignores posts that Perch has stored for earlier requests. */
  readonly nocache?: boolean | undefined;
}

/** Codes of the errors that a server can return. */
export type ProblemCode =
  | 'missing_url'
  | 'invalid_url'
  | 'unsupported_host'
  | 'invalid_path'
  | 'invalid_params'
  | 'invalid_handle'
  | 'missing_query'
  | 'invalid_query'
  | 'invalid_feed'
  | 'invalid_resource'
  | 'invalid_cursor'
  | 'invalid_format'
  | 'invalid_thread'
  | 'invalid_context'
  | 'invalid_replies'
  | 'invalid_userinfo'
  | 'invalid_option'
  | 'unsupported_platform'
  | 'malformed_request'
  | 'invalid_body'
  | 'invalid_key'
  | 'unauthorized'
  | 'origin_not_allowed'
  | 'invalid_picture_address'
  | 'not_found'
  | 'picture_not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'expired_picture_address'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'headers_too_large'
  | 'rate_limited'
  | 'internal_error'
  | 'not_implemented'
  | 'upstream_error'
  | 'upstream_unavailable'
  | 'upstream_rate_limited'
  | 'overloaded'
  | 'key_store_unavailable'
  | 'shutting_down'
  | 'missing_message'
  | 'invalid_message'
  | 'invalid_start_index'
  | 'missing_continuation_token'
  | 'conflicting_continuation_tokens'
  | 'missing_bearer'
  | 'invalid_continuation_token'
  | 'session_forbidden'
  | 'session_not_found'
  | 'session_not_active'
  | 'turn_in_progress'
  | 'session_expired'
  | 'unsupported_feature'
  | 'idempotency_conflict'
  | 'turn_queue_full'
  | 'not_ready';
