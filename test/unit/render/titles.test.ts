import { describe, expect, it } from 'vitest';
import { renderBrowsePage } from '../../../src/render/markdown/browse-page.ts';
import { renderPostPage, titlePostPage } from '../../../src/render/markdown/post-page.ts';
import { cleanMarkdown, nestHeadings } from '../../../src/render/markdown/verbatim.ts';
import { renderPostNote, toNoteFileNames } from '../../../src/render/obsidian.ts';
import { fc } from '../../support/fast-check.ts';
import { profileResult, repliesResult, searchResult } from '../../support/render-browse.ts';
import { hostileText, parseMarkdown, runs } from '../../support/render-markdown.ts';
import { account, ada, answerTo, article, bo, result, status } from '../../support/render-posts.ts';

const fog = status(1, ada, 'Fog at the point.', { context: 'post' });
const essay = status(2, ada, 'Read this', {
  context: 'post',
  article: article('How a lens works', {
    blocks: [
      { type: 'heading', level: 3, text: 'Glass', styles: [] },
      { type: 'heading', level: 6, text: 'Sand', styles: [] },
      { type: 'markdown', text: '# Heat\n\n### Fire\n\nA long one\n=====\n\nText' },
      { type: 'heading', level: 3, text: 'Brass', styles: [] },
    ],
  }),
});

function levelsOf(markdown: string): readonly number[] {
  return parseMarkdown(markdown)
    .filter(({ type, level }) => type === 'heading_open' && level === 0)
    .map(({ tag }) => Number(tag.slice(1)));
}

function expectNested(levels: readonly number[]): void {
  expect(levels.filter((level) => level === 1)).toEqual([1]);
  for (const [at, level] of levels.entries()) {
    expect(level).toBeLessThanOrEqual((levels[at - 1] ?? 0) + 1);
  }
}

describe('the title of a post', () => {
  it.each([
    ['its author and text', fog, 'Ada Keeper (@ada.example): Fog at the point.'],
    [
      'the beginning of a long text',
      { ...fog, text: 'Fog rolls in over the point '.repeat(9) },
      'Ada Keeper (@ada.example): Fog rolls in over the point Fog rolls in over the point…',
    ],
    [
      'its warning instead of its text',
      { ...fog, content_warning: 'shipwreck' },
      'Ada Keeper (@ada.example): Content warning: shipwreck',
    ],
    ['its author alone, if it has no words', { ...fog, text: '' }, 'Ada Keeper (@ada.example)'],
    ['its article', essay, 'How a lens works'],
  ])('is %s', (_, post, title) => {
    expect(titlePostPage(result([post]))).toBe(title);
  });

  it('is that of its thread, with the first words of the post', () => {
    const next = status(2, ada, 'It cleared.', { context: 'thread', ...answerTo(fog) });

    expect(titlePostPage(result([fog, next]))).toBe(
      'Thread by Ada Keeper (@ada.example): Fog at the point.',
    );
  });

  it('shows number signs at its end', () => {
    expect(renderPostPage(result([{ ...fog, text: 'I write C #' }]))).toMatch(
      /^# .*: I write C \\#$/m,
    );
  });
});

