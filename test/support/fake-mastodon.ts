import type { ServerResponse } from 'node:http';
import { answerJson, type FakeHandler } from './fake-upstream.ts';
import { type AccountRow, homeHost, type Row, type StatusRow } from './mastodon-payloads.ts';

/** Mastodon server with its data. */
export interface FakeMastodon {
  readonly host: string;
  readonly handler: FakeHandler;
  addAccount(account: AccountRow): void;
  addStatus(status: StatusRow): void;
  removeStatus(id: string): void;
  /** Makes one account follow another one, as the newest follow. */
  follow(follower: AccountRow, followed: AccountRow): void;
  /** Ids of the posts of an account, newest first. */
  idsBy(account: AccountRow): readonly string[];
}

interface Relation {
  readonly id: number;
  readonly follower: AccountRow;
  readonly followed: AccountRow;
}

interface World {
  readonly host: string;
  readonly accounts: Map<string, AccountRow>;
  readonly statuses: Map<string, StatusRow>;
  readonly relations: Relation[];
}

/** Maximum number of rows on a page by kind of list (https://docs.joinmastodon.org/methods/). */
const maxRows = { statuses: 40, accounts: 80 } as const;

/** Creates an empty server with the paging, filters and `Link` headers of real ones. */
export function createFakeMastodon(host = homeHost): FakeMastodon {
  const world: World = { host, accounts: new Map(), statuses: new Map(), relations: [] };
  return {
    host,
    handler: (request, response) =>
      answer(world, new URL(`https://${host}${request.url}`), response),
    addAccount: (account) => world.accounts.set(account.id, account),
    addStatus: (status) => world.statuses.set(status.id, status),
    removeStatus: (id) => world.statuses.delete(id),
    follow: (follower, followed) => {
      world.relations.push({ id: 5000 + 7 * world.relations.length, follower, followed });
    },
    idsBy: (account) => newestFirst(world, (status) => status.account.id === account.id).map(idOf),
  };
}

/** Answers a request for a missing resource. */
export function answerNotFound(response: ServerResponse): void {
  answerJson(response, { error: 'Record not found' }, { status: 404 });
}

/** Response of a server; `undefined` for a missing resource. */
type Sent = { readonly body: unknown; readonly link?: string } | undefined;

function answer(world: World, url: URL, response: ServerResponse): void {
  const sent = find(world, url);
  if (sent === undefined) answerNotFound(response);
  else
    answerJson(
      response,
      sent.body,
      sent.link === undefined ? {} : { headers: { link: sent.link } },
    );
}

function find(world: World, url: URL): Sent {
  const [, , , resource = '', id = '', part = ''] = url.pathname.split('/').map(decodeURIComponent);
  switch (resource) {
    case 'search':
      return { body: searchAccounts(world, url) };
    case 'timelines':
      return cutPage(url, listTag(world, url, part));
    case 'statuses':
      return findStatus(world, id, part);
    case 'accounts':
      return findAccount(world, url, { id, part });
    default:
      return undefined;
  }
}

function findAccount(
  world: World,
  url: URL,
  { id, part }: { readonly id: string; readonly part: string },
): Sent {
  const account = id === 'lookup' ? lookUp(world, url) : world.accounts.get(id);
  if (account === undefined) return undefined;
  if (part === '') return { body: account };
  if (part === 'statuses') return cutPage(url, listStatuses(world, url, account));
  return cutPage(url, listRelations(world, account, part));
}

function lookUp({ accounts, host }: World, url: URL): AccountRow | undefined {
  const acct = url.searchParams.get('acct')?.toLowerCase().replace(`@${host}`, '');
  return [...accounts.values()].find((account) => account.acct.toLowerCase() === acct);
}

function searchAccounts({ accounts }: World, url: URL): Row {
  const q = url.searchParams.get('q')?.toLowerCase() ?? '';
  const found = [...accounts.values()].filter(({ acct }) => acct.toLowerCase().includes(q));
  return { accounts: found.slice(0, limitOf(url, maxRows.statuses)), statuses: [], hashtags: [] };
}

