import type { ServerResponse } from 'node:http';
import {
  bskyActor,
  bskyBlocked,
  bskyNode,
  bskyNotFound,
  bskyPost,
  bskyProfile,
  bskyQuoted,
  bskyRecordEmbed,
  bskyRepost,
  bskySignedInOnly,
  bskyTid,
} from './bluesky-payloads.ts';
import { answerHtml, answerJson, type FakeHandler } from './fake-upstream.ts';
import type { Fields } from './x-payloads.ts';

/** Account of the fake. */
export interface FakeAccount {
  readonly handle: string;
  /** Labels of the account. Tests can add labels at any time. */
  readonly labels: Fields[];
  state: 'active' | 'suspended' | 'deactivated' | 'deleted';
  /** Fields of the profile. */
  profile: Fields;
}

/** Post of the fake. */
export interface FakePost {
  readonly handle: string;
  readonly rkey: string;
  readonly uri: string;
  readonly ms: number;
  readonly text: string;
  readonly parent: FakePost | null;
  readonly quote: FakePost | null;
  readonly embed: Fields | undefined;
  readonly record: Fields;
  readonly replies: FakePost[];
  readonly labels: Fields[];
  likes: number;
  isDeleted: boolean;
  /** Whether the author has detached the post from quotes. */
  isDetached: boolean;
}

/** Options of a new post. By default it is not part of a thread. */
export interface NewPost {
  readonly text?: string;
  /** Unix milliseconds. Default: one minute after the latest post. */
  readonly ms?: number;
  readonly rkey?: string;
  readonly parent?: FakePost;
  readonly quote?: FakePost;
  readonly embed?: Fields;
  /** Further fields of the record, such as `facets`. */
  readonly record?: Fields;
  readonly likes?: number;
}

/** Behaviour of the fake. Tests can change the fields at any time. */
export interface FakeHabits {
  /** Maximum number of items on a page, regardless of `limit`. */
  maxRows: number;
  /** Whether all post searches are refused, as on the public host. */
  isSearchBarred: boolean;
  /** Whether timelines accept only cursors that the fake has issued. */
  refusesMadeUpCursors: boolean;
  /** Maximum depth of a thread, regardless of `depth`. */
  maxDepth: number;
}

/** Small in-memory AppView. */
export interface FakeBluesky {
  readonly habits: FakeHabits;
  readonly handler: FakeHandler;
  addAccount(
    handle: string,
    options?: { readonly isPrivate?: boolean; readonly profile?: Fields },
  ): FakeAccount;
  /** Adds a post. Creates the account if necessary. */
  addPost(handle: string, post?: NewPost): FakePost;
  /** Adds posts of an account, one per minute from `firstMs`, oldest first. */
  addPosts(handle: string, count: number, firstMs?: number): readonly FakePost[];
  /** Reposts a post. */
  repost(handle: string, post: FakePost, ms?: number): void;
  follow(follower: string, followed: string): void;
  /** Blocks two accounts for each other. */
  block(handle: string, other: string): void;
}

interface Row {
  readonly post: FakePost;
  readonly ms: number;
  readonly isRepost: boolean;
}

const startMs = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** Creates an AppView without accounts. */
export function createFakeBluesky(): FakeBluesky {
  return new AppView();
}

type Answer = { readonly body: unknown; readonly status?: number } | 'barred';

class AppView implements FakeBluesky {
  readonly habits: FakeHabits = {
    maxRows: 100,
    isSearchBarred: false,
    refusesMadeUpCursors: false,
    maxDepth: 1000,
  };
  readonly #accounts = new Map<string, FakeAccount>();
  readonly #posts = new Map<string, FakePost>();
  readonly #rows = new Map<string, Row[]>();
  readonly #followers = new Map<string, string[]>();
  readonly #follows = new Map<string, string[]>();
  readonly #blocks = new Set<string>();
  readonly #cursors = new Set<string>();
  #lastMs = startMs;

