import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type AdminSessions, maxAgeMs, type SessionUse } from '../../access/admin-sessions.ts';
import type { Random } from '../../lib/random.ts';
import { type Site, toLink } from '../pages/layout.ts';
import { dashboardPath } from './pages.ts';

const cookieName = 'perch_admin';

/** Name of the form field for the token against cross-site request forgery (CSRF). */
export const formTokenField = 'form_token';

export interface DashboardSession {
  /** Secret in the cookie; source of session id, form token and key of the new-API-key cookie. */
  readonly secret: string;
  /** Token required in every form; other websites cannot read it, so they cannot forge forms. */
  readonly formToken: string;
}

interface SessionOptions {
  readonly store: AdminSessions;
  /** Admin token. A session ends when the server's token changes. */
  readonly token: string | undefined;
  readonly random: Random;
  readonly site: Site;
}

export type DashboardSessions = ReturnType<typeof createDashboardSessions>;

/** Creates functions that open, find and end dashboard sessions (docs/decisions/0073). */
export function createDashboardSessions({ store, token = '', random, site }: SessionOptions) {
  const key = createHash('sha256').update(token).digest();
  const idOf = (secret: string) => createHmac('sha256', key).update(secret).digest('hex');
  const toCookie = createCookieWriter(site);
  return {
    /** Opens a session. Returns the `Set-Cookie` value. */
    open: async (): Promise<string> => {
      const secret = random.bytes(32).toString('base64url');
      await store.add(idOf(secret));
      return toCookie(cookieName, secret, maxAgeMs / 1000);
    },
    /** Returns the session of a request; `null` if there is no cookie or the session has ended. */
    find: async (
      request: FastifyRequest,
      reason: SessionUse = 'visit',
    ): Promise<DashboardSession | null> => {
      const secret = readCookie(request, cookieName);
      if (secret === null || !(await store.find(idOf(secret), reason))) return null;
      return { secret, formToken: derive(secret, 'form') };
    },
    /** Ends a session. Returns the `Set-Cookie` value that deletes the cookie. */
    end: async ({ secret }: DashboardSession): Promise<string> => {
      await store.remove(idOf(secret));
      return toCookie(cookieName, '', 0);
    },
  };
}

/** Compares the token in a form with the session's in constant time. */
export function hasFormToken({ formToken }: DashboardSession, form: URLSearchParams): boolean {
  const sent = Buffer.from(form.get(formTokenField) ?? '');
  const expected = Buffer.from(formToken);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Derives 43 characters from a session's secret and `purpose` by HMAC-SHA256 (RFC 2104). */
export function derive(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** Creates the writer of `Set-Cookie` (RFC 6265 §4.1): hidden from scripts and other websites. */
export function createCookieWriter(site: Site) {
  const secure = new URL(site.baseUrl).protocol === 'https:' ? '; Secure' : '';
  const path = toLink(dashboardPath, site);
  return (name: string, value: string, maxAgeSeconds: number): string =>
    `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Returns a cookie's value; `null` if missing, or if not only letters, digits, `_` and `-`. */
export function readCookie({ headers }: FastifyRequest, name: string): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  return /^[\w-]+$/.test(value) ? value : null;
}
