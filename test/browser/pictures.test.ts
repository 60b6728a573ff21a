import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserPath, findBarriers, overflowOf, phone, useRig } from '../support/browser.ts';

const desktop = { viewport: { width: 1280, height: 900 } } as const;

const pages = [
  ['a thread', '/ada.example/status/1900000000000000001?format=html'],
  ['four pictures', '/haru.example/status/1748017276437923936?format=html'],
  ['a video', '/faro.example/status/1725137696247496619?format=html'],
  ['an article', '/unfinished-maps.example/status/1819194804064331917?format=html'],
  ['a link card', '/ada.example/status/1900005440013306306?format=html'],
  ['a profile', '/ada.example?format=html'],
  ['followers', '/ada.example/followers?format=html'],
  ['a search', '/search?q=heron&platform=sample&format=html'],
  ['the front page', '/'],
  ['a result on the front page', '/?q=%40haru.example'],
] as const;

/** Loads all pictures of a page, which load only near the window, and returns their number. */
const loadPictures = (page: Page) =>
  page.evaluate<number>(`(async () => {
    const pictures = [...document.images];
    for (const picture of pictures) {
      picture.loading = 'eager';
      await picture.decode();
    }
    return pictures.length;
  })()`);

/** Returns the pictures whose shape on the page differs from their own. */
const findStretched = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.images]
    .filter((picture) => {
      const { width, height } = picture.getBoundingClientRect();
      if (width === 0 || getComputedStyle(picture).objectFit === 'cover') return false;
      const [own, drawn] = [picture.naturalWidth / picture.naturalHeight, width / height];
      return Math.abs(own - drawn) > 0.02 * own;
    })
    .map(({ outerHTML }) => outerHTML)`);

const findTooWide = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.images]
    .filter((picture) => picture.getBoundingClientRect().width > picture.closest('li, p, div, header').getBoundingClientRect().width + 1)
    .map(({ outerHTML }) => outerHTML)`);

/**
 * Cumulative layout shift above which a page fails. The browser can draw the header of a page before the rest has
 * arrived, which moves a button or two; a picture that changes its size moves much more.
 */
const maxShift = 0.01;

const shiftOf = (page: Page) =>
  page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) sum += value;
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  })`);

describe.skipIf(browserPath === undefined)('pictures in the browser PERCH_BROWSER', () => {
  const rig = useRig();

  it('shows a thread with a picture after one click on the front page', async () => {
    const page = await rig.open(desktop);
    await page.goto('/');

    await page.getByRole('link', { name: 'a thread', exact: true }).click();
    await page.locator('#result:not([aria-busy]) article').first().waitFor();

    const picture = page.locator('#result .figure img').first();
    await picture.scrollIntoViewIfNeeded();
    await expect
      .poll(() => picture.evaluate((one) => (one as { naturalWidth?: number }).naturalWidth))
      .toBeGreaterThan(100);
    expect(await page.locator('#result article').count()).toBeGreaterThan(2);
  });

  it.each(pages)('have their own shape, and do not move the page: %s', async (_, path) => {
    for (const options of [desktop, { ...phone, colorScheme: 'dark' as const }]) {
      const page = await rig.open(options);
      await page.goto(path);

      expect(await loadPictures(page)).toBeGreaterThan(0);

      expect(await findStretched(page)).toEqual([]);
      expect(await findTooWide(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(await shiftOf(page)).toBeLessThan(maxShift);
      expect(await findBarriers(page)).toEqual([]);
    }
  });

  it('form a grid that opens the originals, with descriptions on request', async () => {
    const page = await rig.open(desktop);
    await page.goto('/haru.example/status/1748017276437923936?format=html');
    const items = page.locator('.media.grid > li');
    const boxes = await items.evaluateAll((all) =>
      all.map((one) => {
        const { x, y } = (
          one as unknown as { getBoundingClientRect(): { x: number; y: number } }
        ).getBoundingClientRect();
        return [Math.round(x), Math.round(y)];
      }),
    );

    expect(new Set(boxes.map(([x]) => x)).size).toBe(2);
    expect(new Set(boxes.map(([, y]) => y)).size).toBe(2);
    const description = items.first().locator('.caption p');
    expect(await description.isVisible()).toBe(false);
    await items.first().getByText('Description').click();
    expect(await description.isVisible()).toBe(true);
    const href = await items.first().locator('a').getAttribute('href');
    expect((await fetch(String(href))).headers.get('content-type')).toMatch(/^image\//);
  });

  it('mark the still picture of a video', async () => {
    const page = await rig.open(desktop);
    await page.goto('/faro.example/status/1725137696247496619?format=html');

    expect(await page.locator('.figure .play').textContent()).toMatch(/^▶︎ \d+:\d\d$/);
  });

  it('are links in a sensitive post', async () => {
    const page = await rig.open(desktop);
    await page.goto('/ploy.example/status/1783239913161471763?format=html');

    expect(await page.locator('.media img').count()).toBe(0);
    expect(await page.locator('.media .picture').isVisible()).toBe(true);
  });

  it('keep their shape in the column of a feed reader', async () => {
    const page = await rig.open(desktop);
    const feed = await fetch(`${rig.url}/haru.example?format=jsonfeed`);
    const { items } = (await feed.json()) as { items: readonly { content_html: string }[] };
    const shown = items.map(({ content_html: html }) => html).join('');
    await page.goto('/health/live');

    await page.setContent(`<div style="width: 360px">${shown}</div>`);

    expect(await loadPictures(page)).toBeGreaterThan(4);
    expect(await findStretched(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
  });
});
