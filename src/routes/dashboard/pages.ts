import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyReply } from 'fastify';
import type { Problem } from '../../lib/problem.ts';
import type { Html } from '../../render/html/markup.ts';
import type { DashboardSession } from './session.ts';

/** Path of the dashboard. All paths below it but the sign-in form require a session. */
export const dashboardPath = '/admin';

export const signInPath = `${dashboardPath}/sign-in`;

export const signOutPath = `${dashboardPath}/sign-out`;

/** Path of the JSON data with which a script refreshes the page *Overview*. */
export const overviewPart = `${dashboardPath}/overview`;

export const archivePath = `${dashboardPath}/archive`;

export const answersPath = `${dashboardPath}/answers`;

export const configurationPath = `${dashboardPath}/configuration`;

export interface DashboardSection {
  /** Link in the navigation. `path` is that of the section's first page, such as `/admin/keys`. */
  readonly link: SectionLink;
  readonly pages: readonly DashboardPage[];
}

export type SectionLink = Readonly<{ path: string; text: string }>;

/** Page for a signed-in operator: a view (GET), a form (POST), or both at the same path. */
export interface DashboardPage {
  /** Path in the syntax of Fastify, such as `/admin/keys/:id`. */
  readonly url: string;
  /** Returns the page for a GET request. A thrown Problem becomes an error page in browsers. */
  readonly show?: (visit: Visit) => View | Promise<View>;
  /** Returns JSON data for a GET request, in place of a page. */
  readonly read?: () => unknown;
  /** Handles a form with checked session and token. A thrown Problem becomes an error page. */
  readonly submit?: (visit: Visit, form: URLSearchParams) => Outcome | Promise<Outcome>;
}

export interface Visit {
  readonly reply: FastifyReply;
  readonly session: DashboardSession;
  readonly params: Readonly<Record<string, string>>;
  readonly query: ParsedUrlQuery;
}

/** Content below the navigation. `body` starts with the `h1` heading. */
export interface View {
  readonly title: string;
  readonly body: Html;
  /** File names of scripts in `assets/`, in addition to `site.js`. */
  readonly scripts?: readonly string[];
  /** File names of style sheets in `assets/`, in addition to `admin.css`. */
  readonly styles?: readonly string[];
}

/** Path to redirect to with status 303, or the error and the page that shows the form again. */
export type Outcome = { readonly to: string } | { readonly problem: Problem; readonly view: View };

/** Creates a section with one page, which has no forms. `render` returns its body. */
export function createFigureSection(
  link: SectionLink,
  render: () => Html | Promise<Html>,
): DashboardSection {
  const show = async () => ({
    title: link.text,
    body: await render(),
    styles: ['admin-figures.css'],
  });
  return { link, pages: [{ url: link.path, show }] };
}
