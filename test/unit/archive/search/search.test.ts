import { describe, expect, it } from 'vitest';
import { rankedPosts } from '../../../../src/archive/search/search.ts';
import { toMediaSet } from '../../../../src/model/media.ts';
import type { Facet, Post } from '../../../../src/model/post.ts';
import { failureOf } from '../../../suites/provider-suite.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { stubAccount } from '../../../support/stub-provider.ts';
import {
  ask,
  openRig,
  playBack,
  putAccount,
  putPost,
  putTombstone,
  type Rig,
  readPages,
  stored,
} from '../store/archive-rig.ts';

const day = 86_400;
const start = 1_767_225_600; // 2026-01-01
const ids = (posts: readonly Post[]) => posts.map(({ id }) => id).join(' ');
const picture = (type: 'photo' | 'video' | 'gif' | 'audio') => ({
  media: toMediaSet([{ type, url: 'https://a.example/', width: null, height: null, alt: null }]),
});
const by = (handle: string) => ({ author: stubAccount(handle) });

function tagged(text: string) {
  const facets = [...text.matchAll(/#\p{L}+/gu)].map(
    (match): Facet => ({
      type: 'hashtag',
      start: [...text.slice(0, match.index)].length,
      end: [...text.slice(0, match.index + match[0].length)].length,
    }),
  );
  return { text, facets };
}

function openFilled(): Rig {
  const rig = openRig();
  const put = (id: number, more: Parameters<typeof putPost>[2]) =>
    putPost(rig.store, id, { created_timestamp: start + (id - 1) * day, ...more });
  put(1, { text: 'The heron stands at the gate', ...by('Wren') });
  put(2, { ...tagged('🐦 No gate, a heron. #Birds'), ...by('finch') });
  put(3, { text: 'Gate: the heron again', ...by('ada.example'), ...picture('photo') });
  put(4, { ...tagged('birds without tag, and #Bird #ÉTÉ'), ...by('grand.ada.example') });
  put(5, { text: 'A film of the gate', ...by('wren'), ...picture('video') });
  put(6, { text: 'It moves', ...by('wren'), ...picture('gif') });
  put(7, { text: 'It sounds', ...by('finch'), ...picture('audio') });
  return rig;
}

describe('search', () => {
  it.each([
    ['heron', '3 2 1'],
    ['HERON gate', '3 2 1'],
    ['"the gate"', '5 1'],
    ['"the heron" gate', '3 1'],
    ['heron -again', '2 1'],
    ['heron -"the gate"', '3 2'],
    ['-heron', '7 6 5 4'],
    ['from:wren', '6 5 1'],
    ['from:WREN gate', '5 1'],
    ['gate -from:wren', '3 2'],
    ['from:ada.example', '3'],
    ['from:grand.ada.example', '4'],
    ['from:ada', ''],
    ['from:wren from:finch', ''],
    ['#birds', '2'],
    ['#Bird', '4'],
    ['#été', '4'],
    ['birds', '4 2'],
    ['birds -#birds', '4'],
    ['filter:media', '7 6 5 3'],
    ['filter:images', '3'],
    ['filter:videos', '6 5'],
    ['-filter:media', '4 2 1'],
    ['since:2026-01-06', '7 6'],
    ['until:2026-01-03', '2 1'],
    ['gate since:2026-01-02 until:2026-01-04', '3 2'],
    [`gate since:${start + 2 * day}`, '5 3'],
    ['🐦', '2'],
    ['since:2026-01-03 until:2026-01-02', ''],
  ])('finds posts by %s', async (text, expected) => {
    const rig = openFilled();

    const page = await ask(rig.archive).search(text);

    expect(ids(page.items)).toBe(expected);
    expect(page.warnings).toEqual([]);
    expect(page.cursor).toBeNull();
  });

  it.each([
    ['latest', '5 3 2 1'],
    ['top', '5 3 2 1'],
    ['photos', '3'],
    ['videos', '5'],
  ] as const)('has a feed of %s', async (feed, expected) => {
    const rig = openFilled();

    expect(ids((await ask(rig.archive).search('gate', { feed })).items)).toBe(expected);
  });

  it('respects the times of the query', async () => {
    const rig = openFilled();
    const times = { sinceSeconds: start + day, untilSeconds: start + 3 * day };

    const page = await ask(rig.archive).search('gate since:2020-01-01 until:2030-01-01', times);

    expect(ids(page.items)).toBe('3 2');
    expect(page.asOfMs).toBe(stored * 1000);
  });

  it('warns about ignored parts and searches for the rest', async () => {
    const page = await ask(openFilled().archive).search('heron lang:de since:yesterday');

    expect(ids(page.items)).toBe('3 2 1');
    expect(page.warnings).toHaveLength(2);
  });

  it.each(['', '   ', '!!!', '"" -""', 'lang:de', 'since:yesterday', '()', '\0'])(
    'warns and finds nothing if no term is left: %j',
    async (text) => {
      const page = await ask(openFilled().archive).search(text);

      expect(page).toMatchObject({ items: [], cursor: null });
      expect(page.warnings.at(-1)).toMatch(/has no words, tags or operators/);
    },
  );

  it.each([
    ['東京タワーは赤い', '京タワ'],
    ['東京タワーは赤い', '赤い'],
    ['วาดรูปตลาดริมคลอง', 'ตลาด'],
    ['글꼴을 그립니다', '글꼴'],
    ['قرأتُ كِتَابًا', 'كتابا'],
    ['Crème brûlée à Zürich', 'creme BRULEE zurich'],
    ['Straßenbahn', 'straßenbahn'],
    ['Ελένη', 'ΕΛΕΝΗ'],
    ['Ещё чай', 'еще'],
    ['नमस्ते दुनिया', 'दुनिया'],
    ['שָׁלוֹם', 'שלום'],
    ['ｶﾀｶﾅ', 'カタカナ'],
  ])('finds in %s by %s', async (text, sought) => {
    const rig = openRig();
    putPost(rig.store, 1, { text });
    putPost(rig.store, 2, { text: 'タワ京 いい ลาต זר' });

    expect(ids((await ask(rig.archive).search(sought)).items)).toBe('1');
  });

  it('finds a word with an enclosing mark, and ignores the mark alone', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { text: 'ж\ua670ук и трава' });
    const { search, users } = ask(rig.archive);
    putAccount(rig.store, 'Wren', { description: 'ж\ua670ук' });

    for (const text of ['жук', 'ж\ua670ук', 'трава \ua670', '\ua670 жук']) {
      expect(ids((await search(text)).items)).toBe('1');
    }
    expect((await users('жук \ua670')).items).toHaveLength(1);
  });

  it('does not find posts that are protected, deleted or replaced', async () => {
    const rig = openRig();
    for (const id of [1, 2, 3]) putPost(rig.store, id, { text: 'heron', ...by(`bird${id}`) });
    const { search } = ask(rig.archive);

    putAccount(rig.store, 'Bird1', { protected: true });
    putTombstone(rig.store, 2, 'bird2');
    putPost(rig.store, 3, { text: 'no more', ...by('bird3') });

    expect((await search('heron')).items).toEqual([]);
    expect((await search('heron', { feed: 'top' })).items).toEqual([]);
    putAccount(rig.store, 'Bird1');
    expect(ids((await search('heron')).items)).toBe('1');
  });

  it('finds the posts of one platform, or all imported posts', async () => {
    const rig = openRig({ sample: true });
    putPost(rig.store, 1, { text: 'heron' });
    putPost(rig.store, 2, { text: 'heron', platform: 'mastodon', ...by('wren@a.social') });
    const platforms = async (platform: 'x' | 'archive' | 'sample') => {
      const { items } = await ask(rig.archive).search('heron', { platform });
      return [...new Set(items.map((post) => post.platform))].sort();
    };

    expect(await platforms('x')).toEqual(['x']);
    expect(await platforms('archive')).toEqual(['mastodon', 'x']);
    expect(await platforms('sample')).toEqual(['sample']);
  });

  it('rejects a foreign cursor', async () => {
    const rig = openFilled();

    for (const [feed, cursor] of [
      ['latest', ''],
      ['latest', '1.2.3.4'],
      ['top', '1'],
      ['top', '1.2.3.é'],
    ] as const) {
      const failure = await failureOf(ask(rig.archive).search('gate', { feed, cursor }));
      expect(failure.kind).toBe('malformed');
    }
  });
});

