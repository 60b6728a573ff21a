import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Random } from '../../../lib/random.ts';
import type { Site } from '../../pages/layout.ts';
import { createCookieWriter, type DashboardSession, derive, readCookie } from '../session.ts';

const cookieName = 'perch_admin_key';
/** Lifetime in seconds of the cookie that contains a new API key. */
const maxAgeSeconds = 300;
const algorithm = 'aes-256-gcm';
const [ivBytes, tagBytes] = [12, 16];

/**
 * Creates the store that passes a new API key to the page that shows it: in a cookie encrypted for
 * the session, so that every server instance can show it (docs/decisions/0073).
 */
export function createShownKeys(site: Site, random: Random) {
  const toCookie = createCookieWriter(site);
  return {
    keep: ({ id, key }: NewKey, session: DashboardSession, reply: FastifyReply): void => {
      const iv = random.bytes(ivBytes);
      const cipher = createCipheriv(algorithm, toSecret(session), iv);
      const text = Buffer.concat([cipher.update(`${id} ${key}`, 'utf8'), cipher.final()]);
      const value = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
      reply.header('set-cookie', toCookie(cookieName, value, maxAgeSeconds));
    },
    /** Deletes the cookie. Returns `null` if it lacks this key, such as after it was shown. */
    take: (id: string, session: DashboardSession, reply: FastifyReply): string | null => {
      const kept = open(reply.request, session);
      if (kept?.id !== id) return null;
      reply.header('set-cookie', toCookie(cookieName, '', 0));
      return kept.key;
    },
  };
}

export type ShownKeys = ReturnType<typeof createShownKeys>;

type NewKey = Readonly<{ id: string; key: string }>;

const toSecret = (session: DashboardSession) =>
  Buffer.from(derive(session.secret, 'key'), 'base64url');

function open(request: FastifyRequest, session: DashboardSession): NewKey | null {
  const sealed = Buffer.from(readCookie(request, cookieName) ?? '', 'base64url');
  if (sealed.length <= ivBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, toSecret(session), sealed.subarray(0, ivBytes));
  decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  try {
    const text = decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8');
    const [id = '', key = ''] = `${text}${decipher.final('utf8')}`.split(' ');
    return { id, key };
  } catch {
    return null; // the cookie is from an earlier session, or was changed
  }
}
