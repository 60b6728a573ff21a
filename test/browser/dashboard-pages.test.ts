import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserPath, findBarriers, overflowOf, phone, useRig } from '../support/browser.ts';

const token = 'an-admin-token-for-browser-tests-of-the-pages';
const paths = ['/admin', '/admin/archive', '/admin/answers', '/admin/configuration'] as const;

async function signIn(page: Page, path: string = '/admin'): Promise<void> {
  await page.context().request.post('/admin/sign-in', { form: { token } });
  await page.goto(path);
}

const requestsOf = async (page: Page) =>
  Number((await page.locator('.tile .value').first().textContent())?.replaceAll(',', ''));

describe.skipIf(browserPath === undefined)('the pages of the dashboard in PERCH_BROWSER', () => {
  const rig = useRig({
    PERCH_ADMIN_TOKEN: token,
    PERCH_KEEP_DECLINED_QUESTIONS: '5',
    PERCH_SAMPEL: 'true',
  });

  it('draw the requests and errors as charts with a table', async () => {
    const page = await rig.open();
    const { request } = page.context();
    for (let at = 0; at < 5; at += 1) await request.get('/health/live');
    await request.get('/no/route');
    await signIn(page);

    const charts = page.getByRole('img', { name: /per minute/ });
    expect(await charts.count()).toBe(2);
    expect(await page.locator('rect.requests').first().getAttribute('height')).not.toBe('0');
    expect(await page.locator('rect.client-errors').count()).toBeGreaterThan(1); // also in the legend
    const bar = page.locator('.chart').first().locator('g').last();
    expect((await bar.locator('rect.requests').boundingBox())?.height).toBeGreaterThan(5);
    const table = page.locator('#table-hour');
    await table.locator('summary').click();
    expect(await table.locator('tbody tr').count()).toBeGreaterThan(0);
  });

  it('refresh without a reload, keep tables open, and can be paused with the keyboard', async () => {
    const page = await rig.open();
    await page.clock.install();
    await signIn(page);
    await page.evaluate('window.wasLoadedOnce = true');
    await page.locator('#table-hour summary').focus();
    await page.keyboard.press('Enter');
    const before = await requestsOf(page);

    await page.clock.runFor(10_500);
    await expect.poll(() => requestsOf(page)).toBeGreaterThan(before);
    expect(await page.evaluate('window.wasLoadedOnce')).toBe(true);
    expect(await page.locator('#table-hour[open]').count()).toBe(1);
    expect(await page.evaluate('document.activeElement.localName')).toBe('summary');

    await page.getByRole('button', { name: 'Pause updates' }).focus();
    await page.keyboard.press('Space');
    const paused = await requestsOf(page);
    await page.clock.runFor(60_000);
    expect(await requestsOf(page)).toBe(paused);
    expect(await page.locator('#live-status').textContent()).toContain('Updates are paused.');

    await page.keyboard.press('Space');
    await expect.poll(() => requestsOf(page)).toBeGreaterThan(paused);
    await expect.poll(() => page.locator('#live-status').textContent()).toBe('');
  });

  it('say when the server does not answer, and when it answers again', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.clock.install();
    await signIn(page);
    const status = page.locator('#live-status');

    await page.route('**/admin/overview', (route) => route.abort());
    await page.clock.runFor(10_500);
    await expect
      .poll(() => status.textContent())
      .toMatch(/The server does not answer\. These figures/);
    expect(await page.locator('#live.old').count()).toBe(1);
    await page.unroute('**/admin/overview');
    await page.clock.runFor(10_500);

    await expect.poll(() => status.textContent()).toBe('');
  });

  it('say that the session has ended, with a link to sign in again', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.clock.install();
    await signIn(page);

    await page.context().clearCookies();
    await page.clock.runFor(10_500);
    await page.getByRole('link', { name: 'Sign in again' }).click();

    await page.locator('input[name="token"]').waitFor();
  });

  it('work without JavaScript', async () => {
    const page = await rig.open({ javaScriptEnabled: false });
    await signIn(page);

    expect(await page.locator('#pause').isVisible()).toBe(false);
    expect(await requestsOf(page)).toBeGreaterThan(0);
  });

  it('show declined questions and warnings, with HTML as text', async () => {
    const page = await rig.open();
    const { request } = page.context();
    const url = `/docs/ask?q=${encodeURIComponent('Where does <b>zyzzyva</b> quibble?')}`;
    const ask = async () => (await request.get(url, { headers: { accept: 'text/html' } })).text();
    await expect.poll(ask, { timeout: 30_000, interval: 500 }).toContain('class="turn abstained"');
    await signIn(page, '/admin/answers');

    expect(await page.locator('.question').first().textContent()).toContain('<b>zyzzyva</b>');
    await page.goto('/admin/configuration');
    expect(await page.locator('.alerts').textContent()).toContain('PERCH_SAMPEL');
  });

  it.each(paths)('have no barriers, light and dark, wide and on a phone: %s', async (path) => {
    for (const options of [{}, { colorScheme: 'dark' } as const, phone]) {
      const page = await rig.open(options);
      await signIn(page, path);
      for (const table of await page.locator('details > summary').all()) await table.click();

      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      await page.setViewportSize({ width: 320, height: 800 }); // as a wide window at a zoom of 400%
      expect(await overflowOf(page)).toBe(0);
    }
  });
});
