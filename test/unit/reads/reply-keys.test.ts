import { describe, expect, it } from 'vitest';
import { createRenderingBudget, type Found } from '../../../src/fetching/plan.ts';
import { matchOwnPath } from '../../../src/reads/addresses/own-paths.ts';
import { createCursorCodec } from '../../../src/reads/cursor.ts';
import { importProfilePosts } from '../../../src/reads/import-profile-posts.ts';
import { reads } from '../../../src/reads/index.ts';
import { describeParametersOf, type ParsedRead, type Read } from '../../../src/reads/read.ts';
import { fc, runs } from '../../support/fast-check.ts';
import { account, status } from '../../support/render-posts.ts';

const context = {
  baseUrl: 'https://perch.test',
  xMirrors: [],
  mastodonSearchHost: 'mastodon.social',
  cursors: createCursorCodec(Buffer.alloc(32)),
  searchPlatform: 'bluesky',
  embedSeconds: 60,
} as const;

type Given = Readonly<Record<string, string>>;

/** Texts with different meanings, for the parameters that have no other list of values. */
const texts: Readonly<Record<string, readonly string[]>> = {
  url: ['https://x.com/jack/status/20', 'https://bsky.app/profile/mira.test/post/3kroot'],
  handle: ['mira.test', 'noor.test'],
  id: ['3kroot', '3kleaf'],
  q: ['heron', 'gull lamp'],
};

const required = (read: Read): readonly string[] =>
  read.name === 'getPost' ? ['handle', 'id'] : read.name === 'listReplies' ? ['handle'] : [];

/** Parameters of a read, each with values of different meanings, computed from its schema. */
function listValues(read: Read) {
  return describeParametersOf(read)
    .filter(({ name }) => name !== 'cursor')
    .map((parameter) => ({
      name: parameter.name,
      isRequired: parameter.required || required(read).includes(parameter.name),
      values: valuesOf(parameter),
    }));
}

function valuesOf({ name, schema }: ReturnType<typeof describeParametersOf>[number]) {
  if (texts[name] !== undefined) return texts[name];
  const forms = [schema, ...((schema.anyOf ?? []) as readonly (typeof schema)[])];
  const values = forms.flatMap(({ type, enum: words, format, minimum }) => {
    if (Array.isArray(words)) return words.map(String);
    if (type === 'boolean') return ['true', 'false'];
    if (type === 'integer') return [3, 7].map((more) => String(Number(minimum) + more));
    return format === 'date' ? ['2026-01-31', '2026-02-01'] : [];
  });
  if (values.length === 0 && name !== 'format') throw new Error(`Give values of ${name}.`);
  return name === 'format' && values.length === 0 ? ['json', 'JSON'] : values;
}

/** Returns random valid parameters of a read; invalid combinations are left out by the properties. */
function arbitraryGiven(read: Read): fc.Arbitrary<Given> {
  const entries = listValues(read).map(({ name, isRequired, values }) => {
    const value = fc.constantFrom(...values);
    if (isRequired) return [name, value] as const;
    const absent = { arbitrary: fc.constant(undefined), weight: name === 'url' ? 1 : 4 };
    const given = { arbitrary: value, weight: name === 'url' ? 0 : 1 };
    return [name, fc.oneof(absent, given)] as const;
  });
  return fc.record(Object.fromEntries(entries)).map(withoutAbsent);
}

const withoutAbsent = (given: Readonly<Record<string, string | undefined>>): Given =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function tryParse(read: Read, given: Given): ParsedRead | null {
  try {
    return read.parse(given, context);
  } catch {
    return null;
  }
}

const keyOf = ({ plan, views }: ParsedRead): string => `${plan.key} ${views.markdown}`;

/** Returns the parameters in a form that is equal for parameters with the same meaning. */
function meaningOf({ name }: Read, given: Given): string {
  const meaning: Record<string, unknown> = { ...given };
  const { thread = 'full', context: of = 'full', full = 'false' } = given;
  if (name === 'getPost') {
    meaning.thread = thread;
    meaning.context = of;
    meaning.replies = thread === 'off' || of === 'thread' ? 'none' : (given.replies ?? 'top');
    meaning.userinfo = given.userinfo ?? (full === 'true' ? 'author' : 'off');
  }
  if (given.feed === 'media') meaning.feed = 'photos';
  return JSON.stringify(meaning);
}

const allReads = Object.values<Read>(reads);
const parametersOf = (read: Read) =>
  listValues(read)
    .filter(({ name }) => name !== 'format' && name !== 'nocache')
    .map((parameter) => ({ read, ...parameter, title: `${parameter.name} of ${read.name}` }));