function findStatus(world: World, id: string, part: string): Sent {
  const status = world.statuses.get(id);
  if (status === undefined) return undefined;
  if (part !== 'context') return { body: status };
  return {
    body: { ancestors: above(world, status), descendants: below(world, id).slice(0, 60) },
  };
}

function above({ statuses }: World, status: StatusRow): readonly StatusRow[] {
  const found: StatusRow[] = [];
  let next = statuses.get(String(status.in_reply_to_id));
  for (; next !== undefined; next = statuses.get(String(next.in_reply_to_id))) found.push(next);
  return found.slice(0, 40).reverse();
}

/** Returns all replies below a post in depth-first order, as real servers do. */
function below(world: World, id: string): readonly StatusRow[] {
  const direct = newestFirst(world, (status) => status.in_reply_to_id === id).reverse();
  return direct.flatMap((status) => [status, ...below(world, status.id)]);
}

/** Row of a list with its position. */
interface Placed {
  readonly place: string;
  readonly row: Row;
}

interface Listed {
  readonly rows: readonly Placed[];
  readonly most: number;
}

function listStatuses(world: World, { searchParams }: URL, account: AccountRow): Listed {
  const hides = (name: string) => searchParams.get(name) === 'true';
  const isListed = (status: StatusRow) =>
    status.account.id === account.id &&
    !(hides('exclude_reblogs') && status.reblog !== null) &&
    !(hides('exclude_replies') && isReplyToOther(status, account));
  return toListed(newestFirst(world, isListed));
}

function isReplyToOther(status: StatusRow, { id }: AccountRow): boolean {
  return status.in_reply_to_account_id !== null && status.in_reply_to_account_id !== id;
}

function listTag(world: World, { searchParams }: URL, tag: string): Listed {
  const all = [tag, ...searchParams.getAll('all[]')];
  const none = searchParams.getAll('none[]');
  const onlyMedia = searchParams.get('only_media') === 'true';
  const has = (status: StatusRow, name: string) => tagsOf(status).includes(name.toLowerCase());
  const isListed = (status: StatusRow) =>
    all.every((name) => has(status, name)) &&
    !none.some((name) => has(status, name)) &&
    !(onlyMedia && (status.media_attachments as readonly unknown[]).length === 0);
  return toListed(newestFirst(world, isListed));
}

function tagsOf({ tags }: StatusRow): readonly string[] {
  // In the format of `statusRow`.
  return (tags as readonly { readonly name: string }[]).map(({ name }) => name.toLowerCase());
}

function toListed(statuses: readonly StatusRow[]): Listed {
  return { rows: statuses.map((row) => ({ place: row.id, row })), most: maxRows.statuses };
}

/** Lists followers or followed accounts. Positions are ids of the follow relation, not of accounts. */
function listRelations({ relations }: World, account: AccountRow, part: string): Listed {
  const [mine, theirs] =
    part === 'followers'
      ? (['followed', 'follower'] as const)
      : (['follower', 'followed'] as const);
  const rows = relations
    .filter((relation) => relation[mine].id === account.id)
    .map((relation) => ({ place: String(relation.id), row: relation[theirs] }));
  const isHidden = account.hide_collections === true;
  return { rows: isHidden ? [] : rows.reverse(), most: maxRows.accounts };
}

function cutPage(url: URL, { rows, most }: Listed): Sent {
  const maxId = url.searchParams.get('max_id');
  const rest = maxId === null ? rows : rows.filter(({ place }) => BigInt(place) < BigInt(maxId));
  const page = rest.slice(0, limitOf(url, most));
  const body = page.map(({ row }) => row);
  const last = page.at(-1);
  if (last === undefined) return { body };
  const previous = `<${url}&min_id=1>; rel="prev"`;
  if (page.length === rest.length) return { body, link: previous };
  const next = new URL(url);
  next.searchParams.set('max_id', last.place);
  return { body, link: `<${next}>; rel="next", ${previous}` };
}

function limitOf({ searchParams }: URL, most: number): number {
  return Math.min(Number(searchParams.get('limit') ?? 20), most);
}

function newestFirst({ statuses }: World, isListed: (status: StatusRow) => boolean): StatusRow[] {
  return [...statuses.values()]
    .filter(isListed)
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? 1 : -1));
}

function idOf({ id }: StatusRow): string {
  return id;
}