describe('the top feed', () => {
  it('orders posts by likes and reposts, then by time', async () => {
    const rig = openRig();
    putPost(rig.store, 1, { text: 'heron', likes: 5, reposts: 5 });
    putPost(rig.store, 2, { text: 'heron', likes: 9, reposts: null });
    putPost(rig.store, 3, { text: 'heron', likes: null, reposts: 10 });
    putPost(rig.store, 4, { text: 'heron', likes: 3, reposts: 0 });

    const page = await ask(rig.archive).search('heron', { feed: 'top' });

    expect(ids(page.items)).toBe('3 1 2 4');
    expect(page.warnings).toEqual([]);
  });

  it('ranks a limited number of the newest posts, warns, and can be read completely', async () => {
    const rig = openRig();
    rig.store.transact(() => {
      for (let id = 1; id <= rankedPosts + 200; id++) {
        putPost(rig.store, id, { text: 'heron', likes: id <= 100 ? 10_000 : (id * 7919) % 50 });
      }
    });
    const { search } = ask(rig.archive);
    let added = 5000;

    const items = await readPages({
      sizes: [100],
      page: (cursor, count) => search('heron', { feed: 'top', cursor, count }),
      between: () => putPost(rig.store, added++, { text: 'heron', likes: 20_000 }),
    });
    const first = await search('heron', { feed: 'top', count: 10 });

    expect(items).toHaveLength(rankedPosts);
    expect(Math.min(...items.map(({ id }) => Number(id)))).toBe(201);
    const likes = items.map((post) => (post.type === 'status' ? (post.likes ?? 0) : 0));
    expect(likes).toEqual(likes.toSorted((a, b) => b - a));
    expect(first.warnings).toEqual([`Only the newest ${rankedPosts} matching posts are ranked.`]);
  });
});

