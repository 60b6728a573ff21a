import { describe, expect, it } from 'vitest';
import { type Account, toWebsite } from '../../../src/model/account.ts';
import { toMediaSet } from '../../../src/model/media.ts';
import type { Post } from '../../../src/model/post.ts';
import type { ListResult } from '../../../src/model/results.ts';
import { renderBrowsePage } from '../../../src/render/markdown/browse-page.ts';
import { fc } from '../../support/fast-check.ts';
import {
  connectionsResult,
  nextPage,
  profileResult,
  searchFor,
  searchResult,
  userSearchResult,
} from '../../support/render-browse.ts';
import {
  hostileLine,
  hostileText,
  parseMarkdown,
  runs,
  textsWithin,
  tokenTypes,
} from '../../support/render-markdown.ts';
import {
  account,
  article,
  bo,
  furtherMembers,
  photo,
  status,
  tombstone,
} from '../../support/render-posts.ts';

const people = fc
  .record({
    name: hostileText,
    handle: hostileLine,
    words: hostileText,
    lines: hostileText,
    url: fc.oneof(
      fc.constant('https://perch.example/a'),
      hostileText.map((text) => `https://perch.example/${text}`),
      hostileText,
    ),
    isProtected: fc.boolean(),
    followers: fc.option(fc.nat()),
  })
  .map(({ name, handle, words, lines, url, isProtected, followers }) =>
    account(name, handle, {
      url,
      description: lines,
      location: words,
      website: toWebsite(words),
      avatar_url: words,
      banner_url: `https://a.example/${words}`,
      joined: words,
      id: words,
      followers,
      protected: isProtected,
      verification: { verified: isProtected, type: words },
    }),
  );

const posts: fc.Arbitrary<Post> = fc
  .record({ author: people, text: hostileText, words: hostileText, lost: fc.boolean() })
  .map(({ author, text, words, lost }) => {
    if (lost) return tombstone({ text, author, url: null });
    const quoted = status(2, author, words, { article: article(text, { preview_text: words }) });
    return status(1, author, text, {
      url: `https://perch.example/${words}`,
      created_at: words,
      source: words,
      lang: words,
      facets: [{ type: 'link', start: 1, end: 4, url: words }],
      media: toMediaSet([photo('a', { alt: words }), photo('b', { url: words, alt: text })]),
      article: article(words, {
        preview_text: text,
        blocks: [{ type: 'markdown', text: `# A\n\n${text}` }],
      }),
      quote: quoted,
      content_warning: words,
      ...furtherMembers(text, words),
      community_note: text,
      reposted_by: author,
      replying_to: { screen_name: words, status: null, url: words },
    });
  });

const shown = fc.record({
  full: fc.boolean(),
  page: fc.integer({ min: 1, max: 9 }),
  degraded: fc.boolean(),
  source: hostileText,
  warnings: fc.array(hostileLine, { maxLength: 2 }),
});

describe('a list of accounts', () => {
  it('has an item for each account, without constructs from their texts', () => {
    fc.assert(
      fc.property(
        fc.array(people.map(withoutUrl), { minLength: 1, maxLength: 4 }),
        hostileLine,
        shown.map((told) => ({ ...told, warnings: told.warnings.map(withoutScheme) })),
        (users, handle, told) => {
          const subject = {
            resource: 'followers',
            handle,
            url: 'https://perch.example/a',
          } as const;
          const page = connectionsResult('followers', users, { ...told, subject });

          const markdown = renderBrowsePage(page);

          expect(headingsOf(markdown)).toEqual([`h1 Followers of @${handle}`]);
          expect(countItems(markdown)).toBe(users.length + told.warnings.length);
          expect(textsWithin(markdown, 'strong')).toEqual([
            ...users.filter(isNamed).map(({ name }) => onOneLine(name)),
            ...(told.warnings.length > 0 ? ['Notes'] : []),
          ]);
          const titleLinks = handle.includes('@') ? 1 : 0;
          expect(linksOf(markdown)).toHaveLength(users.filter(isLinkable).length + 1 + titleLinks);
          expect(foreignTypes(markdown, /^(?:image|table|code|fence|blockquote|s_|math)/)).toEqual(
            [],
          );
        },
      ),
      runs,
    );
  });

  it('has the same items in a search, below a title with the search text', () => {
    fc.assert(
      fc.property(fc.array(people, { maxLength: 4 }), hostileLine, shown, (users, query, told) => {
        const page = userSearchResult(query, users, told);

        const markdown = renderBrowsePage(page);

        expect(headingsOf(markdown)).toEqual([`h1 Search: ${query}`]);
        expect(countItems(markdown)).toBe(users.length + told.warnings.length);
      }),
      runs,
    );
  });
});

