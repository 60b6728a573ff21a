import { describe, expect, it } from 'vitest';
import { browserPath, findBarriers, overflowOf, phone, useRig } from '../support/browser.ts';

describe.skipIf(browserPath === undefined)('the docs in the browser PERCH_BROWSER', () => {
  const rig = useRig();

  it('are reachable from the front page through the navigation', async () => {
    const page = await rig.open();
    await page.goto('/');

    await page
      .getByRole('navigation', { name: 'Site' })
      .getByRole('link', { name: 'Docs' })
      .click();
    await page.waitForURL('**/docs');
    const navigation = page.getByRole('navigation', { name: 'Documentation' });
    await navigation.getByRole('link', { name: 'Paging' }).click();
    await page.getByRole('heading', { level: 1, name: 'Paging' }).waitFor();
    expect(await navigation.locator('[aria-current="page"]').textContent()).toBe('Paging');
    const next = page.getByRole('link', { name: /^Next/ });
    const target = await next.getAttribute('href');
    await next.click();

    await page.waitForURL(`**${target}`);
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  });

  it('can be searched from the header, with links to the matching sections', async () => {
    const page = await rig.open();
    await page.goto('/');

    await page.getByRole('searchbox').fill('nextCursor');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/find?q=nextCursor');
    const hit = page.locator('.hits a').first();
    const path = new URL((await hit.getAttribute('href')) ?? '', rig.url);
    await hit.click();

    await page.waitForURL(path.href);
    expect(await page.locator('main').textContent()).toContain('nextCursor');
    if (path.hash !== '') expect(await page.locator(path.hash).isVisible()).toBe(true);
  });

  it('show search results while typing, and support the keyboard', async () => {
    const page = await rig.open();
    await page.goto('/docs');

    await page.getByRole('searchbox').pressSequentially('rate_limited');
    const first = page.locator('.found a').first();
    await first.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');

    await page.waitForURL(/\/docs\/(?!find)\w/);
    expect(await page.locator('main').textContent()).toContain('rate_limited');
  });

  it('copy a command to the clipboard', async () => {
    const page = await rig.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/docs/start');
    const block = page.locator('.code').first();

    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();

    expect(await block.locator('pre').textContent()).toContain('curl ');
  });

  it('can be read and searched without JavaScript', async () => {
    const page = await rig.open({ javaScriptEnabled: false });
    await page.goto('/docs/find');

    await page.locator('main').getByRole('searchbox').fill('rate_limited');
    await page.keyboard.press('Enter');
    await page.locator('.hits a').first().click();

    await page.waitForURL(/\/docs\/(?!find)/);
    expect(await page.locator('main').textContent()).toContain('rate_limited');
  });

  it('start with a skip link for keyboard users', async () => {
    const page = await rig.open();
    await page.goto('/docs/keys');

    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');

    const isInMain = 'document.activeElement.closest("main") !== null';
    expect(await page.evaluate(isInMain)).toBe(true);
  });

  it('show an error page for a wrong address, with a way back', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/docs/nope');

    await page.getByRole('heading', { level: 1, name: 'No such route' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'all pages' }).click();

    await page.waitForURL('**/docs');
  });

  it('read what is typed into the box of an error page', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/no/such/route');

    await page.getByRole('textbox', { name: /Link to a post/ }).fill('@ada.example');
    await page.getByRole('button', { name: 'Read' }).click();

    await page.getByRole('heading', { name: /Ada Fenwick/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('@ada.example');
  });

  it.each(['/docs/nope', '/no/such/route'])(
    'have no barriers on the error page at %s, light and dark, and fit a phone',
    async (path) => {
      for (const options of [{}, { colorScheme: 'dark' } as const, phone]) {
        const page = await rig.open({ ...options, faults: 'expected' });
        await page.goto(path);
        expect(await findBarriers(page)).toEqual([]);
        expect(await overflowOf(page)).toBe(0);
      }
    },
  );

  it.each([
    '/docs',
    '/docs/start',
    '/docs/posts',
    '/docs/errors',
    '/docs/configuration',
    '/docs/versioning',
    '/docs/api',
    '/docs/find',
    '/docs/find?q=cursor',
    '/docs/find?q=nothinglikethis',
  ])('have no barriers at %s, light and dark, and fit a phone', async (path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await rig.open({ colorScheme });
      await page.goto(path);
      expect(await findBarriers(page)).toEqual([]);
    }
    const small = await rig.open(phone);
    await small.goto(path);
    expect(await overflowOf(small)).toBe(0);
    expect(await findBarriers(small)).toEqual([]);
  });
});
