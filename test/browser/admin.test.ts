import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  browserPath,
  clipboardOf,
  findBarriers,
  overflowOf,
  phone,
  useRig,
  type VisitOptions,
} from '../support/browser.ts';
import { adminToken } from '../support/build-app.ts';

const keyPattern = /^perch_[\w-]{43}$/;

describe.skipIf(browserPath === undefined)('the dashboard in the browser PERCH_BROWSER', () => {
  const rig = useRig({ PERCH_ADMIN_TOKEN: adminToken, PERCH_PROVIDERS: 'archive' });

  const enterToken = async (page: Page, token: string) => {
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  /** Opens a page as a signed-in operator. Skips the sign-in page, whose status 401 the browser logs as an error. */
  const openDashboard = async (path = '/admin/keys', options: VisitOptions = {}) => {
    const page = await rig.open(options);
    await page.context().addCookies([await signIn()]);
    await page.goto(path);
    return page;
  };

  const signIn = async () => {
    const body = new URLSearchParams({ token: adminToken });
    const reply = await fetch(`${rig.url}/admin/sign-in`, {
      ...{ method: 'POST', body, redirect: 'manual' },
    });
    const [pair = ''] = (reply.headers.get('set-cookie') ?? '').split(';');
    const [name = '', value = ''] = pair.split('=');
    return { name, value, domain: 'localhost', path: '/admin' };
  };

  const callApi = (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    return fetch(`${rig.url}/api/admin/keys${path}`, { ...init, headers });
  };

  const createKey = async (fields: Readonly<Record<string, unknown>>): Promise<string> => {
    const reply = await callApi('', { method: 'POST', body: JSON.stringify(fields) });
    const { id } = (await reply.json()) as { readonly id: string };
    return id;
  };

  const readWith = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${rig.url}/api/v1/profiles/ada.example`, { headers })).status;
  };

  it('signs in at the page that was asked for, and out', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/admin/keys?q=heron');
    expect(await page.getByRole('navigation', { name: 'Dashboard' }).count()).toBe(0);

    await enterToken(page, adminToken);
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();

    expect(new URL(page.url()).search).toBe('?q=heron');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/admin' });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.goBack();
    await page.getByLabel('Admin token').waitFor();
  });

  it('refuses a wrong token next to the field', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/admin/keys');

    await enterToken(page, 'wrong');
    await page.getByText('This is not the admin token of this server.').waitFor();

    const field = page.getByLabel('Admin token');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.id')).toBe('token');
    await enterToken(page, adminToken);
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
  });

  it('asks to sign in again after the session has ended', async () => {
    const page = await rig.open({ faults: 'expected' });
    const cookie = await signIn();
    await page.context().addCookies([cookie]);
    await page.goto('/admin/keys');
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();

    await page.context().addCookies([{ ...cookie, expires: Math.floor(Date.now() / 1000) + 1 }]);
    await expect.poll(() => page.context().cookies()).toEqual([]);
    await page.reload();

    await page.getByLabel('Admin token').waitFor();
  });

  it('refuses a form without its token, and changes nothing', async () => {
    const id = await createKey({ label: 'Form token' });
    const page = await openDashboard(`/admin/keys/${id}/delete`, { faults: 'expected' });
    await page.evaluate(
      `document.querySelectorAll('[name=form_token]').forEach((field) => { field.value = 'x'; })`,
    );

    await page.getByRole('button', { name: 'Delete the key' }).click();

    await page.getByText('nothing was changed').waitFor();
    expect((await callApi(`/${id}`)).status).toBe(200);
  });

  it('refuses the form of another website', async () => {
    const id = await createKey({ label: 'Other website' });
    const page = await openDashboard('/admin/keys', { faults: 'expected' });
    const evil = 'http://evil.test:8123/';
    const form = `<form method="post" action="${rig.url}/admin/keys/${id}/disable"></form>`;
    await page.route(evil, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `${form}<script>document.forms[0].submit()</script>`,
      }),
    );

    await page.goto(evil);
    await page.waitForURL(`**/admin/keys/${id}/disable`);

    expect(await page.textContent('h1')).toBe('Origin or host not allowed');
    const key = (await (await callApi(`/${id}`)).json()) as { readonly enabled: boolean };
    expect(key.enabled).toBe(true);
  });

  it('leads a key through its whole life', async () => {
    const page = await openDashboard('/admin/keys', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

    // Created, with an error first
    await page.getByRole('link', { name: 'Create a key' }).click();
    await page.getByLabel('Label').fill('Ada’s <crawler>');
    await page.getByLabel('Allowance').fill('5');
    await page.getByLabel('Notes').fill('issue 7');
    await press('Create the key');
    const shown = await page.locator('#new-key').textContent();
    await press('Copy the key');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const key = await clipboardOf(page);
    expect(key).toMatch(keyPattern);
    expect(shown).toBe(key);
    expect(await page.locator('.new-key pre').textContent()).toContain(
      `curl -H 'Authorization: Bearer ${key}'`,
    );
    expect(await readWith(key)).toBe(200);
    await page.reload();
    expect(await page.locator('#new-key').count()).toBe(0);

    await press('Disable');
    await page.getByText('The key is disabled.', { exact: true }).waitFor();
    expect(await readWith(key)).toBe(401);
    await press('Enable');
    await page.getByText('The key is enabled.', { exact: true }).waitFor();
    expect(await readWith(key)).toBe(200);

    await page.getByLabel('Label').fill('Ada’s reader');
    await press('Save');
    await page.getByRole('heading', { name: 'Ada’s reader' }).waitFor();

    await page.getByRole('link', { name: 'Rotate…' }).click();
    await press('Rotate the key');
    const next = (await page.locator('#new-key').textContent()) ?? '';
    expect([await readWith(key), await readWith(next)]).toEqual([401, 200]);

    await page.goto('/admin/keys');
    await page.getByRole('searchbox').fill('reader');
    await page.keyboard.press('Enter');
    await page.getByText('1 key with “reader”.').waitFor();
    await page.getByRole('link', { name: 'Ada’s reader' }).click();
    await page.getByRole('link', { name: 'Delete…' }).click();
    await page.getByRole('heading', { name: 'Delete the key “Ada’s reader”?' }).waitFor();
    await press('Delete the key');
    await page.getByText('The key is deleted.').waitFor();
    expect(await readWith(next)).toBe(401);
  });

  it('shows an error next to its field, and keeps the input', async () => {
    const page = await openDashboard('/admin/keys/new', { faults: 'expected' });

    await page.getByLabel('Label').fill('Ada');
    await page.getByLabel('Allowance').fill('many');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('The allowance must be a whole number from 1 to 1000000.').waitFor();

    expect(await page.getByLabel('Label').inputValue()).toBe('Ada');
    expect(await page.getByLabel('Allowance').inputValue()).toBe('many');
    expect(await page.evaluate('document.activeElement.id')).toBe('allowance');
    expect(await findBarriers(page)).toEqual([]);
  });

  it('works without JavaScript', async () => {
    const page = await openDashboard('/admin/keys/new', { javaScriptEnabled: false });

    await page.getByLabel('Label').fill('No script');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.locator('#new-key').waitFor();

    expect(await page.locator('#new-key').textContent()).toMatch(keyPattern);
    expect(await page.getByRole('button', { name: 'Copy the key' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('The key is disabled.', { exact: true }).waitFor();
  });

  it('can be used with the keyboard only', async () => {
    const id = await createKey({ label: 'Keyboard' });
    const page = await openDashboard('/admin/keys?q=keyboard');
    const tabTo = async (text: string) => {
      const focused = () =>
        page.evaluate<string>(
          'document.activeElement.textContent.trim() || document.activeElement.id',
        );
      for (let n = 0; n < 30 && (await focused()) !== text; n += 1) {
        await page.keyboard.press('Tab');
      }
      expect(await focused()).toBe(text);
    };

    await tabTo('Skip to the content');
    await tabTo('q');
    await tabTo('Keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/${id}`);
    await tabTo('Delete…');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/delete');
    await tabTo('Delete the key');
    await page.keyboard.press('Enter');
    await page.getByText('The key is deleted.').waitFor();

    expect((await callApi(`/${id}`)).status).toBe(404);
  });

  it('has no barriers, light and dark, and fits a phone', async () => {
    const long = 'A label without a space: '.padEnd(100, 'x');
    const id = await createKey({ label: long, notes: 'y'.repeat(500) });
    const paths = ['/admin/keys', '/admin/keys?q=nothing-has-this', '/admin/keys/new'];
    const all = [...paths, ...['', '/rotate', '/delete'].map((end) => `/admin/keys/${id}${end}`)];
    for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, phone] as const) {
      const page = await openDashboard('/admin/keys', options);
      for (const path of all) {
        await page.goto(path);
        expect([path, await findBarriers(page)]).toEqual([path, []]);
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
      }
    }
    const signingIn = await rig.open({ ...phone, faults: 'expected' });
    await signingIn.goto('/admin');
    expect(await findBarriers(signingIn)).toEqual([]);
    expect(await overflowOf(signingIn)).toBe(0);
  });
});
