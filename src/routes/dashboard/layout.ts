import { version } from '../../lib/version.ts';
import { brandMark, escapeHtml } from '../../render/html/markup.ts';
import {
  docsPath,
  htmlHeaders,
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
export function renderDashboard(view: View, { site, links, session, path }: Surroundings): string {
  return renderPage(
    {
      title: `${view.title} · Dashboard`,
      description: 'Dashboard of the operator of this server.',
      path: dashboardPath,
      kind: session === null ? 'admin admin-closed' : 'admin',
      bodyHtml: view.bodyHtml,
      scripts: view.scripts ?? [],
      styles: ['admin.css', ...(view.styles ?? [])],
      robots: 'noindex',
      surroundings: {
        headerHtml: renderHeader({ site, links, session, path }),
        footerHtml: renderFooter(site, session),
      },
    },
    site,
  );
}

function renderHeader({ site, links, session, path }: Surroundings): string {
  const brand = `<a class="brand" href="${escapeHtml(toLink(dashboardPath, site))}">${brandMark}<span>Perch <small>Dashboard</small></span></a>`;
  const navigation = session === null ? '' : renderNavigation(links, path, site);
  const signOut = session === null ? '' : renderSignOut(session, site);
  return `<header class="site-header admin-header">
<div class="bar">
${brand}
${navigation}
<div class="tools">${themeSwitch}${signOut}</div>
</div>
</header>`;
}

function renderNavigation(links: readonly SectionLink[], path: string, site: Site): string {
  const items = links.map((link) => {
    const isBelow = link.path !== dashboardPath && path.startsWith(`${link.path}/`);
    const current = path === link.path ? 'page' : isBelow ? 'true' : null;
    const attributes = current === null ? '' : ` aria-current="${current}"`;
    return `<li>${renderLink(link.path, link.text, site, attributes)}</li>`;
  });
  return `<nav aria-label="Dashboard"><ul>${items.join('')}</ul></nav>`;
}

function renderSignOut(session: DashboardSession, site: Site): string {
  return `<form class="sign-out" method="post" action="${escapeHtml(toLink(signOutPath, site))}">${renderFormToken(session)}<button type="submit">Sign out</button></form>`;
}

/** Renders the hidden field with the form token, which every form needs. */
export function renderFormToken({ formToken }: DashboardSession): string {
  return `<input type="hidden" name="${formTokenField}" value="${escapeHtml(formToken)}">`;
}

function renderFooter(site: Site, session: DashboardSession | null): string {
  const links = [
    renderLink(`${docsPath}/admin`, 'Keys and dashboard', site),
    renderLink(`${docsPath}/configuration`, 'Configuration', site),
    renderLink('/', 'Front page', site),
  ];
  return `<footer class="site-footer">
<div class="bar">
<p>Perch${session === null ? '' : ` ${escapeHtml(version)}`}</p>
<nav aria-label="Footer"><ul>${links.map((link) => `<li>${link}</li>`).join('')}</ul></nav>
</div>
</footer>`;
}
