import { version } from '../../lib/version.ts';
import { brandMark, type Html, type HtmlPart, html } from '../../render/html/markup.ts';
import {
  docsPath,
  htmlHeaders,
  renderFooter,
  renderLink,
  renderPage,
  type Site,
  themeSwitch,
  toLink,
} from '../pages/layout.ts';
import { dashboardPath, type SectionLink, signOutPath, type View } from './pages.ts';
import { type DashboardSession, formTokenField } from './session.ts';

export const dashboardHeaders = {
  ...htmlHeaders,
  'cache-control': 'no-store',
} as const;

/** Inputs of the header and footer; `session` is `null` if nobody is signed in. */
export interface Surroundings {
  readonly site: Site;
  readonly links: readonly SectionLink[];
  readonly session: DashboardSession | null;
  /** Path of the request, which the navigation marks as current. */
  readonly path: string;
}

/** Renders a page; without a session, it has no navigation. */
export function renderDashboard(view: View, surroundings: Surroundings): string {
  const { site, session } = surroundings;
  return renderPage(
    {
      title: `${view.title} · Dashboard`,
      description: 'Dashboard of the operator of this server.',
      path: dashboardPath,
      kind: session === null ? 'admin admin-closed' : 'admin',
      body: view.body,
      scripts: view.scripts ?? [],
      styles: ['admin.css', ...(view.styles ?? [])],
      robots: 'noindex',
      surroundings: {
        header: renderHeader(surroundings),
        footer: renderFooter(session === null ? 'Perch' : `Perch ${version}`, footerLinks, site),
      },
    },
    site,
  );
}

const footerLinks = [
  [`${docsPath}/admin`, 'Keys and dashboard'],
  [`${docsPath}/configuration`, 'Configuration'],
  ['/', 'Front page'],
] as const;

function renderHeader({ site, links, session, path }: Surroundings): Html {
  const mark = (link: SectionLink) => {
    if (path === link.path) return html` aria-current="page"`;
    const isBelow = link.path !== dashboardPath && path.startsWith(`${link.path}/`);
    return isBelow && html` aria-current="true"`;
  };
  return html`<header class="site-header admin-header">
<div class="bar">
<a class="brand" href="${toLink(dashboardPath, site)}">${brandMark}<span>Perch <small>Dashboard</small></span></a>
${
  session &&
  html`<nav aria-label="Dashboard"><ul>${links.map(
    (link) => html`<li>${renderLink(link.path, link.text, site, mark(link))}</li>`,
  )}</ul></nav>`
}
<div class="tools">${themeSwitch}${session && html`<form class="sign-out" method="post" action="${toLink(signOutPath, site)}">${renderFormToken(session)}<button type="submit">Sign out</button></form>`}</div>
</div>
</header>`;
}

/** Renders the hidden field with the form token, which every form with `method="post"` needs. */
export const renderFormToken = ({ formToken }: DashboardSession): Html =>
  html`<input type="hidden" name="${formTokenField}" value="${formToken}">`;

/** Number or state. `used` is a part of a limit from 0 to 1, which `note` states as text. */
export type Tile = readonly [name: string, value: string, note?: string, used?: number];

export const renderTiles = (tiles: readonly Tile[]): Html =>
  html`<dl class="tiles">${tiles.map(
    ([name, value, note, used]) =>
      html`<div class="tile"><dt>${name}</dt><dd class="value">${value}</dd>${used !== undefined && renderUsed(used)}${note && html`<dd class="note">${note}</dd>`}</div>\n`,
  )}</dl>`;

function renderUsed(used: number): Html {
  const width = Math.round(100 * Math.min(1, Math.max(0, used)));
  return html`<dd class="used"><svg class="bar-of" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4"/><rect class="${used >= 0.9 ? 'full' : 'part'}" width="${width}" height="4"/></svg></dd>`;
}

/** Renders a section with a heading. */
export const renderSection = (id: string, title: string, content: HtmlPart): Html =>
  html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>`;

/** Renders the items of a list, or the text `empty` if there are none. */
export const renderRows = (items: readonly HtmlPart[], empty: string): Html =>
  items.length === 0
    ? html`<p class="empty">${empty}</p>`
    : html`<ul class="rows">${items.map((item) => html`<li>${item}</li>\n`)}</ul>`;

export const renderAlerts = (alerts: readonly HtmlPart[]): Html | null =>
  alerts.length === 0
    ? null
    : html`<ul class="alerts" aria-label="Needs attention">${alerts.map((alert) => html`<li>${alert}</li>`)}</ul>`;

export const renderBadge = (text: string, kind: 'good' | 'off' | '' = ''): Html =>
  html`<span class="badge${kind && ` ${kind}`}">${text}</span>`;

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Error in the last submitted value, shown next to the field. */
  readonly fault?: string | undefined;
  /** Attributes of the `input`; with `text`, the field is a `textarea` of several lines. */
  readonly attributes?: Html;
  readonly text?: string;
}

export function renderField({ name, label, hint, fault, attributes, text }: Field): Html {
  const notes = Object.entries({ fault, hint }).filter(([, note]) => note !== undefined);
  const ids = notes.map(([kind]) => `${name}-${kind}`).join(' ');
  const common = html`id="${name}" name="${name}"${fault && html` aria-invalid="true"`}${ids && html` aria-describedby="${ids}"`}`;
  // HTML parsers drop the first line break in a `textarea`. Without this one, they would drop a
  // line break at the start of the value.
  return html`<div class="field">
<label for="${name}">${label}</label>
${text === undefined ? html`<input ${common} ${attributes}>` : html`<textarea ${common}>\n${text}</textarea>`}
${notes.map(([kind, note]) => html`<p class="${kind === 'fault' ? 'field-fault' : kind}" id="${name}-${kind}">${note}</p>\n`)}
</div>`;
}