describe('the pages of a search', () => {
  it.each(['latest', 'top'] as const)(
    'contain every post of the feed %s once, whatever changes between them',
    async (feed) => {
      const id = fc.integer({ min: 1, max: 300 });
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(id, { minLength: 1, maxLength: 60 }),
          fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 8 }),
          fc.array(fc.array(fc.tuple(fc.boolean(), id), { maxLength: 5 }), { maxLength: 8 }),
          async (posts, sizes, changes) => {
            const rig = openRig();
            const put = (one: number) =>
              putPost(rig.store, one, {
                text: 'a heron',
                likes: (one * 31) % 11,
                created_timestamp: start + Math.floor(one / 4),
              });
            for (const one of posts) put(one);
            const { search } = ask(rig.archive);
            const before = (await search('heron', { feed, count: 1000 })).items.map((p) => p.id);
            const { removed, between } = playBack(changes, {
              put,
              remove: (one) => putTombstone(rig.store, one),
            });

            const page = (cursor: string | null, count: number) =>
              search('heron', { feed, cursor, count });
            const items = (await readPages({ sizes, page, between })).map((post) => post.id);

            expect(new Set(items).size).toBe(items.length);
            const stayed = before.filter((one) => !removed.has(Number(one)));
            expect(items.filter((one) => stayed.includes(one))).toEqual(stayed);
          },
        ),
        { numRuns: runs(20) },
      );
    },
  );
});

