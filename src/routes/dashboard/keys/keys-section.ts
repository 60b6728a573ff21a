import { createCipheriv, createDecipheriv } from 'node:crypto';
import type * as z from 'zod';
import { type KeyRecord, keyChanges, newKey } from '../../../access/keys/key-record.ts';
import type { IssuedKey, KeyStore } from '../../../access/keys/key-store.ts';
import { Problem, quoteInput } from '../../../lib/problem.ts';
import type { Random } from '../../../lib/random.ts';
import type { Site } from '../../pages/layout.ts';
import type { DashboardPage, DashboardSection, Outcome, Visit } from '../pages.ts';
import { createCookieWriter, type DashboardSession, derive, readCookie } from '../session.ts';
import {
  describeChange,
  describeKey,
  describeList,
  describeNewKey,
  type KeyForm,
  type KeyPagesOptions,
  keysPath,
  newKeyPath,
  toKeyPath,
} from './key-pages.ts';

export interface KeysSectionOptions extends KeyPagesOptions {
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
  readonly random: Random;
}

/** Creates the pages that manage API keys without JavaScript. */
export function createKeysSection(options: KeysSectionOptions): DashboardSection {
  const { keys } = options;
  return {
    link: { path: keysPath, text: 'Keys' },
    pages: [
      {
        url: keysPath,
        show: async (visit) => describeList(await keys.list(), visit, options),
      },
      createNewKeyPage(options),
      createKeyPage(options),
      createSwitch('enable', options),
      createSwitch('disable', options),
      createChange('rotate', options, async (id, visit) =>
        showOnce(known(await keys.rotate(id), visit), visit, options),
      ),
      createChange('delete', options, async (id, visit) => {
        known((await keys.remove(id)) || undefined, visit);
        return { to: `${keysPath}?done=deleted` };
      }),
    ],
  };
}

const noFields: KeyForm = { fields: { label: '', allowance: '', notes: '' } };

const createNewKeyPage = (options: KeysSectionOptions): DashboardPage => ({
  url: newKeyPath,
  show: (visit) => describeNewKey(visit, noFields, options),
  submit: async (visit, sent) => {
    const { value, problem, form } = parseForm(sent, newKey);
    if (problem) return { problem, view: describeNewKey(visit, form, options) };
    return showOnce(await options.keys.create(value), visit, options);
  },
});

const createKeyPage = (options: KeysSectionOptions): DashboardPage => ({
  url: toKeyPath(':id'),
  show: async (visit) => {
    const key = await findKey(visit, options);
    const { label, allowance, notes } = key;
    const fields = { label, allowance: String(allowance ?? ''), notes: notes ?? '' };
    const secret = takeSecret(key.id, visit, options);
    return describeKey(visit, { key, secret, fields }, options);
  },
  submit: async (visit, sent) => {
    const { value, problem, form } = parseForm(sent, keyChanges);
    if (problem) {
      const page = { key: await findKey(visit, options), secret: null, ...form };
      return { problem, view: describeKey(visit, page, options) };
    }
    const { id } = known(await options.keys.change(idOf(visit), value), visit);
    return { to: `${toKeyPath(id)}?done=saved` };
  },
});

const createSwitch = (
  action: 'enable' | 'disable',
  { keys }: KeysSectionOptions,
): DashboardPage => ({
  url: toKeyPath(':id', action),
  submit: async (visit) => {
    const { id } = known(await keys.change(idOf(visit), { enabled: action === 'enable' }), visit);
    return { to: `${toKeyPath(id)}?done=${action}d` };
  },
});

const createChange = (
  action: 'rotate' | 'delete',
  options: KeysSectionOptions,
  change: (id: string, visit: Visit) => Promise<Outcome>,
): DashboardPage => ({
  url: toKeyPath(':id', action),
  show: async (visit) =>
    describeChange(visit, { key: await findKey(visit, options), action }, options),
  submit: (visit) => change(idOf(visit), visit),
});

/**
 * Validates a form with the admin API's schema. Empty allowance and notes become `null`, and CR LF,
 * which browsers send, becomes LF.
 */
function parseForm<Value>(sent: URLSearchParams, schema: z.ZodType<Value>) {
  const read = (name: string) => (sent.get(name) ?? '').replaceAll('\r\n', '\n');
  const [label, allowance, notes] = [read('label'), read('allowance').trim(), read('notes')];
  const parsed = schema.safeParse({
    label,
    allowance: allowance === '' ? null : toNumber(allowance),
    notes: notes.trim() === '' ? null : notes,
  });
  if (parsed.success) return { value: parsed.data };
  const faults: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues) {
    const name = String(path[0]);
    faults[name] ??= `The ${name} ${message}.`;
  }
  const problem = new Problem('invalid_option', { detail: Object.values(faults).join(' ') });
  return { problem, form: { fields: { label, allowance, notes }, faults } };
}

const toNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN);

const idOf = ({ params }: Visit): string => params.id ?? '';

async function findKey(visit: Visit, { keys }: KeysSectionOptions): Promise<KeyRecord> {
  const all = await keys.list();
  return known(
    all.find(({ id }) => id === idOf(visit)),
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

const toSecret = (session: DashboardSession) =>
  Buffer.from(derive(session.secret, 'key'), 'base64url');

/**
 * Passes a new key to the page that shows it, and only once: in a cookie encrypted for the session,
 * so that every server instance can show it (docs/decisions/0073).
 */
function showOnce(
  { record: { id }, key }: IssuedKey,
  { session, reply }: Visit,
  { site, random }: KeysSectionOptions,
): Outcome {
  const iv = random.bytes(ivBytes);
  const cipher = createCipheriv(algorithm, toSecret(session), iv);
  const text = Buffer.concat([cipher.update(`${id} ${key}`, 'utf8'), cipher.final()]);
  const value = Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  reply.header('set-cookie', createCookieWriter(site)(cookieName, value, maxAgeSeconds));
  return { to: toKeyPath(id) };
}

/** Deletes the cookie. Returns `null` if it lacks this key, such as after it was shown. */
function takeSecret(
  wanted: string,
  { session, reply }: Visit,
  { site }: { readonly site: Site },
): string | null {
  const sealed = Buffer.from(readCookie(reply.request, cookieName) ?? '', 'base64url');
  const [id, key = null] = unseal(sealed, session)?.split(' ') ?? [];
  if (id !== wanted) return null;
  reply.header('set-cookie', createCookieWriter(site)(cookieName, '', 0));
  return key;
}

function unseal(sealed: Buffer, session: DashboardSession): string | null {
  if (sealed.length <= ivBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, toSecret(session), sealed.subarray(0, ivBytes));
  decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
  try {
    const text = decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8');
    return `${text}${decipher.final('utf8')}`;
  } catch {
    return null; // the cookie is from an earlier session, or was changed
  }
}
