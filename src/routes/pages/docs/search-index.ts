import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { toJsonBody } from '../../../lib/http/json-bodies.ts';
import { encodeComponent } from '../../../lib/http/url.ts';
import { Problem } from '../../../lib/problem.ts';
import { type Html, html } from '../../../render/html/markup.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import { sendPrepared } from '../../reply.ts';
import {
  askPath,
  docsPath,
  findPath,
  maxQueryLength,
  type Page,
  parseText,
  preparePage,
  renderLink,
  renderPage,
  toLink,
} from '../layout.ts';
import type { DocSite } from './doc-pages.ts';
import type { Docs } from './docs-plugin.ts';
import type { DocumentSection } from './markdown.ts';

export interface SearchEntry extends DocumentSection {
  readonly page: string;
  readonly pageTitle: string;
}

export interface SearchHit {
  readonly entry: SearchEntry;
  /** Text around the first match, split into matches and the text between them. */
  readonly snippet: readonly { readonly text: string; readonly isMatch: boolean }[];
}

export const maxHits = 20;

const maxWords = 8;

const chunkSize = 20;

/** Creates the search index. Loads the package `minisearch` on demand. */
export async function createSearchIndex(entries: readonly SearchEntry[]) {
  const { default: MiniSearch } = await import('minisearch');
  const index = new MiniSearch({
    fields: ['heading', 'title', 'text'],
    tokenize: splitTerms,
    searchOptions: {
      tokenize: splitQuery,
      boost: { heading: 6, title: 3 },
      // Ranks the sections of guides above the sections of the API reference.
      boostDocument: (id) => (entries[id]?.page.startsWith('api/') === true ? 0.3 : 1),
      prefix: (word) => !isLetter(word),
    },
  });
  const documents = entries.map(({ heading, pageTitle, text }, id) => {
    return { id, heading: heading.text, title: pageTitle, text };
  });
  await index.addAllAsync(documents, { chunkSize });
  const headings = entries.map(({ heading }) => joinWords(heading.text));
  return {
    /** Returns up to `maxHits` sections, those whose heading is the query first. */
    find: (query: string): readonly SearchHit[] => {
      const words = splitQuery(query);
      const wanted = joinWords(query);
      const isNamed = ({ id }: { readonly id: number }) => headings[id] === wanted;
      const found = index.search(query);
      return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))]
        .slice(0, maxHits)
        .flatMap(({ id }) => entries[id] ?? [])
        .map((entry) => ({ entry, snippet: cutSnippet(entry.text, words) }));
    },
  };
}

function splitWords(text: string): readonly string[] {
  const folded = text.normalize('NFKC').toLowerCase();
  return folded.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
}

const joinWords = (text: string) => splitWords(text).join(' ');

function splitTerms(text: string): string[] {
  return splitWords(text).flatMap((word) =>
    word.includes('_') ? [word, ...word.split('_')] : [word],
  );
}

function splitQuery(query: string): string[] {
  return [...new Set(splitWords(query))].slice(0, maxWords);
}

function isLetter(word: string): boolean {
  return [...word].length === 1;
}

const snippetLength = 200;
const snippetLead = 60;

