import { version } from '../../lib/version.ts';
import { brandMark, type Html, html } from '../../render/html/markup.ts';
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
