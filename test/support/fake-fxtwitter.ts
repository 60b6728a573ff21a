import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import {
  leastIdAt,
  readTimelineCursor,
  writeTimelineCursor,
} from '../../src/providers/fxtwitter/lists/timeline.ts';
import {
  answerJson,
  type FakeHandler,
  type SeenRequest,
  startFakeUpstream,
} from './fake-upstream.ts';
import {
  type Fields,
  fxBody,
  fxMedia,
  fxNoList,
  fxNothing,
  fxNoUser,
  fxPage,
  fxProfile,
  fxStatus,
  fxSuggestions,
  fxUser,
  parametersOf,
  toXTime,
} from './x-payloads.ts';

/**
 * Paging behaviour of the fake. An index is the position of a row among those that the request can see.
 * All functions must be deterministic.
 */
export interface FxHabits {
  /** Returns the number of rows of the page at an index when its cursor is sent for the `times`th time. */
  readonly pageSize: (index: number, times: number) => number;
  /** Returns the indices of earlier rows that the page at an index repeats. */
  readonly repeats: (index: number) => readonly number[];
  /** Returns the number of empty pages before the page at an index. */
  readonly emptyBefore: (index: number) => number;
  /** Returns how often a page is sent with 0 or 1 rows before it is sent in full. */
  readonly shortTimes: (index: number) => number;
  /**
   * `bottom` of the last page: `null`, the cursor of the request, `0|…` (account lists only, `null`
   * elsewhere), or a cursor to an empty page whose `bottom` is its own cursor.
   */
  readonly end: 'null' | 'same' | 'zero' | 'empty';
}

/** Habits with full pages of 20 rows. */
export const fullPageHabits: FxHabits = {
  pageSize: () => 20,
  repeats: () => [],
  emptyBefore: () => 0,
  shortTimes: () => 0,
  end: 'null',
};

/** Kind of a timeline row. `foreign`: a post by another account that the account replied to. */
export type FxRowKind = 'post' | 'self_reply' | 'reply' | 'foreign' | 'repost' | 'self_repost';

/** Row of a list. */
export interface FxRow {
  readonly id: string;
  readonly payload: Fields;
}

/** Row of a timeline. `seconds` is its timestamp. */
export interface FxTimelineRow extends FxRow {
  readonly kind: FxRowKind;
  readonly seconds: number;
}

/** List of the fake, newest first. */
export interface FxList<Row extends FxRow = FxRow> {
  /** All rows, including deleted ones. */
  readonly rows: readonly Row[];
  /** Deletes the row with the given id. */
  remove(id: string): void;
}

/** Lists of a search. `media` has the posts of `latest` with media. */
interface FxSearch {
  readonly latest: FxList;
  readonly top: FxList;
  readonly media: FxList;
}

/** FxTwitter on loopback with data set by tests, and the accounts `x` and `XDevelopers`. */
export interface FakeFxTwitter {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Received requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Adds or changes an account. Handles are case-insensitive. */
  addAccount(handle: string, fields?: Fields): void;
  /** Removes an account with its lists and posts. */
  removeAccount(handle: string): void;
  /** Sets the timeline of an account. `kindOf` returns the kind of the row at an index. */
  addTimeline(
    handle: string,
    about: { readonly length: number; readonly kindOf?: (index: number) => FxRowKind },
    habits?: FxHabits,
  ): FxList<FxTimelineRow>;
  /** Sets the followers or the followed accounts of an account. */
  addConnections(
    handle: string,
    about: { readonly kind: 'followers' | 'following'; readonly length: number },
    habits?: FxHabits,
  ): FxList;
  /** Sets the results of a search: one post in three has a photo, the next one a video. */
  addSearch(text: string, length: number, habits?: FxHabits): FxSearch;
  /**
   * Answers requests for which `isMet` returns true with another handler, until the returned function is
   * called. `isMet` is called with the path and query.
   */
  interrupt(isMet: (url: string) => boolean, handler: FakeHandler): () => void;
  /** Delays responses until the returned function is called. */
  hold(): () => void;
}