  readonly handler: FakeHandler = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bsky.example');
    const answer = this.#answer(pathname.replace('/xrpc/', ''), searchParams);
    if (answer === 'barred') answerHtml(response, { status: 403 });
    else send(response, answer);
  };

  addAccount: FakeBluesky['addAccount'] = (handle, { isPrivate = false, profile = {} } = {}) => {
    const labels = isPrivate ? [bskySignedInOnly(handle)] : [];
    const account: FakeAccount = { handle, labels, state: 'active', profile };
    this.#accounts.set(handle, account);
    return account;
  };

  addPost: FakeBluesky['addPost'] = (handle, fields = {}) => {
    if (!this.#accounts.has(handle)) this.addAccount(handle);
    const ms = fields.ms ?? this.#lastMs + minuteMs;
    this.#lastMs = Math.max(this.#lastMs, ms);
    const rkey = fields.rkey ?? bskyTid(ms, this.#posts.size % 1024);
    const { uri } = bskyPost({ handle, rkey });
    const { parent = null, quote = null, embed, record = {}, likes = 0 } = fields;
    const text = fields.text ?? `Post ${rkey}`;
    const own = { replies: [], labels: [], isDeleted: false, isDetached: false };
    // `bskyPost` sets it to a string.
    const address = uri as string;
    const post: FakePost = {
      handle,
      rkey,
      uri: address,
      ms,
      text,
      parent,
      quote,
      embed,
      record,
      likes,
      ...own,
    };
    this.#posts.set(address, post);
    parent?.replies.push(post);
    this.#addRow(handle, { post, ms, isRepost: false });
    return post;
  };

  addPosts: FakeBluesky['addPosts'] = (handle, count, firstMs = this.#lastMs + minuteMs) =>
    Array.from({ length: count }, (_, index) =>
      this.addPost(handle, { text: `Post number ${index}`, ms: firstMs + index * minuteMs }),
    );

  repost: FakeBluesky['repost'] = (handle, post, ms = this.#lastMs + minuteMs) => {
    if (!this.#accounts.has(handle)) this.addAccount(handle);
    this.#lastMs = Math.max(this.#lastMs, ms);
    this.#addRow(handle, { post, ms, isRepost: true });
  };

  follow: FakeBluesky['follow'] = (follower, followed) => {
    this.#followers.set(followed, [follower, ...(this.#followers.get(followed) ?? [])]);
    this.#follows.set(follower, [followed, ...(this.#follows.get(follower) ?? [])]);
  };

  block: FakeBluesky['block'] = (handle, other) => {
    this.#blocks.add(`${handle} ${other}`).add(`${other} ${handle}`);
  };

  /** Inserts a row. Rows are sorted newest first, and most are added in chronological order. */
  #addRow(handle: string, row: Row): void {
    const rows = this.#rows.get(handle) ?? [];
    let at = rows.length;
    while (at > 0 && (rows[at - 1]?.ms ?? 0) > row.ms) at -= 1;
    rows.splice(at, 0, row);
    this.#rows.set(handle, rows);
  }

  #answer(method: string, query: URLSearchParams): Answer {
    switch (method) {
      case 'app.bsky.actor.getProfile':
        return this.#profile(query);
      case 'app.bsky.feed.getPostThread':
        return this.#thread(query);
      case 'app.bsky.feed.getAuthorFeed':
        return this.#feed(query);
      case 'app.bsky.graph.getFollowers':
        return this.#connections(query, { field: 'followers', of: this.#followers });
      case 'app.bsky.graph.getFollows':
        return this.#connections(query, { field: 'follows', of: this.#follows });
      case 'app.bsky.feed.searchPosts':
        return this.#search(query);
      case 'app.bsky.actor.searchActors':
        return this.#searchActors(query);
      default:
        return {
          status: 501,
          body: { error: 'MethodNotImplemented', message: 'Method Not Implemented' },
        };
    }
  }

  /** Finds an account by handle (case-insensitive) or DID. */
  #find(actor: string | null): FakeAccount | undefined {
    const name = actor?.toLowerCase() ?? '';
    if (!name.startsWith('did:')) return this.#accounts.get(name);
    return [...this.#accounts.values()].find(({ handle }) => bskyActor(handle).did === name);
  }

  #actorView({ handle, labels, profile }: FakeAccount): Fields {
    const { displayName, verification } = profile;
    const more = {
      ...(displayName !== undefined && { displayName }),
      ...(verification !== undefined && { verification }),
    };
    return bskyActor(handle, {
      labels,
      ...(profile.handle !== undefined && { handle: profile.handle }),
      ...more,
    });
  }

  #profile(query: URLSearchParams): Answer {
    const account = this.#find(query.get('actor'));
    if (account === undefined || account.state === 'deleted') return refuse('Profile not found');
    if (account.state === 'suspended')
      return refuse('Account has been suspended', 'AccountTakedown');
    if (account.state === 'deactivated')
      return refuse('Account is deactivated', 'AccountDeactivated');
    const { handle, labels, profile } = account;
    return { body: bskyProfile(handle, { labels, ...profile }) };
  }

  #postView(post: FakePost, isQuoted = false): Fields {
    const account = this.#accounts.get(post.handle) ?? this.addAccount(post.handle);
    const { handle, rkey, ms, text, record, labels, parent } = post;
    const own = { handle, rkey, ms, text, record, ...(parent !== null && { parent: parent.uri }) };
    const embed = this.#embedView(post, isQuoted);
    return bskyPost(own, {
      author: this.#actorView(account),
      labels,
      likeCount: post.likes,
      replyCount: post.replies.length,
      ...(embed !== undefined && { embed }),
    });
  }

  #embedView({ embed, quote }: FakePost, isQuoted: boolean): Fields | undefined {
    if (quote === null || isQuoted) return embed;
    const record = bskyRecordEmbed(this.#quoteView(quote));
    if (embed === undefined) return record;
    return { $type: 'app.bsky.embed.recordWithMedia#view', media: embed, record };
  }

  #quoteView(quote: FakePost): Fields {
    const { uri } = quote;
    if (this.#isGone(quote))
      return { $type: 'app.bsky.embed.record#viewNotFound', uri, notFound: true };
    if (quote.isDetached)
      return { $type: 'app.bsky.embed.record#viewDetached', uri, detached: true };
    return bskyQuoted(this.#postView(quote, true));
  }

  #isGone({ isDeleted, handle }: FakePost): boolean {
    return isDeleted || this.#accounts.get(handle)?.state !== 'active';
  }

  #thread(query: URLSearchParams): Answer {
    const [, actor = '', rkey = ''] =
      /^at:\/\/([^/]+)\/app\.bsky\.feed\.post\/(.+)$/.exec(query.get('uri') ?? '') ?? [];
    const account = this.#find(actor);
    const post =
      account &&
      this.#posts.get(`at://${bskyActor(account.handle).did}/app.bsky.feed.post/${rkey}`);
    if (post === undefined || this.#isGone(post))
      return refuse(`Post not found: ${query.get('uri')}`, 'NotFound');
    const depth = Math.min(Number(query.get('depth') ?? 6), this.habits.maxDepth);
    const parent = this.#above(post, Number(query.get('parentHeight') ?? 80));
    return {
      body: { thread: bskyNode(this.#postView(post), { ...this.#below(post, depth), ...parent }) },
    };
  }

  #below(post: FakePost, depth: number): Fields {
    if (depth === 0) return {};
    const replies = post.replies.map(
      (reply) =>
        this.#stand(reply, post) ?? bskyNode(this.#postView(reply), this.#below(reply, depth - 1)),
    );
    return { replies };
  }

  #above({ parent, handle }: FakePost, height: number): Fields {
    if (parent === null || height === 0) return {};
    const stand = this.#stand(parent, { handle });
    return { parent: stand ?? bskyNode(this.#postView(parent), this.#above(parent, height - 1)) };
  }

  /** Returns the placeholder for a post next to a post of another account; `undefined` if it is visible. */
  #stand(post: FakePost, beside: Pick<FakePost, 'handle'>): Fields | undefined {
    if (this.#isGone(post)) return bskyNotFound(post.uri);
    if (!this.#blocks.has(`${post.handle} ${beside.handle}`)) return undefined;
    return bskyBlocked(post.uri, String(bskyActor(post.handle).did));
  }

  #feed(query: URLSearchParams): Answer {
    const account = this.#find(query.get('actor'));
    if (account === undefined || account.state !== 'active') return refuse('Profile not found');
    const beforeMs = this.#readCursor(query.get('cursor'));
    if (Number.isNaN(beforeMs)) return refuse('Malformed cursor');
    const all = (this.#rows.get(account.handle) ?? []).filter((row) =>
      fits(row, query.get('filter')),
    );
    const end = all.findLastIndex(({ ms }) => ms < beforeMs) + 1;
    const start = Math.max(0, end - this.#limit(query, 50));
    const rows = all.slice(start, end).reverse();
    const shown = rows.filter(({ post }) => !this.#isGone(post));
    return {
      body: {
        feed: shown.map((row) => this.#rowView(row, account)),
        cursor: start > 0 ? this.#giveCursor(all[start]?.ms ?? 0) : undefined,
      },
    };
  }

  #giveCursor(ms: number): string {
    const cursor = new Date(ms).toISOString();
    this.#cursors.add(cursor);
    return cursor;
  }

  /** Returns the time before which a page starts; `NaN` for an invalid cursor. */
  #readCursor(cursor: string | null): number {
    if (cursor === null) return Number.POSITIVE_INFINITY;
    const isMadeUp = !this.#cursors.has(cursor);
    return isMadeUp && this.habits.refusesMadeUpCursors ? Number.NaN : Date.parse(cursor);
  }

  #rowView({ post, ms, isRepost }: Row, account: FakeAccount): Fields {
    const { parent } = post;
    const target = parent === null ? null : (this.#stand(parent, post) ?? this.#postView(parent));
    return {
      post: this.#postView(post),
      ...(target !== null && { reply: { root: target, parent: target } }),
      ...(isRepost && { reason: bskyRepost(this.#actorView(account), ms) }),
    };
  }

  #connections(
    query: URLSearchParams,
    { field, of }: { readonly field: string; readonly of: ReadonlyMap<string, readonly string[]> },
  ): Answer {
    const account = this.#find(query.get('actor'));
    if (account === undefined || account.state !== 'active')
      return refuse(`Actor not found: ${query.get('actor')}`);
    const page = this.#pageOf(of.get(account.handle) ?? [], query);
    const actors = page.rows.flatMap((handle) => {
      const found = this.#accounts.get(handle);
      return found?.state === 'active' ? [this.#actorView(found)] : [];
    });
    return { body: { subject: this.#actorView(account), [field]: actors, cursor: page.cursor } };
  }

  #search(query: URLSearchParams): Answer {
    if (this.habits.isSearchBarred || query.has('cursor')) return 'barred';
    const since = query.has('since')
      ? Date.parse(query.get('since') ?? '')
      : Number.NEGATIVE_INFINITY;
    const until = query.has('until')
      ? Date.parse(query.get('until') ?? '')
      : Number.POSITIVE_INFINITY;
    const words = (query.get('q') ?? '').toLowerCase();
    const hits = [...this.#posts.values()]
      .filter((post) => !this.#isGone(post) && post.text.toLowerCase().includes(words))
      .filter(({ ms }) => ms >= since && ms < until)
      .sort((a, b) => (query.get('sort') === 'top' ? b.likes - a.likes : 0) || b.ms - a.ms);
    const { rows, cursor } = this.#pageOf(hits, query);
    return {
      body: { posts: rows.map((post) => this.#postView(post)), cursor, hitsTotal: hits.length },
    };
  }

  #searchActors(query: URLSearchParams): Answer {
    const words = (query.get('q') ?? '').toLowerCase();
    const hits = [...this.#accounts.values()].filter(
      ({ handle, state }) => state === 'active' && handle.includes(words),
    );
    const { rows, cursor } = this.#pageOf(hits, query);
    return { body: { actors: rows.map((account) => this.#actorView(account)), cursor } };
  }

  #limit(query: URLSearchParams, otherwise: number): number {
    return Math.min(Number(query.get('limit') ?? otherwise), this.habits.maxRows);
  }

  /** Cuts a page. Cursors of these lists are offsets. */
  #pageOf<T>(all: readonly T[], query: URLSearchParams) {
    const start = Number(query.get('cursor') ?? 0);
    const end = start + this.#limit(query, 25);
    return { rows: all.slice(start, end), cursor: end < all.length ? String(end) : undefined };
  }
}

/** Returns whether a row matches a filter. A thread of the author requires that all posts above are by the same author. */
function fits({ post, isRepost }: Row, filter: string | null): boolean {
  if (isRepost || filter !== 'posts_and_author_threads') return true;
  for (let above = post.parent; above !== null; above = above.parent) {
    if (above.handle !== post.handle) return false;
  }
  return true;
}

function refuse(message: string, error = 'InvalidRequest'): Answer {
  return { status: 400, body: { error, message } };
}

function send(response: ServerResponse, { body, status = 200 }: Exclude<Answer, 'barred'>): void {
  answerJson(response, body, { status });
}
