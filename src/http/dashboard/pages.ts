import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../../core/problem.ts';
import type { Site } from '../pages/layout.ts';
import type { DashboardSession } from './session.ts';

/** Group of pages with one link in the navigation of the dashboard. */
export interface DashboardSection {
  /** Link to the section in the navigation. `path` is the path of the section's first page, such as `/admin/keys`. */
  readonly link: SectionLink;
  /** Registers the pages. Called once, when the server starts. */
  readonly register: (dashboard: Dashboard) => void;
}

export type SectionLink = Readonly<{ path: string; text: string }>;

/**
 * Functions that register the pages and JSON routes of the dashboard. The registered routes require a signed-in
 * operator, and their replies contain `Cache-Control: no-store`.
 */
export interface Dashboard {
  readonly site: Site;
  /** Registers a page. Requests to the page with unsupported methods get status 405. */
  readonly page: (page: DashboardPage) => void;
  /**
   * Registers a GET route for JSON data, which a script of a page fetches. Requests without a
   * session get 401 `unauthorized`.
   */
  readonly part: (url: string, read: (visit: Visit) => unknown) => void;
}

/** Page of the dashboard: a view (GET), a form (POST), or both at the same path. */
export interface DashboardPage {
  /** Path in the syntax of Fastify, such as `/admin/keys/:id`. */
  readonly url: string;
  /** Returns the content of the page for a GET request. @throws Problem, for which browsers get an error page */
  readonly show?: (visit: Visit) => View | Promise<View>;
  /**
   * Handles a submitted form, after the server has checked the session and the form token.
   * @throws Problem, for which browsers get an error page
   */
  readonly submit?: (visit: Visit, form: URLSearchParams) => Outcome | Promise<Outcome>;
}

/** Request of a signed-in operator. */
export interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: DashboardSession;
  readonly params: Readonly<Record<string, string>>;
  readonly query: ParsedUrlQuery;
  /** Hidden field with the form token, as HTML. Every `<form method="post">` must contain the field. */
  readonly formTokenHtml: string;
}

/**
 * Content of a page below the navigation. `title` is plain text; `bodyHtml` is HTML that starts
 * with the `h1` heading.
 */
export interface View {
  readonly title: string;
  readonly bodyHtml: string;
  /** File names of scripts in `assets/`, in addition to `site.js`. */
  readonly scripts?: readonly string[];
  /** File names of style sheets in `assets/`, in addition to `admin.css`. */
  readonly styles?: readonly string[];
}

/**
 * Result of a submitted form: the path to redirect to with status 303, or the error and the page
 * that shows the form again.
 */
export type Outcome = { readonly to: string } | { readonly problem: Problem; readonly view: View };
