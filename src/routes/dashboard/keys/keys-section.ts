import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type KeyRecord, keyChanges, newKey } from '../../../access/keys/key-record.ts';
import type { IssuedKey, KeyStore } from '../../../access/keys/key-store.ts';
import { Problem, quoteInput } from '../../../lib/problem.ts';
import type { Random } from '../../../lib/random.ts';
import { escapeHtml } from '../../../render/html/markup.ts';
import type { Site } from '../../pages/layout.ts';
import type { DashboardPage, DashboardSection, Outcome, Visit } from '../pages.ts';
import { createCookieWriter, type DashboardSession, derive, readCookie } from '../session.ts';
import {
  emptyFields,
  type KeyDefaults,
  type KeyFields,
  parseFields,
  readFields,
  toFields,
} from './key-form.ts';
import {
  describeDeletion,
  describeKey,
  describeNewKey,
  describeRotation,
  keysPath,
  newKeyPath,
  toKeyPath,
} from './key-page.ts';
import { describeList } from './list-page.ts';

export interface KeysSectionOptions {
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
  readonly random: Random;
  readonly site: Site;
  readonly defaults: KeyDefaults;
  /** Handle of an account that this server can read, for the example command. */
  readonly handle: string;
}

/** Creates the pages that manage API keys without JavaScript. */
export function createKeysSection(options: KeysSectionOptions): DashboardSection {
  const { keys, site, defaults } = options;
  const shown = createShownKeys(site, options.random);
  const section: Section = {
    ...options,
    showOnce: ({ record, key }, visit) => {
      shown.keep({ id: record.id, key }, visit.session, visit.reply);
      return { to: toKeyPath(record.id) };
    },
    takeSecret: (id, { session, reply }) => shown.take(id, session, reply),
  };
  const showList = async (visit: Visit) => {
    const message = renderMessage(visit);
    return describeList({ keys: await keys.list(), site, defaults, query: visit.query, message });
  };
  return {
    link: { path: keysPath, text: 'Keys' },
    pages: [
      { url: keysPath, show: showList },
      createNewKeyPage(section),
      createKeyPage(section),
      createSwitch(section, true),
      createSwitch(section, false),
      createRotation(section),
      createDeletion(section),
    ],
  };
}

interface Section extends KeysSectionOptions {
  /** Passes a new key to the page that shows it, and only once. */
  readonly showOnce: (issued: IssuedKey, visit: Visit) => Outcome;
  readonly takeSecret: (id: string, visit: Visit) => string | null;
}

const messages: Readonly<Record<string, string>> = {
  saved: 'The changes are saved.',
  enabled: 'The key is enabled.',
  disabled: 'The key is disabled.',
  deleted: 'The key is deleted.',
};

function renderMessage({ query: { done } }: Visit): string {
  const text = typeof done === 'string' && Object.hasOwn(messages, done) ? messages[done] : null;
  return text ? `<p class="message" role="status">${escapeHtml(text)}</p>\n` : '';
}

function createNewKeyPage({ keys, site, defaults, showOnce }: Section): DashboardPage {
  return {
    url: newKeyPath,
    show: (visit) => describeNewKey({ visit, site, defaults, fields: emptyFields }),
    submit: async (visit, form) => {
      const fields = readFields(form);
      const parsed = parseFields(fields, newKey);
      if ('value' in parsed) return showOnce(await keys.create(parsed.value), visit);
      const { problem, faults } = parsed;
      return { problem, view: describeNewKey({ visit, site, defaults, fields, faults }) };
    },
  };
}

function createKeyPage(section: Section): DashboardPage {
  const { keys, site, takeSecret, defaults, handle } = section;
  return {
    url: toKeyPath(':id'),
    show: async (visit) => {
      const key = await findKey(visit, section);
      const secret = takeSecret(key.id, visit);
      const message = renderMessage(visit);
      const fields = toFields(key);
      return describeKey({ visit, site, defaults, handle, key, secret, message, fields });
    },
    submit: async (visit, form) => {
      const fields: KeyFields = readFields(form);
      const parsed = parseFields(fields, keyChanges);
      if ('value' in parsed) {
        const { id } = known(await keys.change(idOf(visit), parsed.value), visit);
        return { to: `${toKeyPath(id)}?done=saved` };
      }
      const { problem, faults } = parsed;
      const key = await findKey(visit, section);
      const state = { key, secret: null, message: '', fields, faults };
      return { problem, view: describeKey({ visit, site, defaults, handle, ...state }) };
    },
  };
}

const createSwitch = ({ keys }: Section, enabled: boolean): DashboardPage => ({
  url: toKeyPath(':id', enabled ? 'enable' : 'disable'),
  submit: async (visit) => {
    const { id } = known(await keys.change(idOf(visit), { enabled }), visit);
    return { to: `${toKeyPath(id)}?done=${enabled ? 'enabled' : 'disabled'}` };
  },
});

const createRotation = (section: Section): DashboardPage => ({
  url: toKeyPath(':id', 'rotate'),
  show: async (visit) =>
    describeRotation({ key: await findKey(visit, section), visit, site: section.site }),
  submit: async (visit) =>
    section.showOnce(known(await section.keys.rotate(idOf(visit)), visit), visit),
});

const createDeletion = (section: Section): DashboardPage => ({
  url: toKeyPath(':id', 'delete'),
  show: async (visit) =>
    describeDeletion({ key: await findKey(visit, section), visit, site: section.site }),
  submit: async (visit) => {
    known((await section.keys.remove(idOf(visit))) || undefined, visit);
    return { to: `${keysPath}?done=deleted` };
  },
});

const idOf = ({ params }: Visit): string => params.id ?? '';

async function findKey(visit: Visit, { keys }: Pick<Section, 'keys'>): Promise<KeyRecord> {
  return known(
    (await keys.list()).find(({ id }) => id === idOf(visit)),
    visit,
  );
}

function known<Found>(found: Found | undefined, visit: Visit): Found {
  if (found !== undefined) return found;
  throw new Problem('not_found', {
    detail: `There is no key with the id ${quoteInput(idOf(visit))}.`,
    resolution: 'Choose a key from the list of keys.',
  });
}

const cookieName = 'perch_admin_key';
/** Lifetime in seconds of the cookie that contains a new API key. */
const maxAgeSeconds = 300;
const algorithm = 'aes-256-gcm';
const [ivBytes, tagBytes] = [12, 16];

/**
 * Creates the store that passes a new API key to the page that shows it: in a cookie encrypted for
 * the session, so that every server instance can show it (docs/decisions/0073).
 */
function createShownKeys(site: Site, random: Random) {
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
