import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../lib/http/url.ts';
import { adviceBesides, type ProblemDocument } from '../../lib/problem.ts';
import { Html, html } from '../../render/html/markup.ts';
import { addVary } from '../headers.ts';
import type { WriteProblemPage } from '../problems.ts';
import { isNavigation } from '../reads/negotiation.ts';
import { hasErrorPages, toPath } from '../reads/routes.ts';
import { type FrontSite, renderBox } from './front/page.ts';
import {
  docsPath,
  findPath,
  htmlHeaders,
  renderCode,
  renderLink,
  renderPage,
  type Site,
  toLink,
} from './layout.ts';

const pageResolutions: Readonly<Record<string, string>> = {
  missing_query: 'Type a link, an @handle or words.',
  invalid_query: 'Use a shorter or simpler text.',
  invalid_url: 'Use a link that starts with https, without user name, password or port.',
  unsupported_host: 'Use a link to X, Bluesky, a Mastodon server or this site.',
  invalid_path: 'Use a link such as https://x.com/jack/status/20.',
  invalid_option: 'Correct the address and try again.',
  malformed_request: 'Correct the address. Write a percent sign as `%25`.',
  origin_not_allowed: 'Type the address of this server into the address bar of the browser.',
  route_not_found: 'Check the address for typing errors.',
  method_not_allowed: 'Type the address into the address bar instead of sending a form.',
  internal_error: 'Try again. If it fails again, report this address to the operator.',
};

/** Renders an error: title, detail, next step or waiting time, and code. */
export function renderProblem(problem: ProblemDocument, site: Site, heading = 'h2'): Html {
  const { code, title, status, detail, retry_after: wait } = problem;
  const advice = adviceBesides(problem);
  const own = pageResolutions[code];
  const resolution = own === undefined ? problem.resolution : `${own} ${advice}`.trimEnd();
  const next = wait === undefined ? resolution : advice;
  const tag = new Html(heading);
  return html`<div class="problem">
<${tag} id="result-title" tabindex="-1">${title}</${tag}>
<p>${renderCode(detail)}</p>
${wait !== undefined && html`<p class="wait">Try again in ${wait === 1 ? '1 second' : `${wait} seconds`}.</p>`}
${next && html`<p>${renderCode(next)}</p>`}
<p class="problem-code">Code <a href="${toLink(`/docs/errors#${code}`, site)}"><code>${code}</code></a>, status ${status}</p>
</div>`;
}

const programPath = /^\/(?:api|mcp|svc|\.well-known)(?:\/|$)/;

/** Creates the renderer of error pages (`docs/contract/reads.md#errors`). */
export function createProblemPages(site: FrontSite): WriteProblemPage {
  return (problem, reply) => {
    const { request } = reply;
    const path = toPath(request.raw.url ?? '');
    const { errorPages } = request.routeOptions.config;
    const isUnknown = problem.code === 'route_not_found' && !programPath.test(path);
    const isForBrowsers = hasErrorPages(path) || isUnknown || errorPages === 'html or navigation';
    if (isForBrowsers) addVary(reply, 'Accept', 'Sec-Fetch-Mode');
    const isPage = isForBrowsers && isNavigation(request);
    if (!isPage && !isHtmlPermalink(request, path)) return null;
    reply.headers(htmlHeaders);
    return renderProblemPage(problem, path, site);
  };
}

function isHtmlPermalink(request: FastifyRequest, path: string): boolean {
  if (programPath.test(path)) return false;
  const isUnknown = request.is404;
  if (request.routeOptions.config.errorPages === undefined && !isUnknown) return false;
  const { format = [] } = parseQuery(request.raw.url ?? '');
  return [format].flat().some((one) => one.toLowerCase() === 'html');
}

function renderProblemPage(problem: ProblemDocument, path: string, site: FrontSite): string {
  const isDocs = path === docsPath || path.startsWith(`${docsPath}/`);
  const next = isDocs
    ? html`<p>See ${renderLink(docsPath, 'all pages of the documentation', site)}, or ${renderLink(findPath, 'search them', site)}.</p>`
    : renderBox(site);
  return renderPage(
    {
      title: problem.title,
      description: problem.detail,
      path: isDocs ? docsPath : '/',
      kind: 'front error-page',
      body: html`${renderProblem(problem, site, 'h1')}\n${next}`,
      styles: ['front.css', 'result.css'],
      robots: 'noindex',
    },
    site,
  );
}