function cutSnippet(text: string, words: readonly string[]): SearchHit['snippet'] {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const beginnings = words.map((word) =>
    isLetter(word) ? `${word}(?![\\p{L}\\p{M}\\p{N}])` : word,
  );
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])(${beginnings.join('|')})`, 'giu');
  const first = Math.max(0, line.search(pattern));
  const start = first <= snippetLead ? 0 : line.indexOf(' ', first - snippetLead) + 1;
  const rest = line.slice(start);
  const end = rest.length <= snippetLength ? rest.length : rest.lastIndexOf(' ', snippetLength);
  const cut = rest.slice(0, end > 0 ? end : snippetLength);
  const shown = `${start > 0 ? '… ' : ''}${cut}${cut.length < rest.length ? ' …' : ''}`;
  // `split` with a group returns text and matches alternately.
  return shown
    .split(pattern)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter((part) => part.text !== '');
}

export const findReply = z
  .object({
    query: z.string().describe('The search text.'),
    results: z
      .array(
        z.object({
          title: z.string().describe('Heading of the section.'),
          page: z.string().describe('Title of the documentation page.'),
          url: z.url().describe('URL of the section.'),
          snippet: z.string().describe('Text around the first match.'),
        }),
      )
      .describe(`Search results, at most ${maxHits}, the best first.`),
  })
  .meta({ id: 'DocsSearchReply' });

interface Findings {
  readonly query: string;
  readonly hits: readonly SearchHit[];
}

/** Creates the handler of the search. The reply is HTML, or JSON if `Accept` prefers it. */
export const createFindHandler =
  (open: () => Docs) => async (request: FastifyRequest, reply: FastifyReply) => {
    const isJson = negotiate(request.headers.accept, offers.read) === 'json';
    const query = parseText(request);
    if (isJson && query === '') throw new Problem('missing_query', { detail: blank });
    const { site, find } = open();
    const findings = { query, hits: query === '' ? [] : await find(query) };
    const page = isJson
      ? preparePage(toJsonBody(toReply(findings, site)), 'json')
      : preparePage(renderPage(describeFindPage(findings, site), site), 'html');
    return sendPrepared(reply, page);
  };

const blank = 'The parameter `q` is missing or empty. Send the search text.';

function toReply({ query, hits }: Findings, { baseUrl }: DocSite): z.output<typeof findReply> {
  return {
    query,
    results: hits.map(({ entry, snippet }) => ({
      title: entry.heading.text,
      page: entry.pageTitle,
      url: `${baseUrl}${toHitPath(entry)}`,
      snippet: snippet.map(({ text }) => text).join(''),
    })),
  };
}

const describeFindPage = ({ query, hits }: Findings, site: DocSite): Page => ({
  title: query === '' ? 'Search the documentation' : `${query} · Search`,
  description: 'Search the documentation of Perch.',
  path: findPath,
  kind: 'find',
  section: 'find',
  robots: 'noindex',
  body: html`<h1>Search the documentation</h1>
<form class="find" role="search" aria-label="Documentation" action="${toLink(findPath, site)}" data-find>
<label class="visually-hidden" for="q">Search text</label>
<input id="q" type="search" name="q" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false" required value="${query}">
<button type="submit">Search</button>
</form>
${query === '' ? html`<p class="status">Enter a word, an error code, a header or the name of a variable.</p>` : renderFindings({ query, hits }, site)}
${site.hasAskPage && renderAskInstead(query, site)}`,
});

function renderAskInstead(query: string, site: DocSite): Html {
  const path = query === '' ? askPath : `${askPath}?q=${encodeComponent(query)}`;
  return html`<p class="instead">${renderLink(path, 'Ask instead', site, html` rel="nofollow"`)}: write a question, and get an answer with its sources.</p>`;
}

function renderFindings({ query, hits }: Findings, site: DocSite): Html {
  const shown = html`<q>${query}</q>`;
  if (hits.length === 0) {
    return html`<p class="status">No results for ${shown}. Try fewer or shorter words, or see ${renderLink(docsPath, 'all pages', site)}.</p>`;
  }
  const count = hits.length === 1 ? '1 result' : `${hits.length} results`;
  return html`<p class="status">${count} for ${shown}${hits.length === maxHits && ', the best first'}.</p>
<ol class="hits">${hits.map((hit) => renderHit(hit, site))}</ol>`;
}

function renderHit({ entry, snippet }: SearchHit, site: DocSite): Html {
  const within = entry.heading.level > 1 && html`<span>${entry.pageTitle}</span>`;
  const parts = snippet.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : text));
  return html`<li>${within}${renderLink(toHitPath(entry), entry.heading.text, site)}<p>${parts}</p></li>`;
}

function toHitPath({ page, heading }: SearchHit['entry']): string {
  return `${docsPath}/${page}${heading.level === 1 ? '' : `#${heading.id}`}`;
}