describe('a page with only an article', () => {
  it('has the title once, and the author below', () => {
    const page = renderPostPage(result([essay]));

    expect(page).toMatch(/^# How a lens works\n/);
    expect(page.match(/How a lens works/g)).toHaveLength(1);
    expect(page).toContain(`— Ada Keeper ([@ada.example](${ada.url})) · [2026-03-04 09:14 UTC]`);
  });

  it('nests its headings below the title', () => {
    expect(renderPostPage(result([essay])).match(/^#.*/gm)).toEqual([
      '# How a lens works',
      '## Glass',
      '### Sand',
      '## Heat',
      '### Fire',
      '## A long one',
      '### Brass',
    ]);
  });
});

describe('headings', () => {
  const levels = fc.integer({ min: 1, max: 6 });
  const blocks = fc.array(
    fc.oneof(
      fc
        .record({ level: levels, text: hostileText })
        .map((heading) => ({ type: 'heading' as const, styles: [], ...heading })),
      hostileText.map((text) => ({ type: 'markdown' as const, text })),
      fc.tuple(levels, fc.constantFrom('\n===\n', '\n---\n', '\n')).map(([level, end]) => ({
        type: 'markdown' as const,
        text: `${'#'.repeat(level)} one\n\ntwo${end}three`,
      })),
    ),
    { maxLength: 6 },
  );

  it('nest without gaps below one title', () => {
    fc.assert(
      fc.property(blocks, hostileText, fc.integer({ min: 1, max: 3 }), (given, title, count) => {
        const told = {
          article: article(title, { blocks: given }),
          quote: { ...essay, quote: essay },
        };
        const posts = [
          status(1, ada, 'A text', { ...told, context: 'post' }),
          status(2, ada, 'A text', { ...told, context: 'thread' }),
          status(3, bo, 'A text', { ...told, context: 'reply' }),
        ].slice(0, count);

        expectNested(levelsOf(renderPostPage(result(posts, { userDetail: 'all' }))));
        expectNested(levelsOf(renderBrowsePage(profileResult(posts))));
        expectNested(levelsOf(renderBrowsePage(searchResult('fog', posts))));
        expectNested(levelsOf(renderBrowsePage(repliesResult(fog, posts))));
      }),
      { numRuns: Math.ceil(runs.numRuns / 5) },
    );
  });

  it.each([
    ['Title\n===', '## Title'],
    ['Title #\n---', '## Title \\#'],
    ['one\ntwo\n===\nthree', 'one\ntwo\n\nthree'],
    ['one\ntwo\n---\nthree', 'one\ntwo\n\n---\n\nthree'],
    ['- one\n---', '- one\n\n---'],
    ['## Two\n# One\n#### Four', '## Two\n## One\n### Four'],
  ])('of the Markdown %j become %j', (markdown, expected) => {
    expect(cleanMarkdown(markdown, nestHeadings(1))).toBe(expected);
  });
});

describe('the counts of a post', () => {
  const counts = { replies: 12, reposts: 0, likes: 4186, views: 1, quotes: 3 };
  const line = '12 replies · 4,186 likes · 1 view';

  it('are on one line of the compact page, without zeros', () => {
    expect(renderPostPage(result([{ ...fog, ...counts }]))).toMatch(new RegExp(`  \\n${line}\n$`));
    expect(renderBrowsePage(searchResult('fog', [{ ...fog, ...counts }]))).toContain(
      `\n\n${line}\n`,
    );
  });

  it('are on one line of the full page', () => {
    expect(renderPostPage(result([{ ...fog, ...counts }], { full: true }))).toContain(
      '12 replies · 0 reposts · 4,186 likes · 3 quotes · 1 view',
    );
  });

  it('of a quoted post are only on the full page', () => {
    const page = renderPostPage(result([{ ...fog, quote: { ...essay, ...counts } }]));

    expect(page).not.toContain('12 replies');
  });
});

it('the second page of a profile links to the profile and does not repeat it', () => {
  const page = renderBrowsePage(profileResult([fog], { page: 2 }));

  expect(page).toMatch(/^# Ada Keeper \(@ada\.example\)\n\nProfile: <[^>]*> · Page 2\n\n## Posts/);
  expect(page).not.toContain('Keeps the light');
});

describe('a note', () => {
  it('has no tags if the post has none', () => {
    expect(renderPostNote(result([fog]))).not.toContain('tags');
  });

  it.each([
    ['Fog at the point.', 'Ada Keeper (@ada.example) Fog at the point.md'],
    ['a/b\\c:d*e?f"g<h>i|j#k^l[m]n', 'Ada Keeper (@ada.example) a b c d e f g h i j k l m n.md'],
    ['灯台の光', 'Ada Keeper (@ada.example) 灯台の光.md'],
    ['\u202egnp.exe', 'Ada Keeper (@ada.example) gnp.exe.md'],
  ])('of %j has a file name', (text, name) => {
    expect(toNoteFileNames(result([{ ...fog, text }])).readable).toBe(name);
  });

  it.each([
    ['Fog at the point.', 'Ada Keeper (@ada.example) Fog at the point 1.md'],
    [
      'Café “Über” – it’s 100%; really…',
      "Ada Keeper (@ada.example) Cafe Uber it's 100 really 1.md",
    ],
    ['灯台の光', 'ada.example 1.md'],
    ['Łódź', 'ada.example 1.md'],
    ['🐦 hi', 'Ada Keeper (@ada.example) hi 1.md'],
  ])('of %j has a second file name in ASCII, with its id', (text, name) => {
    expect(toNoteFileNames(result([{ ...fog, text }])).ascii).toBe(name);
  });

  it.each([
    ['nul.txt', '_nul.txt.md', '_nul.txt 2.md'],
    ['COM1', '_COM1.md', '_COM1 2.md'],
    ['-rf ~/x', 'rf ~ x.md', 'rf ~ x 2.md'],
    ['console', 'console.md', 'console 2.md'],
  ])('of an article called %j has no name with a meaning of its own', (title, readable, ascii) => {
    const read = result([{ ...essay, article: article(title) }]);

    expect(toNoteFileNames(read)).toEqual({ readable, ascii });
  });

  it.each([
    ['3lz5k4ve2xs2a', '3LZ5K4VE2XS2A'],
    ['a.b', 'a:b'],
    ['self~', 'self'],
    ['x'.repeat(511), 'x'.repeat(512)],
    ['é', 'e'],
  ])('of the post %j has another ASCII name than that of %j', (one, other) => {
    const names = [one, other].map((id) => toNoteFileNames(result([{ ...fog, id }])).ascii);

    expect(names[0]?.toLowerCase()).not.toBe(names[1]?.toLowerCase());
  });

  it('has file names that every file system accepts', () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, text, id) => {
        const author = account(name, `${text}.example`);
        const post = { ...status(1, author, text, { context: 'post' }), id: `${id}=` };
        const names = toNoteFileNames(result([post]));

        expect(names.ascii).toMatch(/^[ -~]+$/);
        for (const file of Object.values(names)) {
          expect(Buffer.byteLength(file)).toBeLessThanOrEqual(210);
          expect(file).toMatch(/^[^./\\:*?"<>|\p{C}][^/\\:*?"<>|\p{C}]*[^. ]\.md$/u);
        }
      }),
      { numRuns: runs.numRuns },
    );
  });
});