/** Starts a fake FxTwitter. It is closed at the end of the test. */
export async function startFakeFxTwitter(): Promise<FakeFxTwitter> {
  const world = new World();
  const interruptions = new Map<(url: string) => boolean, FakeHandler>();
  const server = await startFakeUpstream((request, response) => {
    const found = [...interruptions].find(([isMet]) => isMet(request.url ?? ''));
    if (found === undefined) answer(world, request, response);
    else found[1](request, response);
  });
  onTestFinished(() => server.close());
  world.addAccount('x');
  world.addAccount('XDevelopers');
  const interrupt: FakeFxTwitter['interrupt'] = (isMet, handler) => {
    interruptions.set(isMet, handler);
    return () => void interruptions.delete(isMet);
  };
  return {
    url: server.url,
    requests: server.requests,
    addAccount: (handle, fields) => world.addAccount(handle, fields),
    removeAccount: (handle) => world.removeAccount(handle),
    addTimeline: (handle, about, habits = fullPageHabits) =>
      world.addTimeline(handle, { kindOf: () => 'post', ...about }, habits),
    addConnections: (handle, about, habits = fullPageHabits) =>
      world.addConnections(handle, about, habits),
    addSearch: (text, length, habits = fullPageHabits) => world.addSearch(text, length, habits),
    interrupt,
    hold: () => {
      const held: (() => void)[] = [];
      const release = interrupt(
        () => true,
        (request, response) => void held.push(() => answer(world, request, response)),
      );
      return () => {
        release();
        for (const proceed of held) proceed();
      };
    },
  };
}

/** Time of the oldest row of all lists. Each row is one minute newer than the next one. */
const oldestMs = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** Age difference between reposts and their originals. Reposts have the timestamps of the originals. */
const originalsMs = 400 * 24 * 60 * minuteMs;

/** Returns a snowflake id. `left` is the number of rows from this one on. */
function idAt(left: number, shiftMs = 0): bigint {
  return leastIdAt(oldestMs + left * minuteMs - shiftMs);
}

/** Position in a list: the number of remaining rows, and of empty pages already sent. */
interface Place {
  readonly left: number;
  readonly empties: number;
}

/** Encoder and decoder of the cursors of a list. */
interface CursorForm {
  write(place: Place): string;
  read(cursor: string): Place;
  readonly hasZeroEnd: boolean;
}

/** Cursor format of X: the page starts below the id. Synthetic cursors, as Perch sends them, are valid too. */
const timelineCursors: CursorForm = {
  write: ({ left, empties }) =>
    writeTimelineCursor({
      issuedId: idAt(0),
      // Empty pages have positions between two rows.
      sortId: idAt(left + 1) - BigInt(empties),
      direction: 'bottom',
    }),
  read: (cursor) => {
    const { sortId = idAt(0) } = readTimelineCursor(cursor) ?? {};
    const left = Number((sortId - 1n - idAt(0)) / (idAt(1) - idAt(0)));
    const below = idAt(left + 1) - sortId;
    return { left, empties: below < 100n ? Number(below) : 0 };
  },
  hasZeroEnd: false,
};

/** Prefixes of the last cursor of an account list. */
const endPrefix = '0|';

const userCursors: CursorForm = {
  write: ({ left, empties }) => `1872784690${left}|20854743714632826${empties}`,
  read: (cursor) => {
    const [, left, empties] = /^1872784690(\d+)\|20854743714632826(\d+)$/.exec(cursor) ?? [];
    return { left: Number(left ?? 0), empties: Number(empties ?? 0) };
  },
  hasZeroEnd: true,
};

const searchCursors: CursorForm = {
  write: ({ left, empties }) => Buffer.from(`search ${left} ${empties}`).toString('base64url'),
  read: (cursor) => {
    const [, left, empties] = Buffer.from(cursor, 'base64url').toString().split(' ');
    return { left: Number(left ?? 0), empties: Number(empties ?? 0) };
  },
  hasZeroEnd: false,
};

