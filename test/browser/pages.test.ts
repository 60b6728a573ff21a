import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserPath, findBarriers, overflowOf, phone, useRig } from '../support/browser.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const desktop = { viewport: { width: 1280, height: 800 } } as const;

const shown = [
  ['a thread', '/ada.example/status/1900000000000000001', 'Thread by Ada Fenwick'],
  ['a profile', '/ada.example?full=true', 'Ada Fenwick'],
  [
    'an article',
    '/unfinished-maps.example/status/1819194804064331917',
    'Post by Museum of Unfinished Maps',
  ],
  ['an Arabic post', '/noor.example/status/1743576963925335059', ''],
  ['a Japanese post with a poll and a quote', '/haru.example/status/1748196981393437869', ''],
  ['a community note', '/otto.example/status/1844275064262538589', ''],
  ['a deleted post', '/faro.example/status/1738742806268192954', ''],
  ['a quote of a deleted post', '/eleni.example/status/1801157606556155914', ''],
  ['followers', '/ada.example/followers', 'Followers of @ada.example'],
  ['a search', '/search?q=heron&platform=sample', 'Search: heron'],
] as const;

const findCutOff = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll('main *')]
    .filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      const isOutside = width > 0 && (left < -1 || right > innerWidth + 1);
      return isOutside || (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0);
    })
    .map((one) => one.outerHTML.slice(0, 120))`);

describe.skipIf(browserPath === undefined)('a page in the browser PERCH_BROWSER', () => {
  const rig = useRig({ PERCH_BROWSER_PAGES: 'true' });

  it.each(shown)('shows %s without barriers at both widths', async (_, path, title) => {
    for (const options of [phone, desktop, { ...desktop, colorScheme: 'dark' as const }]) {
      const page = await rig.open(options);

      const response = await page.goto(path);

      expect(response?.headers()['content-type']).toBe('text/html; charset=utf-8');
      expect(await page.locator('h1').textContent()).toContain(title);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(await findCutOff(page)).toEqual([]);
    }
  });

  it.each(shown)('prints %s without cut-offs', async (_, path) => {
    const page = await rig.open({ ...desktop, colorScheme: 'dark' });
    await page.goto(path);
    const ink = () => page.evaluate<string>('getComputedStyle(document.body).color');
    const dark = await ink();
    // 210 mm without margins of 10 mm, at 96 pixels for an inch
    await page.setViewportSize({ width: 718, height: 1046 });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });

    expect(await findCutOff(page)).toEqual([]);
    expect(await ink()).not.toBe(dark);
    const margin = '10mm';
    const margins = { top: margin, bottom: margin, left: margin, right: margin };
    const pdf = (await page.pdf({ format: 'A4', margin: margins })).toString('latin1');
    const height = await page.evaluate<number>('document.body.scrollHeight');
    const sheets = pdf.match(/\/Type \/Page\b/g)?.length ?? 0;
    expect(sheets).toBeGreaterThanOrEqual(Math.floor(height / 1046));
  });

  it('opens linked posts and the next page as pages', async () => {
    const page = await rig.open();
    await page.goto('/ada.example/followers?limit=2');

    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('Page 2').waitFor();
    await page.locator('main .accounts a').first().click();

    await page.getByRole('navigation', { name: 'Lists of this account' }).waitFor();
    expect(new URL(page.url()).searchParams.get('format')).toBe('html');
  });

  it('sets the direction of Arabic and English texts', async () => {
    const page = await rig.open();
    await page.goto('/noor.example/status/1743576963925335059?thread=off');

    const directions = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('article > p[lang]')].map((one) => one.matches(':dir(rtl)') ? 'rtl' : 'ltr')`,
    );

    expect(directions).toContain('rtl');
  });

  it('has all styles if it is opened from a file', async () => {
    const page = await rig.open();
    const other = await page.context().newPage();
    await page.goto('/ada.example');

    const path = join(temporaryFolder(), 'page.html');
    const response = await fetch(`${rig.url}/ada.example?format=html`);
    writeFileSync(path, await response.text());
    await other.goto(`file://${path}`);

    const look = 'getComputedStyle(document.querySelector("h1")).font';
    expect(await other.evaluate<string>(look)).toBe(await page.evaluate<string>(look));
  });

  it('describes an error as a page', async () => {
    const page = await rig.open({ faults: 'expected' });

    const response = await page.goto('/ada.example/status/1');

    expect(response?.status()).toBe(404);
    expect(await page.locator('.problem').textContent()).toContain('not_found');
  });
});
