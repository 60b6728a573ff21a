import { describe, expect, it } from 'vitest';
import {
  browserPath,
  clipboardOf,
  findBarriers,
  findClipped,
  overflowOf,
  phone,
  useRig,
} from '../support/browser.ts';

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

  it('copy a whole page as Markdown', async () => {
    const page = await rig.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/docs/keys');

    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();

    expect(await page.getByRole('status').last().textContent()).toBe('Copied');
    expect(await clipboardOf(page)).toBe(await (await fetch(`${rig.url}/docs/keys.md`)).text());
    await page.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  });

  it('report that a page could not be copied', async () => {
    const page = await rig.open({
      permissions: ['clipboard-read', 'clipboard-write'],
      faults: 'expected',
    });
    await page.goto('/docs/keys');
    await page.route('**/keys.md', (route) => route.abort());

    await page.getByRole('button', { name: 'Copy as Markdown' }).click();

    await page.getByRole('button', { name: 'Not copied' }).waitFor();
  });

  it('link to their Markdown without JavaScript', async () => {
    const page = await rig.open({ javaScriptEnabled: false });
    await page.goto('/docs/keys');

    expect(await page.getByRole('button', { name: 'Copy as Markdown' }).count()).toBe(0);
    await page.getByRole('link', { name: 'View as Markdown' }).click();

    await page.waitForURL('**/docs/keys.md');
    expect(await page.locator('body').textContent()).toMatch(/^# /);
  });

  const typeOfFocus = 'document.activeElement.type';

  it.each(['/', 'Control+k', 'Meta+k'])('focus the search box on %s', async (key) => {
    const page = await rig.open();
    for (const path of ['/', '/docs/keys', '/docs/find?q=key']) {
      await page.goto(path);
      expect(await page.evaluate(typeOfFocus)).not.toBe('search');

      await page.keyboard.press(key);

      expect([path, await page.evaluate(typeOfFocus)]).toEqual([path, 'search']);
      expect(await page.locator(':focus').getAttribute('aria-keyshortcuts')).toContain('/');
    }
  });

  it('leave keys to the field in which somebody types', async () => {
    const page = await rig.open();
    await page.goto('/');
    const field = page.getByRole('textbox', { name: /Link to a post/ });

    await field.pressSequentially('a/b');
    await page.keyboard.press('Control+k');

    expect(await field.inputValue()).toBe('a/b');
    expect(await page.evaluate(typeOfFocus)).toBe('text');
  });

  it('show the key in the empty search box of a wide window only', async () => {
    const page = await rig.open({ viewport: { width: 1280, height: 800 } });
    await page.goto('/docs/keys');
    const box = page.getByRole('searchbox');
    const key = page.locator('.quick-find kbd');

    expect(await key.isVisible()).toBe(true);
    await box.fill('key');
    expect(await key.isVisible()).toBe(false);
    const small = await rig.open(phone);
    await small.goto('/docs/keys');
    await small.keyboard.press('/');
    expect(await small.locator('.quick-find kbd').isVisible()).toBe(false);
    expect(await small.evaluate('document.activeElement.tagName')).toBe('BODY');
  });

  it.each([
    [1280, 800],
    [768, 1024],
    [390, 844],
  ])('have no clipped tables, %d pixels wide', async (width, height) => {
    const page = await rig.open({ viewport: { width, height } });
    for (const path of ['/docs/configuration', '/docs/errors', '/docs/keys']) {
      await page.goto(path);

      const overflow = await overflowOf(page);
      expect([path, overflow, await findClipped(page)]).toEqual([path, 0, []]);
    }
  });

  it('show every variable with its default and description without scrolling on a phone', async () => {
    const page = await rig.open(phone);
    await page.goto('/docs/configuration');

    const table = page.getByRole('table');
    const hidden = await table.evaluate((one) => one.scrollWidth - one.clientWidth);

    expect(hidden).toBe(0);
    expect(await table.getByRole('columnheader').count()).toBe(3);
    const row = table.getByRole('row', { name: /^PERCH_PROVIDERS/ });
    const lefts = await row
      .getByRole('cell')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().left));
    expect(new Set(lefts).size).toBe(1);
  });

  it('scroll a wide table with the keyboard on a phone', async () => {
    const page = await rig.open(phone);
    await page.goto('/docs/errors');
    const table = page.getByRole('group', { name: 'Table' });

    await table.focus();
    await page.keyboard.press('ArrowRight');

    await expect.poll(() => table.evaluate((one) => one.scrollLeft)).toBeGreaterThan(0);
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

  it('have an anchor for each operation of the API on one page', async () => {
    const page = await rig.open({ viewport: { width: 1280, height: 800 } });
    await page.goto('/docs/api#getPost');

    const link = page.locator('#getPost');
    expect(await link.evaluate((one) => one.getBoundingClientRect().top)).toBeLessThan(800);
    await link.click();

    await page.waitForURL('**/docs/api/posts#getPost');
    const heading = page.getByRole('heading', { name: 'Get a post', exact: true });
    expect(await heading.evaluate((one) => one.getBoundingClientRect().top)).toBeLessThan(800);
  });

  it('have short pages about the API', async () => {
    const page = await rig.open({ viewport: { width: 1280, height: 800 } });
    await page.goto('/docs/api');
    const links = page.locator('.docs-nav a[href^="/docs/api"]');
    const paths = await links.evaluateAll((all) =>
      all.map((one) => one.getAttribute('href') ?? ''),
    );

    expect(paths.length).toBeGreaterThan(15);
    expect(paths).toEqual(expect.arrayContaining(['/docs/api', '/docs/api/sessions']));
    for (const path of paths) {
      await page.goto(path);
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      expect([path, height <= 8000 ? 'short' : height]).toEqual([path, 'short']);
    }
  });

  it('open the schema that a link names', async () => {
    const page = await rig.open();
    await page.goto('/docs/api/schemas#MediaSet');

    const set = page.locator('details:has(> summary #MediaSet)');
    const poll = page.locator('details:has(> summary #Poll)');
    await set.getByRole('table').waitFor();
    expect(await poll.getByRole('table').isVisible()).toBe(false);
    await set.getByRole('link', { name: 'Media', exact: true }).first().click();

    const media = page.locator('details:has(> summary #Media)');
    await media.getByRole('table').waitFor();
    await poll.getByText('Poll', { exact: true }).click();
    await poll.getByRole('table').waitFor();
  });

  it.each([
    '/docs',
    '/docs/start',
    '/docs/posts',
    '/docs/errors',
    '/docs/configuration',
    '/docs/versioning',
    '/docs/api',
    '/docs/api/posts',
    '/docs/api/schemas#Media',
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
