import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { asAdmin, buildTestApp, type TestApp } from '../support/build-app.ts';
import { cookieOf, navigation, type Operator, sendForm, signIn } from '../support/dashboard.ts';
import { parsePage } from '../support/render-html.ts';

const keys = '/admin/keys';
const read = '/api/v1/profiles/ada.example';
const hourMs = 3_600_000;
const keyPattern = /perch_[A-Za-z0-9_-]{43}/;

/** App with a signed-in operator. */
async function openDashboard() {
  const app = await buildTestApp();
  return { app, operator: await signIn(app) };
}

const textOf = ({ body }: LightMyRequestResponse) => parsePage(body).text;

/** Follows the redirect of a form with the cookies that the form's reply sets, as a browser does. */
async function follow(app: TestApp, { headers }: Operator, reply: LightMyRequestResponse) {
  expect(reply.statusCode).toBe(303);
  const cookie = `${headers.cookie}; ${cookieOf(reply)}`;
  const url = String(reply.headers.location);
  return app.request(url, { headers: { ...navigation, cookie } });
}

async function statusWith(app: TestApp, key: string): Promise<number> {
  const reply = await app.request(read, { headers: { authorization: `Bearer ${key}` } });
  return reply.statusCode;
}

describe('the list of keys', () => {
  it('invites to create the first key', async () => {
    const { operator } = await openDashboard();

    const page = await operator.open(keys);

    expect([page.statusCode, page.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(textOf(page)).toContain('There are no keys yet');
  });

  it('shows each key with its state, allowance, times and notes', async () => {
    const app = await buildTestApp();
    const { id } = await app.createKey({ label: 'Ada <b>', allowance: 5, notes: 'issue 7' });
    await app.advance(hourMs);
    const other = await app.createKey({ label: 'Mira' });
    await app.advance(hourMs);
    await app.request(read, { headers: other.headers });
    const operator = await signIn(app);
    await app.advance(60_000); // times of last use are stored later
    await operator.submit(`${keys}/${id}/disable`);

    const { elements, text, errors } = parsePage((await operator.open(keys)).body);

    expect(errors).toEqual([]);
    const rows = elements.filter(({ tag }) => tag === 'tr').map((row) => row.text);
    expect(rows).toEqual([
      expect.stringContaining('Label'),
      expect.stringMatching(
        /Mira.*Enabled.*600 \(default\).*2026-11-21.01:00.UTC.*2026-11-21.02:00/s,
      ),
      expect.stringMatching(/Ada <b>.*Disabled.*5.*2026-11-21.00:00.UTC.*Never.*issue 7/s),
    ]);
    expect(text).not.toMatch(keyPattern);
  });

  it.each([
    ['ada', ['Ada’s crawler']],
    ['ISSUE 7', ['Mira']],
    ['  mira ', ['Mira']],
    ['zzz', []],
    ['"><script>', []],
    ['', ['Mira', 'Ada’s crawler']],
  ])('finds keys with %j', async (q, expected) => {
    const { app, operator } = await openDashboard();
    await app.createKey({ label: 'Ada’s crawler' });
    await app.advance(1);
    await app.createKey({ label: 'Mira', notes: 'see issue 7' });

    const page = await operator.open(`${keys}?q=${encodeURIComponent(q)}`);

    const { elements, errors } = parsePage(page.body);
    expect(errors).toEqual([]);
    const heads = elements.filter(({ attributes }) => attributes.role === 'rowheader');
    expect(heads.map(({ text }) => text)).toEqual(expected);
    const input = elements.find(({ attributes }) => attributes.type === 'search');
    expect(input?.attributes.value).toBe(q.trim());
  });

  it('has pages of 50 keys, newest first', async () => {
    const { app, operator } = await openDashboard();
    for (let n = 1; n <= 51; n += 1) {
      await app.createKey({ label: `key ${n}` });
      await app.advance(1);
    }
    const labelsOf = async (query: string) => {
      const { elements } = parsePage((await operator.open(`${keys}${query}`)).body);
      const heads = elements.filter(({ attributes }) => attributes.role === 'rowheader');
      return heads.map(({ text }) => text);
    };

    expect([(await labelsOf('')).length, (await labelsOf(''))[0]]).toEqual([50, 'key 51']);
    expect(await labelsOf('?page=2')).toEqual(['key 1']);
    expect(await labelsOf('?q=key+5&page=1')).toEqual(['key 51', 'key 50', 'key 5']);
    for (const page of ['3', '999999999', '0', '-1', 'x', '']) {
      expect((await labelsOf(`?page=${page}`)).length).toBeGreaterThan(0);
    }
  });
});

describe('a new key', () => {
  it('is shown once, and works', async () => {
    const { app, operator } = await openDashboard();

    const made = await operator.submit(`${keys}/new`, {
      label: ' Ada ',
      allowance: '5',
      notes: 'one\r\ntwo',
    });
    const shown = await follow(app, operator, made);

    const [key = ''] = keyPattern.exec(shown.body) ?? [];
    expect(textOf(shown)).toContain(`curl -H 'Authorization: Bearer ${key}'`);
    expect(await statusWith(app, key)).toBe(200);
    // The browser deletes the cookie, so that a reload does not show the key again.
    expect(shown.headers['set-cookie']).toMatch(/^perch_admin_key=; .*Max-Age=0/);
    const again = await operator.open(String(made.headers.location));
    expect([again.statusCode, keyPattern.test(again.body)]).toEqual([200, false]);
    const listed = (await app.request('/api/admin/keys', { headers: asAdmin })).json().keys;
    expect(listed).toMatchObject([{ label: 'Ada', allowance: 5, notes: 'one\ntwo' }]);
  });

  it('is in no header in the clear, and cannot be read in another session', async () => {
    const { app, operator } = await openDashboard();

    const made = await operator.submit(`${keys}/new`, { label: 'Ada' });
    const [key = ''] = keyPattern.exec((await follow(app, operator, made)).body) ?? [];

    const cookie = cookieOf(made).split('=')[1] ?? '';
    expect(JSON.stringify(made.headers)).not.toContain(key);
    expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain(key);
    expect(made.headers['set-cookie']).toMatch(
      /Path=\/admin; Max-Age=300; HttpOnly; SameSite=Strict/,
    );
    const other = await follow(app, await signIn(app), made);
    expect([other.statusCode, keyPattern.test(other.body)]).toEqual([200, false]);
    for (const changed of ['x', `${cookie.slice(0, -4)}AAAA`, cookie.slice(0, 40)]) {
      const headers = {
        ...navigation,
        cookie: `${operator.headers.cookie}; perch_admin_key=${changed}`,
      };
      const page = await app.request(String(made.headers.location), { headers });
      expect([page.statusCode, keyPattern.test(page.body)]).toEqual([200, false]);
    }
  });

  it.each([
    [{ label: ' ' }, 'label', 'The label must not be empty.'],
    [{ label: 'x'.repeat(101) }, 'label', 'The label must have at most 100 characters.'],
    [{ label: 'a\nb' }, 'label', 'The label must be one line without control characters.'],
    [{ label: 'Ada', allowance: '0' }, 'allowance', 'whole number from 1 to 1000000.'],
    [{ label: 'Ada', allowance: '<b>' }, 'allowance', 'whole number from 1 to 1000000.'],
    [{ label: 'Ada', notes: 'x'.repeat(2001) }, 'notes', 'at most 2000 characters.'],
  ])('is refused next to the field, with the input kept: %o', async (fields, name, message) => {
    const { app, operator } = await openDashboard();

    const reply = await operator.submit(`${keys}/new`, fields);

    const { elements, errors } = parsePage(reply.body);
    expect([reply.statusCode, errors]).toEqual([400, []]);
    expect(elements.find(({ attributes }) => attributes.id === `${name}-fault`)?.text).toContain(
      message,
    );
    const field = elements.find(({ attributes }) => attributes.id === name);
    expect(field?.attributes['aria-describedby']).toContain(`${name}-fault`);
    for (const [sent, value] of Object.entries(fields)) {
      const kept = elements.find(({ attributes }) => attributes.id === sent);
      expect(kept?.tag === 'textarea' ? kept.text : kept?.attributes.value).toBe(value);
    }
    expect((await app.request('/api/admin/keys', { headers: asAdmin })).json().keys).toEqual([]);
  });

  it('is refused to programs with the problem', async () => {
    const { app, operator } = await openDashboard();
    const fields = { form_token: operator.formToken, label: '', allowance: 'x' };

    const reply = await sendForm(app, `${keys}/new`, fields, operator.headers);

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'invalid_option']);
    expect(reply.json().detail).toBe(
      'The label must not be empty. The allowance must be a whole number from 1 to 1000000.',
    );
  });
});