describe('search text', () => {
  const made = [
    '"',
    '""',
    '"""',
    '*',
    'a*',
    '^a',
    'NEAR(',
    'NEAR(a b, 2)',
    'NOT',
    'a NOT',
    'AND',
    'OR OR',
    'text:a',
    'marks : any',
    '{text}:a',
    '- -',
    '-"',
    '(((',
    ')))',
    '\0',
    'a\0b',
    '\ud800',
    'a\udfff"',
    "'; DROP TABLE posts; --",
    'from:"',
    'from:\0',
    '#\0',
    'since:\ud800',
    'a+b',
    'a:b:c',
    '\\',
    '%_',
    '"\0"',
    '\u{1fae8}',
    '\u0301',
    '\ua670',
    'ﷺ'.repeat(300),
    '"'.repeat(5000),
    'a '.repeat(5000),
    '-a '.repeat(5000),
    '東'.repeat(5000),
    `"${'a '.repeat(3000)}"`,
    ')'.repeat(9999),
    '(a'.repeat(999),
    'x'.repeat(100_000),
    'filter:'.repeat(100),
    '\u202e',
    '\ufeff',
    '\u{e000}\u{f0000}',
    'NULL',
  ];
  const hostile = fc.oneof(
    fc.constantFrom(...made),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          ...['"', '*', '(', ')', ':', '-', '^', 'a', ' ', 'OR', 'AND', 'NOT', 'NEAR', '\0', "'"],
          ...[';', '{', '}', '+', '#', 'from:', 'since:', 'filter:media', '\ud83d', '東', 'text'],
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join('')),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
      .map((units) => String.fromCharCode(...units)),
  );

  it('is never parsed as FTS5 syntax', async () => {
    const { search, users } = ask(openFilled().archive);
    const feeds = ['latest', 'top', 'photos', 'videos'] as const;
    for (const text of made) await search(text);

    await fc.assert(
      fc.asyncProperty(hostile, fc.constantFrom(...feeds), async (text, feed) => {
        const page = await search(text, { feed, count: 5 });
        const accounts = await users(text, { count: 5 });

        expect(page.items.length).toBeLessThanOrEqual(5);
        for (const warning of [...page.warnings, ...accounts.warnings]) {
          expect(warning).toMatch(/^[A-Z].*\.$/s);
          expect(warning).not.toMatch(/\p{Surrogate}/u);
        }
      }),
      { numRuns: runs(1500) },
    );
  });
});

describe('a phrase of more words than the index compares', () => {
  const words = 'one two three four five six seven eight nine ten eleven twelve';
  const openPhrases = () => {
    const rig = openRig();
    putPost(rig.store, 1, { text: `Counting: ${words.toUpperCase()}, and so on` });
    putPost(rig.store, 2, { text: words.replace('nine ten', 'ten nine') });
    putPost(rig.store, 3, { text: words.replace('twelve', 'twelfth') });
    putPost(rig.store, 4, { text: 'ο σοφός και ο σοφός και ο σοφός και ο σοφός φίλος' });
    return ask(rig.archive);
  };

  it.each([
    [`"${words}"`, '1'],
    [`"${words}" -"so on"`, ''],
    [`one -"${words}"`, '3 2'],
    ['"one two" "two three" "three four" "four five" "ten nine"', '2'],
    ['"Ο ΣΟΦΟΣ ΚΑΙ Ο ΣΟΦΟΣ ΚΑΙ Ο ΣΟΦΟΣ ΚΑΙ Ο ΣΟΦΟΣ ΦΙΛΟΣ"', '4'],
  ])('finds the posts that contain it: %s', async (text, found) => {
    const page = await openPhrases().search(text);

    expect(ids(page.items)).toBe(found);
    expect(page.warnings).toEqual([]);
  });

  it('is looked for on every page', async () => {
    const { search } = openPhrases();

    const first = await search(`one -"${words.slice(0, -7)}"`, { count: 1 });
    const second = await search(`one -"${words}"`, { count: 1, cursor: first.cursor });

    expect(first).toMatchObject({ items: [], rows: 1 });
    expect(ids(second.items)).toBe('2');
  });
});
