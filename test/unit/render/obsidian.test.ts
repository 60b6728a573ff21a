import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderFrontMatter, renderPostNote } from '../../../src/render/obsidian.ts';
import { fc } from '../../support/fast-check.ts';
import { hostileLine, runs } from '../../support/render-markdown.ts';
import { account, result, status } from '../../support/render-posts.ts';

const versions = ['1.1', '1.2'] as const;

function readProperties(note: string, version: (typeof versions)[number]) {
  return parse(note.split(/^---\n/m)[1] ?? '', { version }) as Readonly<Record<string, unknown>>;
}

/** Texts of the characters that numbers, times and marks of YAML consist of. */
const yamlLike = fc
  .array(fc.constantFrom(...'eEnNoOyYfFtTlLaAsSuUrRzZxXb019_.,:;+-~=<>!&*#?|@`\'"{}[]\\/ é'), {
    minLength: 1,
    maxLength: 7,
  })
  .map((characters) => characters.join('').replace(/ +/g, ' ').trim());

describe('front matter', () => {
  it.each(versions)('keeps each text as text for readers of YAML %s', (version) => {
    fc.assert(
      fc.property(fc.oneof(yamlLike, hostileLine), (text) => {
        fc.pre(!/[\u200b\ufeff]|<%/.test(text));
        const front = renderFrontMatter({ handle: text, tags: [text] });

        expect(readProperties(front, version)).toEqual({ handle: text, tags: [text] });
      }),
      runs,
    );
  });

  it.each([
    ...['y', 'N', 'yEs', 'NO', 'on', 'Off', 'tRue', 'FALSE', 'Null', '~', 'nan', '.nan', '-.INF'],
    ...['7_0', '0x2A', '0o17', '052', '6e3', 'e5', '+4', '1,234', '1:30', '20:15:00', '.5', '0b1'],
    ...['1999-12-31', '2026-04-18T06:31:00Z', '<<', '=', ':symbol', '- item', '# note', '@handle'],
  ])('quotes %j, which a reader could take for something else than text', (text) => {
    expect(renderFrontMatter({ handle: text })).toMatch(/^---\nhandle: (["']).*\1\n---\n$/);
  });

  it.each(['Ada Keeper', 'nope', 'https://a.example/1', 'Ünal', 'x1', 'Yes and no'])(
    'writes %j without quotes',
    (text) => {
      expect(renderFrontMatter({ title: text })).toBe(`---\ntitle: ${text}\n---\n`);
    },
  );

  it.each([
    ['line ends', 'a\u0085b\u2028c\u2029d\r\ne', 'a b c d e'],
    ['control characters', 'a\u0000\u001b\u007f\u009bb', 'ab'],
    ['marks of direction', '\u202ea\u200f\u2067b\u061c', 'ab'],
    ['invisible characters', '\ufeffa\u200b\u2060\u00adb\ufffe\uffff', 'ab'],
    ['hidden tag characters', 'a\u{e0041}\u{e0042}b', 'ab'],
  ])('has no %s', (_, text, shown) => {
    const front = renderFrontMatter({ title: text });

    expect(front).toBe(`---\ntitle: ${shown}\n---\n`);
  });

  it('keeps emoji that are made of several characters', () => {
    const text = 'a 👩\u200d🚀 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} ❤\ufe0f';

    expect(readProperties(renderFrontMatter({ title: text }), '1.2')).toEqual({ title: text });
  });
});

describe('a note of an account with odd names', () => {
  it.each(versions)('has text in all properties that are text (YAML %s)', (version) => {
    const author = account('1e3', '0x1f');
    const post = status(7, author, '#on', {
      lang: 'no',
      facets: [{ type: 'hashtag', start: 0, end: 3 }],
      context: 'post',
    });

    expect(readProperties(renderPostNote(result([post])), version)).toMatchObject({
      title: '1e3 (@0x1f): #on',
      author: '1e3',
      handle: '0x1f',
      lang: 'no',
      created: post.created_at,
      tags: ['on'],
      post_count: 1,
    });
  });
});