describe('a list of posts', () => {
  const lists = fc.array(posts, { maxLength: 3 });

  it('has a level 2 heading for each post, and only the page’s title above', () => {
    fc.assert(
      fc.property(lists, hostileLine, shown, (listed, query, told) => {
        const subject = searchFor(query, 'top');

        const markdown = renderBrowsePage(searchResult(query, listed, { ...told, subject }));

        const [title, ...levels] = headingsOf(markdown).filter((heading) => heading < 'h3');
        expect(title).toBe(`h1 Search: ${query}`);
        expect(levels.map((heading) => heading.slice(0, 2))).toEqual(listed.map(() => 'h2'));
        expect(countItems(markdown)).toBe(told.warnings.length);
        expectHarmless(markdown);
      }),
      runs,
    );
  });

  it('is below a profile whose text cannot break out of its section', () => {
    fc.assert(
      fc.property(lists, people, shown, (listed, owner, told) => {
        const own = listed.map((post) => ({ ...post, author: owner }));

        const markdown = renderBrowsePage(profileResult(own, told, owner));

        const levels = headingsOf(markdown).map((heading) => heading.slice(0, 2));
        expect(levels.filter((level) => level < 'h4')).toEqual([
          'h1',
          'h2',
          ...own.map(() => 'h3'),
        ]);
        expect(headingsOf(markdown)[1]).toBe('h2 Posts');
        expectHarmless(markdown);
      }),
      runs,
    );
  });

  it('shows each choice of a poll in its own cell', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 4 }), (labels) => {
        const choices = labels.map((label) => ({ label, count: 1, percentage: 25 }));
        const poll = { choices, total_votes: 4, ends_at: null };

        const markdown = renderBrowsePage(profileResult([status(1, bo, '', { poll })], {}, bo));

        expect(textsWithin(markdown, 'td')).toEqual(
          labels.flatMap((label) => [onOneLine(label), '1', '25.0%']),
        );
      }),
      runs,
    );
  });
});

describe('the link to the next page', () => {
  it('is the last line of the page, with the exact URL', () => {
    const pages: fc.Arbitrary<ListResult> = fc.oneof(
      fc.array(people, { maxLength: 2 }).map((users) => connectionsResult('following', users)),
      fc.array(posts, { maxLength: 2 }).map((listed) => searchResult('fog', listed)),
      fc.array(posts, { maxLength: 2 }).map((listed) => profileResult(listed)),
    );
    fc.assert(
      fc.property(pages, fc.array(hostileText, { maxLength: 8 }), shown, (page, words, told) => {
        const next = nextPage('/api/v1/search', { q: words.join(' '), limit: '20' });

        const markdown = renderBrowsePage({ ...page, ...told, next });

        const after = markdown.slice(markdown.lastIndexOf('\n\n'));
        expect(after).toBe(`\n\n[Next page](${next.url})\n`);
        expect(linksOf(markdown).at(-1)).toBe(next.url);
        expect(endOf(markdown)).toEqual([
          'paragraph_open',
          'link_open',
          'text',
          'link_close',
          'paragraph_close',
        ]);
      }),
      runs,
    );
  });

  it('is usable even if it is long', () => {
    const next = nextPage('/api/v1/search', { q: `(a|b) "*_[x]_*" ${'漢'.repeat(260)}` });

    const markdown = renderBrowsePage(searchResult('x', [status(1, bo, 'x')], { next }));

    expect(next.url.length).toBeGreaterThan(2400);
    expect(linksOf(markdown).at(-1)).toBe(next.url);
    expect(markdown).toContain(`(${next.url})`);
  });
});

function isNamed({ name }: Account): boolean {
  return onOneLine(name) !== '';
}

/** Removes the URLs in a biography, which would become links. */
function withoutUrl(person: Account): Account {
  return { ...person, description: withoutScheme(person.description ?? '') };
}

function withoutScheme(text: string): string {
  return text.replaceAll(/:\/{2,}/g, ':');
}

function isLinkable({ url }: Account): boolean {
  return /^(?:https?:\/\/|mailto:)\S/i.test(url.trim());
}

function onOneLine(text: string): string {
  return text.replace(/[\p{Zs}\t\n]+/gu, ' ').trim();
}

function headingsOf(markdown: string): readonly string[] {
  const tokens = parseMarkdown(markdown).filter(({ type }) => type === 'heading_open');
  const texts = textsWithin(markdown, 'heading');
  return tokens.map(({ tag }, at) => `${tag} ${texts[at]}`);
}

function linksOf(markdown: string): readonly (string | null)[] {
  const tokens = parseMarkdown(markdown).filter(({ type }) => type === 'link_open');
  return tokens.map((token) => token.attrGet('href')?.toString() ?? null);
}

function countItems(markdown: string): number {
  return parseMarkdown(markdown).filter(({ type }) => type === 'list_item_open').length;
}

function foreignTypes(markdown: string, pattern: RegExp): readonly string[] {
  return tokenTypes(markdown).filter((type) => pattern.test(type) || type.startsWith('html'));
}

function expectHarmless(markdown: string): void {
  const foreign = /^(?:table|ordered_list|code|fence|math)/;
  expect(foreignTypes(markdown, foreign)).toEqual([]);
  for (const link of linksOf(markdown)) expect(link).toMatch(/^(?:https?:\/\/|mailto:)/i);
}

function endOf(markdown: string): readonly string[] {
  return parseMarkdown(markdown)
    .slice(-5)
    .map(({ type }) => type);
}
