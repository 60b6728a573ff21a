import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { toAccount } from '../../src/model/account.ts';
import type { ListResult } from '../../src/model/results.ts';
import { renderHtmlPage, toPageHeaders } from '../../src/render/page/page.ts';
import { readPageAssets } from '../../src/server/wiring/page-context.ts';
import {
  browserPath,
  findBarriers,
  overflowOf,
  phone,
  useRig,
  type VisitOptions,
} from '../support/browser.ts';
import { png } from '../support/picture-rig.ts';
import { connectionsResult, nextPage, profileResult } from '../support/render-browse.ts';
import { status } from '../support/render-posts.ts';

const thread = '/ada.example/status/1900000000000000001?format=html';
const desktop = { viewport: { width: 1280, height: 800 } } as const;
const visits: readonly (readonly [string, VisitOptions])[] = [
  ['a wide window', desktop],
  ['a wide dark window', { ...desktop, colorScheme: 'dark' }],
  ['a phone', phone],
  ['a dark phone', { ...phone, colorScheme: 'dark' }],
];

const host = 'a-very-long-host-name-of-a-server.community.example.social';
const long = toAccount({
  id: '1',
  screen_name: `someone_with_a_very_long_name_without_a_pause@${host}`,
  name: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  url: `https://${host}/@someone_with_a_very_long_name_without_a_pause`,
  platform: 'mastodon',
  description: `Reads ${'long'.repeat(40)} words, and https://${host}/${'path/'.repeat(30)}`,
  location: 'At'.repeat(60),
  website: { url: `https://${host}/${'about'.repeat(20)}`, display_url: host },
  avatar_url: 'https://media.example/avatar.png',
  banner_url: 'https://media.example/banner.png',
  followers: 1_234_567,
  following: 89,
  statuses: 4321,
  joined: '2019-05-01T08:00:00.000Z',
});
const arabic = toAccount({
  ...long,
  id: '2',
  screen_name: 'noor.example',
  name: 'نور الهدى عبد الرحمن بن عبد العزيز آل سعيد المصري',
  description: 'أكتب عن الكتب القديمة والخرائط، وعن المدن التي لم أزرها بعد.',
  platform: 'sample',
});

const next = nextPage('/api/v1/profiles/x', {});
const made: readonly (readonly [string, ListResult])[] = [
  ['a profile with a long handle', profileResult([status(1, long, 'One')], { next }, long)],
  ['a profile with a right-to-left name', profileResult([status(1, arabic, 'One')], {}, arabic)],
  [
    'a hundred followers',
    connectionsResult('followers', Array.from({ length: 50 }, () => [long, arabic]).flat(), {
      next,
    }),
  ],
];

const rig = useRig({ PERCH_MEDIA: 'off' });

async function openMade(page: Page, result: ListResult): Promise<void> {
  const pageAssets = readPageAssets({ error: () => {} } as never);
  if (pageAssets === undefined) throw new Error('The assets are missing.');
  const toPictureUrl = (url: string) => `${rig.url}/media/made${new URL(url).pathname}`;
  const context = { baseUrl: rig.url, pageAssets, toPictureUrl };
  const body = renderHtmlPage(result, context);
  await page.route('**/media/made/**', async (route) => {
    await onceLoaded(page);
    await route.fulfill({ body: png, contentType: 'image/png' });
  });
  await page.route('**/made', (route) =>
    route.fulfill({ body, contentType: 'text/html', headers: toPageHeaders(result, context) }),
  );
  await page.addInitScript(watchShifts);
  await page.goto('/made', { waitUntil: 'load' });
}

const onceLoaded = (page: Page) => page.waitForSelector('.site-footer', { state: 'attached' });

const watchShifts = `window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value)))
  .observe({ type: 'layout-shift', buffered: true });`;

/**
 * Scrolls through a page, so that all its pictures load, and returns the layout shifts, except tiny ones of a header that
 * is drawn before the rest of the page has arrived.
 */
async function scrollThrough(page: Page): Promise<unknown> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let top = 0; top < document.body.scrollHeight; top += 400) {
      scrollTo(0, top);
      await frame();
      await frame();
    }
    await Promise.all([...document.images].map((image) => image.decode()));
    await frame();
  })()`);
  return page.evaluate('window.shifts.filter((value) => value >= 0.01)');
}

/** Returns the pictures whose box has another shape than the styles give it. */
const findStretched = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.images].filter((image) => {
    const { width, height } = image.getBoundingClientRect();
    const ratio = image.className === 'banner' ? 3 : 1;
    return Math.abs(width / height - ratio) > 0.02 || getComputedStyle(image).objectFit !== 'cover';
  }).map(({ className }) => className)`);