describe('the key of a cached reply', () => {
  it.each(allReads.flatMap(parametersOf))('changes with $title', ({ read, name, values }) => {
    let compared = 0;
    const others = arbitraryGiven(read);
    fc.assert(
      fc.property(
        others,
        fc.shuffledSubarray([...values], { minLength: 2, maxLength: 2 }),
        (given, pair) => {
          const [one = {}, other = {}] = pair.map((value) => ({ ...given, [name]: value }));
          const parsed = [tryParse(read, one), tryParse(read, other)] as const;
          if (parsed[0] === null || parsed[1] === null) return;
          if (meaningOf(read, one) === meaningOf(read, other)) return;
          compared += 1;

          expect(keyOf(parsed[0])).not.toBe(keyOf(parsed[1]));
        },
      ),
      { numRuns: runs(250) },
    );
    expect(compared).toBeGreaterThan(0);
  });

  it.each(
    allReads.filter(({ kind }) => kind === 'browse').map((read) => ({ read, name: read.name })),
  )('changes with the cursor of $name', ({ read }) => {
    fc.assert(
      fc.property(
        arbitraryGiven(read),
        fc.uniqueArray(fc.nat(), { minLength: 2, maxLength: 2 }),
        (all, counts) => {
          const { page: _, ...given } = all;
          const query = tryParse(read, given)?.plan.query;
          if (query?.kind !== 'browse' || query.list === null) return;
          const keys = counts.map((taken) => {
            const position = {
              provider: 'archive',
              cursor: null,
              page: 2,
              fruitless: 0,
              recent: [],
            };
            const cursor = context.cursors.seal(query.listKey, { ...position, taken }) ?? '';
            return keyOf(read.parse({ ...given, cursor }, context));
          });

          expect(keys[0]).not.toBe(keys[1]);
        },
      ),
    );
  });

  it.each(allReads.map((read) => ({ read, name: read.name })))(
    'does not change with nocache of $name, with its format, or with the form of a handle',
    ({ read }) => {
      fc.assert(
        fc.property(arbitraryGiven(read), (given) => {
          const parsed = tryParse(read, given);
          if (parsed === null) return;
          const { format: _, ...same } = given;
          const handle = given.handle && { handle: `@${given.handle.toUpperCase()}` };
          const other = read.parse({ ...same, ...handle, nocache: 'true' }, context);

          expect(keyOf(other)).toBe(keyOf(parsed));
        }),
      );
    },
  );

  it('has the handle of a post whose id is enough only for the warning about it', () => {
    const parsed = ['jack', 'i', 'biz'].map((handle) =>
      reads.getPost.parse({ handle, id: '20' }, context),
    );

    expect(new Set(parsed.map(({ plan }) => plan.key)).size).toBe(1);
    expect(new Set(parsed.map(({ views }) => views.markdown)).size).toBe(3);
  });
});

describe('the URL of a reply', () => {
  const ofPages = allReads.filter(({ kind }) => kind !== 'embed');

  it.each(ofPages.map((read) => ({ read, name: read.name })))(
    'reads the same reply again: $name',
    ({ read }) => {
      fc.assert(
        fc.property(arbitraryGiven(read), (given) => {
          const parsed = tryParse(read, given);
          if (parsed === null) return;
          const { self } = urlsOf(parsed);
          const url = new URL(self);
          const again = matchOwnPath(url.pathname, url.search);

          expect(again?.read).toBe(read.name);
          expect(keyOf(read.parse(again?.given ?? {}, context))).toBe(keyOf(parsed));
        }),
      );
    },
  );

  it('of a history reads the same range again', () => {
    const given = {
      ...{ handle: 'Mira.test', since: '2026-01-01', until: '1767312000', max_posts: '40' },
      ...{ only_replies: 'yes', index: 'true' },
    };
    const { query, toUrl } = importProfilePosts.parse(given);
    const url = new URL(toUrl(query.untilSeconds, context.baseUrl));

    const again = Object.fromEntries(url.searchParams);

    expect(url.pathname).toBe('/api/v1/profiles/mira.test/posts');
    expect(importProfilePosts.parse({ ...again, handle: 'mira.test' }).query).toEqual(query);
  });
});

const author = account('Mira', 'mira.test', { platform: 'bluesky' });

function urlsOf({ plan, assemble }: ParsedRead) {
  const found: Found =
    plan.query.kind === 'post'
      ? { ...nothing, post: toPost(plan.query.post), ancestors: [], continuation: [], replies: [] }
      : { ...nothing, account: null, items: [], next: null, degraded: false };
  const renderings = createRenderingBudget(() => undefined);
  const facts = {
    source: 'x',
    isLocal: false,
    requestedMs: 0,
    fetchedAtMs: 0,
    cache: 'hit',
  } as const;
  const result = assemble({ found, ...facts, renderings });
  if (result.kind === 'embed') throw new Error('An oEmbed document has no URLs.');
  return result.urls;
}

const nothing = { missing: [], warnings: [] } as const;

const toPost = ({ handle, id }: { readonly handle: string | null; readonly id: string }) => ({
  ...status(1, author, 'A heron'),
  id,
  url: `https://bsky.app/profile/${handle}/post/${id}`,
});