/** List that is sent page by page. */
class PagedList<Row extends FxRow> implements FxList<Row> {
  readonly rows: readonly Row[];
  readonly #form: CursorForm;
  readonly #habits: FxHabits;
  readonly #removed = new Set<string>();
  readonly #sent = new Map<string, number>();

  constructor(rows: readonly Row[], form: CursorForm, habits: FxHabits) {
    this.rows = rows;
    this.#form = form;
    this.#habits = habits;
  }

  remove(id: string): void {
    this.#removed.add(id);
  }

  /** Returns the body of one page of the visible rows. */
  read(cursor: string | null, isShown: (row: Row) => boolean = () => true): Fields {
    const shown = this.rows.flatMap((row, at) => (isShown(row) ? [{ row, at }] : []));
    const left = cursor === null ? this.rows.length : this.#form.read(cursor).left;
    const found = shown.findIndex(({ at }) => at >= this.rows.length - left);
    const index = found === -1 ? shown.length : found;
    const empties = cursor === null ? 0 : this.#form.read(cursor).empties;
    if (index > 0 && index < shown.length && empties < this.#habits.emptyBefore(index)) {
      return fxPage([], this.#form.write({ left, empties: empties + 1 }));
    }
    return this.#pageAt(index, shown, cursor);
  }

  #pageAt(
    index: number,
    shown: readonly { readonly row: Row; readonly at: number }[],
    cursor: string | null,
  ): Fields {
    const times = (this.#sent.get(`${cursor} ${shown.length}`) ?? 0) + 1;
    this.#sent.set(`${cursor} ${shown.length}`, times);
    const end = Math.min(index + this.#habits.pageSize(index, times), shown.length);
    const next = shown[end];
    const bottom =
      next === undefined ? this.#bottomAtEnd(index, end, cursor) : this.#cursorTo(next.at);
    const own = Array.from({ length: end - index }, (_, offset) => index + offset);
    const all = [...own.slice(0, 1), ...this.#habits.repeats(index), ...own.slice(1)];
    const rows = [...new Set(all)].flatMap((i) => shown[i]?.row ?? []);
    const goesOn = bottom !== null && bottom !== cursor && !bottom.startsWith(endPrefix);
    const isShort = goesOn && times <= this.#habits.shortTimes(index);
    const sent = isShort ? rows.slice(0, times % 2) : rows;
    const left = sent.filter(({ id }) => !this.#removed.has(id));
    return fxPage(
      left.map(({ payload }) => payload),
      bottom,
    );
  }

  #bottomAtEnd(index: number, end: number, cursor: string | null): string | null {
    switch (this.#habits.end) {
      case 'null':
        return null;
      case 'same':
        return cursor;
      case 'zero':
        return this.#form.hasZeroEnd ? `${endPrefix}2085474371463282617` : null;
      case 'empty':
        return index < end ? this.#cursorTo(this.rows.length) : cursor;
    }
  }

  #cursorTo(at: number): string {
    return this.#form.write({ left: this.rows.length - at, empties: 0 });
  }
}

/** Data of the fake. */
class World {
  readonly profiles = new Map<string, Fields>();
  readonly timelines = new Map<string, PagedList<FxTimelineRow>>();
  readonly connections = new Map<string, PagedList<FxRow>>();
  readonly searches = new Map<string, PagedList<FxRow>>();
  readonly posts = new Map<string, Fields>();
  #lists = 0;

  addAccount(handle: string, fields: Fields = {}): void {
    this.profiles.set(handle.toLowerCase(), fxUser(handle, fields));
  }

  removeAccount(handle: string): void {
    const key = handle.toLowerCase();
    this.profiles.delete(key);
    for (const { id } of this.timelines.get(key)?.rows ?? []) this.posts.delete(id);
    this.timelines.delete(key);
    for (const kind of ['followers', 'following']) this.connections.delete(`${key}/${kind}`);
  }

  addTimeline(
    handle: string,
    { length, kindOf }: { readonly length: number; readonly kindOf: (index: number) => FxRowKind },
    habits: FxHabits,
  ): PagedList<FxTimelineRow> {
    const kinds = Array.from({ length }, (_, index) => kindOf(index));
    const account = { handle, list: this.#nextList() };
    const rows = kinds.map((_, index) => toTimelineRow(kinds, index, account));
    for (const { id, payload } of rows) this.posts.set(id, payload);
    return keep(this.timelines, handle.toLowerCase(), new PagedList(rows, timelineCursors, habits));
  }

  addConnections(
    handle: string,
    { kind, length }: { readonly kind: 'followers' | 'following'; readonly length: number },
    habits: FxHabits,
  ): PagedList<FxRow> {
    const list = this.#nextList();
    const rows = Array.from({ length }, (_, index) => {
      const id = String(list * 10_000 + index + 1);
      const fields = { id, protected: index % 11 === 5, location: 'Nowhere' };
      return { id, payload: fxUser(`u${id}`, fields) };
    });
    const key = `${handle.toLowerCase()}/${kind}`;
    return keep(this.connections, key, new PagedList(rows, userCursors, habits));
  }

  addSearch(text: string, length: number, habits: FxHabits): FxSearch {
    const list = this.#nextList();
    const media = [{}, fxMedia.photo, fxMedia.video];
    const rows = Array.from({ length }, (_, index) => {
      const fields = { ...(media[index % 3] ?? {}), author: fxUser(`author${index % 9}`) };
      return toPost(idAt(length - index) + BigInt(list), fields);
    });
    for (const { id, payload } of rows) this.posts.set(id, payload);
    const add = (feed: string, some: readonly FxRow[]) =>
      keep(this.searches, `${feed} ${text}`, new PagedList(some, searchCursors, habits));
    return {
      latest: add('latest', rows),
      top: add('top', rows.toReversed()),
      media: add(
        'media',
        rows.filter((_, index) => index % 3 !== 0),
      ),
    };
  }

  /** Numbers the lists, so that their ids are unique. */
  #nextList(): number {
    this.#lists += 1;
    return this.#lists;
  }
}

function keep<List>(lists: Map<string, List>, key: string, list: List): List {
  lists.set(key, list);
  return list;
}

function toPost(id: bigint, fields: Fields): FxRow & { readonly seconds: number } {
  const seconds = Math.floor((Number(id >> 22n) + 1_288_834_974_657) / 1000);
  const times = { created_at: toXTime(seconds), created_timestamp: seconds };
  // These ids contain a time, unlike the small ids for which the payloads derive one.
  const payload = { ...fxStatus('1', times), id: String(id), text: `Post ${id}`, ...fields };
  return { id: String(id), seconds, payload };
}

interface TimelineOwner {
  readonly handle: string;
  readonly list: number;
}

function toTimelineRow(
  kinds: readonly FxRowKind[],
  index: number,
  { handle, list }: TimelineOwner,
): FxTimelineRow {
  const kind = kinds[index] ?? 'post';
  const left = kinds.length - index;
  const id = idAt(left) + BigInt(list);
  const owner = fxUser(handle);
  const other = fxUser(`author${index % 7}`);
  const answering = (screen_name: string) => ({
    author: owner,
    replying_to: { screen_name, status: String(id - 1n), url: '', profile_url: '' },
  });
  switch (kind) {
    case 'post':
      return { kind, ...toPost(id, { author: owner }) };
    case 'self_reply':
      return { kind, ...toPost(id, answering(handle)) };
    case 'reply':
      return { kind, ...toPost(id, answering(`author${(index + 1) % 7}`)) };
    case 'foreign':
      return { kind, ...toPost(id, { author: other }) };
    case 'repost': {
      const original = idAt(left, originalsMs) + BigInt(list);
      return { kind, ...toPost(original, { author: other, reposted_by: owner }) };
    }
    case 'self_repost': {
      const at = kinds.indexOf('post', index + 1);
      if (at === -1) return { kind: 'post', ...toPost(id, { author: owner }) };
      const original = idAt(kinds.length - at) + BigInt(list);
      return { kind, ...toPost(original, { author: owner, reposted_by: owner }) };
    }
  }
}

function answer(world: World, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://x.example');
  const [version, root = '', ...rest] = pathname.slice(1).split('/').map(decodeURIComponent);
  const parameters = parametersOf(request);
  if (request.headers['user-agent'] === undefined) {
    answerJson(response, { error: 'No user agent' }, { status: 401 });
  } else {
    send(response, version === '2' ? toBody(world, { root, rest, parameters }) : unknownRoute);
  }
}

function send(response: ServerResponse, body: Fields): void {
  answerJson(response, body, { status: Number(body.code) });
}

const unknownRoute: Fields = { code: 404, message: 'Not found' };
const refused: Fields = { code: 400, message: 'count: not in 1..100' };

interface FxRequest {
  readonly root: string;
  readonly rest: readonly string[];
  readonly parameters: URLSearchParams;
}

function toBody(world: World, { root, rest, parameters }: FxRequest): Fields {
  const [name = '', list] = rest;
  const count = Number(parameters.get('count') ?? 20);
  if (!(count >= 1 && count <= 100)) return refused;
  switch (root) {
    case 'status':
      return world.posts.has(name) ? fxBody(world.posts.get(name)) : fxNothing;
    case 'profile':
      return list === undefined
        ? toProfile(world, name)
        : toList(world, `${name.toLowerCase()}/${list}`, parameters);
    case 'search':
      return toSearch(world, parameters);
    case 'typeahead':
      return toSuggestions(world, parameters.get('q') ?? '');
    default:
      return unknownRoute;
  }
}

function toProfile({ profiles }: World, handle: string): Fields {
  const profile = profiles.get(handle.toLowerCase());
  return profile === undefined ? fxNoUser : fxProfile(profile);
}

/**
 * Returns a filter that hides replies to other accounts, and the posts that they answer, unless requested.
 * A third of the replies remains, because the service does not guarantee that it hides all.
 */
function isShownTo(hasReplies: boolean): (row: FxTimelineRow) => boolean {
  return ({ kind, seconds }) =>
    hasReplies || (kind === 'reply' ? seconds % 180 === 0 : kind !== 'foreign');
}

function toList(
  { profiles, timelines, connections }: World,
  key: string,
  parameters: URLSearchParams,
): Fields {
  const [handle = '', list] = key.split('/');
  const cursor = parameters.get('cursor');
  if (!profiles.has(handle) || cursor?.startsWith(endPrefix)) return fxNoList;
  if (list !== 'statuses') return connections.get(key)?.read(cursor) ?? fxPage([]);
  const hasReplies = ['1', 'true', 'yes', 'on', ''].includes(parameters.get('with_replies') ?? '0');
  return timelines.get(handle)?.read(cursor, isShownTo(hasReplies)) ?? fxPage([]);
}

function toSearch({ searches }: World, parameters: URLSearchParams): Fields {
  const feed = parameters.get('feed') ?? 'latest';
  if (!['latest', 'top', 'media'].includes(feed)) return { code: 400, message: 'feed: unknown' };
  const list = searches.get(`${feed} ${parameters.get('q')}`);
  return list?.read(parameters.get('cursor')) ?? fxPage([]);
}

/** Returns suggestions: one page, without counts. */
function toSuggestions({ profiles }: World, text: string): Fields {
  const found = [...profiles.values()].filter(({ screen_name }) =>
    String(screen_name).toLowerCase().includes(text.toLowerCase()),
  );
  return fxSuggestions(found.map((user) => ({ ...user, followers: 0, joined: '' })));
}