describe('a key', () => {
  it('is disabled and enabled', async () => {
    const { app, operator } = await openDashboard();
    const { id, key } = await app.createKey();

    const disabled = await operator.submit(`${keys}/${id}/disable`);
    expect(await statusWith(app, key)).toBe(401);
    expect(textOf(await follow(app, operator, disabled))).toContain('The key is disabled.');
    const enabled = await operator.submit(`${keys}/${id}/enable`);

    expect(await statusWith(app, key)).toBe(200);
    expect(textOf(await follow(app, operator, enabled))).toContain('The key is enabled.');
  });

  it('is rotated after a confirmation that names the label', async () => {
    const { app, operator } = await openDashboard();
    const { id, key } = await app.createKey({ label: 'Ada', allowance: 7 });

    const question = await operator.open(`${keys}/${id}/rotate`);
    const shown = await follow(app, operator, await operator.submit(`${keys}/${id}/rotate`));

    expect(textOf(question)).toContain('Rotate the key “Ada”?');
    const [next = ''] = keyPattern.exec(shown.body) ?? [];
    expect([await statusWith(app, key), await statusWith(app, next)]).toEqual([401, 200]);
    expect((await operator.open(`${keys}/${id}`)).statusCode).toBe(404);
  });

  it('is changed with the same form, and keeps its state', async () => {
    const { app, operator } = await openDashboard();
    const { id } = await app.createKey({ label: 'Ada', allowance: 7, notes: '\nold' });
    await operator.submit(`${keys}/${id}/disable`);
    const { elements } = parsePage((await operator.open(`${keys}/${id}`)).body);
    expect(elements.find(({ tag }) => tag === 'textarea')?.text).toBe('\nold');

    const fields = { label: 'Ada Fenwick', allowance: '', notes: '' };
    const saved = await operator.submit(`${keys}/${id}`, fields);

    expect(textOf(await follow(app, operator, saved))).toContain('The changes are saved.');
    const record = (await app.request(`/api/admin/keys/${id}`, { headers: asAdmin })).json();
    expect(record).toMatchObject({
      label: 'Ada Fenwick',
      allowance: null,
      notes: null,
      enabled: false,
    });
  });

  it('is not changed by an invalid form', async () => {
    const { app, operator } = await openDashboard();
    const { id } = await app.createKey({ label: 'Ada' });

    const reply = await operator.submit(`${keys}/${id}`, {
      label: '',
      allowance: '',
      notes: 'new',
    });

    expect([reply.statusCode, textOf(reply)]).toEqual([
      400,
      expect.stringContaining('The label must not be empty.'),
    ]);
    const record = (await app.request(`/api/admin/keys/${id}`, { headers: asAdmin })).json();
    expect(record).toMatchObject({ label: 'Ada', notes: null });
  });

  it('is deleted after a confirmation that names the label', async () => {
    const { app, operator } = await openDashboard();
    const { id, key } = await app.createKey({ label: 'Ada’s <crawler>' });

    const question = await operator.open(`${keys}/${id}/delete`);
    expect(await statusWith(app, key)).toBe(200);
    const list = await follow(app, operator, await operator.submit(`${keys}/${id}/delete`));

    expect(textOf(question)).toContain('Delete the key “Ada’s <crawler>”?');
    expect(textOf(list)).toContain('The key is deleted.');
    expect(await statusWith(app, key)).toBe(401);
  });

  it.each(['', '/enable', '/disable', '/rotate', '/delete'])(
    'is not found with an unknown id, at %s',
    async (path) => {
      const { operator } = await openDashboard();

      const reply = await operator.submit(`${keys}/no-such-key${path}`, { label: 'x' });

      expect(reply.statusCode).toBe(404);
      expect(textOf(reply)).toContain('There is no key with the id "no-such-key".');
    },
  );

  it('is not changed by GET', async () => {
    const { app, operator } = await openDashboard();
    const { id, key } = await app.createKey();

    for (const path of ['/enable', '/disable', '/rotate', '/delete']) {
      await operator.open(`${keys}/${id}${path}`);
    }

    expect(await statusWith(app, key)).toBe(200);
    expect((await operator.open(`${keys}/${id}/disable`)).headers.allow).toBe('POST');
  });
});