describe.skipIf(browserPath === undefined)('accounts in the browser PERCH_BROWSER', () => {
  for (const [window, options] of visits) {
    it.each(made)(`shows %s in ${window}, without shifts and barriers`, async (_, result) => {
      const page = await rig.open(options);

      await openMade(page, result);

      expect(await scrollThrough(page)).toEqual([]);
      expect(await findStretched(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
    });

    it.each(['/ada.example?format=html', '/ada.example/followers?format=html', thread])(
      `shows %s in ${window}, without shifts and barriers`,
      async (path) => {
        const page = await rig.open(options);
        await page.addInitScript(watchShifts);

        await page.goto(path);

        expect(await scrollThrough(page)).toEqual([]);
        expect(await overflowOf(page)).toBe(0);
        expect(await findBarriers(page)).toEqual([]);
      },
    );
  }

  it('puts the picture of an account over its banner', async () => {
    const page = await rig.open(desktop);
    await openMade(page, profileResult([], {}, long));

    const [banner, avatar] = await Promise.all(
      ['.banner', '.profile-head .avatar'].map((name) => page.locator(name).boundingBox()),
    );

    expect(avatar?.y).toBeLessThan((banner?.y ?? 0) + (banner?.height ?? 0));
    expect(avatar?.y).toBeGreaterThan(banner?.y ?? Number.POSITIVE_INFINITY);
  });

  it('moves through the lists of an account', async () => {
    const page = await rig.open(phone);
    await page.goto('/ada.example?format=html&limit=2');
    const current = page.locator('.tabs [aria-current]');

    await page.getByRole('link', { name: 'Replies' }).click();
    await page.waitForURL(/with_replies=true/);
    expect(await current.textContent()).toBe('Replies');
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('Page 2').waitFor();
    await page.getByRole('link', { name: 'Previous page' }).click();
    await page.waitForURL(/limit=2&with_replies=true|with_replies=true&limit=2/);
    await page.getByRole('link', { name: 'followers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Followers of' }).waitFor();

    expect(await current.textContent()).toBe('Followers');
  });

  it('searches within an account', async () => {
    const page = await rig.open(desktop);
    await page.goto('/ada.example?format=html');

    await page.getByRole('link', { name: 'Search within' }).click();
    const box = page.getByRole('searchbox', { name: 'Words to search for' });
    expect(await box.inputValue()).toBe('from:ada.example');
    await box.fill('from:ada.example sluice');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('heading', { level: 1, name: 'from:ada.example sluice' }).waitFor();

    expect(await page.locator('.tabs [aria-current]').textContent()).toBe('Search within');
    expect(await page.locator('article.post').count()).toBeGreaterThan(0);
  });

  it('reads another link from the header', async () => {
    const page = await rig.open(phone);
    await page.goto(thread);

    await page.getByRole('textbox', { name: /^Link to a post/ }).fill('@otto.example');
    await page.getByRole('button', { name: 'Read' }).click();
    await page.waitForURL(/\?q=%40otto\.example#result$/);

    await page.locator('.rendered .profile-head').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  });
});

describe.skipIf(browserPath === undefined)('the keys of a thread in PERCH_BROWSER', () => {
  const focused = (page: Page) =>
    page.evaluate<number>(
      `[...document.querySelectorAll('article.post')].indexOf(document.activeElement)`,
    );

  it('move the focus between its posts', async () => {
    const page = await rig.open(desktop);
    await page.goto(thread);

    const places: number[] = [];
    for (const key of ['k', 'j', 'j', 'j', 'k']) {
      await page.keyboard.press(key);
      places.push(await focused(page));
    }

    expect(places).toEqual([-1, 0, 1, 2, 1]);
    expect(await page.locator('.keys').isVisible()).toBe(true);
    const { y = -1 } = (await page.locator('article.post').nth(1).boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(await findBarriers(page)).toEqual([]);
  });

  it('start at the post in view, and do nothing in a box', async () => {
    const page = await rig.open(desktop);
    await page.goto(thread);
    await page.evaluate(`document.querySelectorAll('article.post')[2].scrollIntoView()`);

    await page.keyboard.press('j');
    expect(await focused(page)).toBe(3);
    await page.locator('.paste input').focus();
    await page.keyboard.type('jk');

    expect(await page.locator('.paste input').inputValue()).toBe('jk');
  });

  it('are not announced without JavaScript', async () => {
    const page = await rig.open({ ...desktop, javaScriptEnabled: false });

    await page.goto(thread);

    expect(await page.locator('.keys').isVisible()).toBe(false);
    expect(await page.locator('article.post').count()).toBeGreaterThan(2);
  });
});
