import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { encodeComponent } from '../../../lib/http/encode-component.ts';
import { toJsonBody } from '../../../lib/http/to-json-body.ts';
import { Problem } from '../../../lib/problem.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import { sendPrepared } from '../../../web/reply.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
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
import { maxHits, type SearchHit } from './search-index.ts';

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

function describeFindPage({ query, hits }: Findings, site: DocSite): Page {
  const action = escapeHtml(toLink(findPath, site));
  return {
    title: query === '' ? 'Search the documentation' : `${query} · Search`,
    description: 'Search the documentation of Perch.',
    path: findPath,
    kind: 'find',
    section: 'find',
    robots: 'noindex',
    bodyHtml: `<h1>Search the documentation</h1>
<form class="find" role="search" aria-label="Documentation" action="${action}" data-find>
<label class="visually-hidden" for="q">Search text</label>
<input id="q" type="search" name="q" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false" required value="${escapeHtml(query)}">
<button type="submit">Search</button>
</form>
${query === '' ? '<p class="status">Enter a word, an error code, a header or the name of a variable.</p>' : renderFindings({ query, hits }, site)}
${renderAskInstead(query, site)}`,
  };
}

function renderAskInstead(query: string, site: DocSite): string {
  if (site.hasAskPage !== true) return '';
  const path = query === '' ? askPath : `${askPath}?q=${encodeComponent(query)}`;
  return `<p class="instead">${renderLink(path, 'Ask instead', site, ' rel="nofollow"')}: write a question, and get an answer with its sources.</p>`;
}

function renderFindings({ query, hits }: Findings, site: DocSite): string {
  const shown = `<q>${escapeHtml(query)}</q>`;
  if (hits.length === 0) {
    return `<p class="status">No results for ${shown}. Try fewer or shorter words, or see ${renderLink(docsPath, 'all pages', site)}.</p>`;
  }
  const most = hits.length === maxHits ? ', the best first' : '';
  const count = hits.length === 1 ? '1 result' : `${hits.length} results`;
  const items = hits.map((hit) => renderHit(hit, site));
  return `<p class="status">${count} for ${shown}${most}.</p>
<ol class="hits">${items.join('\n')}</ol>`;
}

function renderHit({ entry, snippet }: SearchHit, site: DocSite): string {
  const within = entry.heading.level === 1 ? '' : `<span>${escapeHtml(entry.pageTitle)}</span>`;
  const parts = snippet.map(({ text, isMatch }) => {
    return isMatch ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text);
  });
  return `<li>${within}${renderLink(toHitPath(entry), entry.heading.text, site)}<p>${parts.join('')}</p></li>`;
}

function toHitPath({ page, heading }: SearchHit['entry']): string {
  return `${docsPath}/${page}${heading.level === 1 ? '' : `#${heading.id}`}`;
}
