import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { adminToken, type TestApp } from './build-app.ts';

/** Headers of a browser that opens a page. */
export const navigation = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
} as const;

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' } as const;

/** Signed-in operator, whose requests have the headers of a browser. */
export interface Operator {
  /** Header with the cookie of the session. */
  readonly headers: { readonly cookie: string };
  /** Token that every form of the session contains. */
  readonly formToken: string;
  open(url: string): Promise<LightMyRequestResponse>;
  /** Sends a form with the form token. */
  submit(url: string, fields?: Readonly<Record<string, string>>): Promise<LightMyRequestResponse>;
}

/** Sends a urlencoded form. */
export function sendForm(
  app: TestApp,
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const payload = new URLSearchParams(fields).toString();
  return app.request(url, { method: 'POST', headers: { ...formHeaders, ...headers }, payload });
}

/** Returns the header `Cookie` for the first cookie that a reply sets. */
export function cookieOf({ headers }: LightMyRequestResponse): string {
  const [first = ''] = [headers['set-cookie'] ?? []].flat();
  return first.split(';', 1)[0] ?? '';
}

/** Signs in at the dashboard with the admin token of test apps. */
export async function signIn(app: TestApp, token: string = adminToken): Promise<Operator> {
  const reply = await sendForm(app, '/admin/sign-in', { token }, navigation);
  expect(reply.statusCode).toBe(303);
  const headers = { cookie: cookieOf(reply) };
  const asBrowser = { ...navigation, ...headers };
  const page = await app.request('/admin/keys', { headers: asBrowser });
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(page.body) ?? [];
  return {
    headers,
    formToken,
    open: (url) => app.request(url, { headers: asBrowser }),
    submit: (url, fields = {}) =>
      sendForm(app, url, { form_token: formToken, ...fields }, asBrowser),
  };
}
