import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  browserPath,
  clipboardOf,
  findBarriers,
  overflowOf,
  phone,
  useRig,
} from '../support/browser.ts';

describe.skipIf(browserPath === undefined)('the front page in the browser PERCH_BROWSER', () => {
  const rig = useRig();
  const threadUrl = () => `${rig.url}/ada.example/status/1900000000000000001`;
  const asQuestion = (text: string) => `/?q=${encodeURIComponent(text)}`;
  const settled = (page: Page) => page.locator('#result:not([aria-busy])').waitFor();

  const read = async (page: Page, text: string) => {
    await page.goto('/');
    await page.getByRole('textbox', { name: /Link to a post/ }).fill(text);
    await page.getByRole('button', { name: 'Read' }).click();
    await page.locator('#result-title').waitFor();
    await settled(page);
  };

  it('reads a pasted URL without reloading the page', async () => {
    const page = await rig.open();
    await page.goto('/');
    await page.evaluate('window.mark = true');

    await page.getByRole('textbox', { name: /Link to a post/ }).fill(threadUrl());
    await page.getByRole('button', { name: 'Read' }).click();
    await page.getByRole('heading', { name: 'Thread by Ada Fenwick' }).waitFor();
    await settled(page);

    expect(await page.evaluate('window.mark')).toBe(true);
    expect(await page.title()).toBe(
      'Thread by Ada Fenwick (@ada.example): The heron at gate 3 arrives six minutes before I open it.… · Perch',
    );
    expect(new URL(page.url()).searchParams.get('q')).toBe(threadUrl());
    expect(await page.locator('#status').textContent()).toContain('Shown: Thread by Ada Fenwick');
    expect(await page.evaluate('document.activeElement.id')).toBe('result-title');
    const heron = page
      .locator('#result')
      .getByRole('img', { name: /^A grey heron on the top beam/ });
    const width = await heron.evaluate(async (one) => {
      const image = one as unknown as { decode(): Promise<void>; naturalWidth: number };
      await image.decode();
      return image.naturalWidth;
    });
    expect(width).toBe(960);
  });

  it('shows the Markdown source, and copies it and the terminal command', async () => {
    const page = await rig.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const body = await (await fetch(threadUrl())).text();
    await read(page, threadUrl());
    expect(await page.locator('#result-source').isVisible()).toBe(false);

    await page.locator('#result').getByText('Markdown', { exact: true }).first().click();
    await page.getByRole('button', { name: 'Copy the Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();

    expect(await page.locator('#result-source').isVisible()).toBe(true);
    expect(await page.locator('#result .rendered').isVisible()).toBe(false);
    expect(await page.locator('#result-source').textContent()).toBe(body);
    expect(await clipboardOf(page)).toBe(body);
    await page.getByRole('button', { name: 'Copy the command for Markdown' }).click();
    await page.locator('.terminal').getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboardOf(page)).toBe(`curl ${threadUrl()}`);
  });

  it('supports back and forward navigation between reads', async () => {
    const page = await rig.open();
    const rendered = page.locator('#result .rendered');

    await read(page, `${rig.url}/ada.example/followers?limit=2`);
    await rendered.getByText('Bruna Tavares').waitFor();
    await rendered.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/cursor/);
    await rendered.getByText('Bruna Tavares').waitFor({ state: 'detached' });
    await page.goBack();
    await rendered.getByText('Bruna Tavares').waitFor();
    await page.goBack();
    await page.locator('body:not(.has-result)').waitFor();

    expect(await page.locator('#q').inputValue()).toBe('');
    expect(await page.title()).toBe('Perch');
  });

  it.each([
    ['phone', { width: 360, height: 740 }],
    ['tablet', { width: 768, height: 1024 }],
    ['desktop', { width: 1280, height: 800 }],
    ['low window', { width: 1280, height: 420 }],
  ])(
    'shows the whole box below the header, and the result under it, on a %s',
    async (_, viewport) => {
      const withScript = await rig.open({ viewport });
      await read(withScript, `${rig.url}/ada.example/followers?limit=2`);
      await withScript.getByRole('link', { name: 'Next page' }).click();
      await withScript.waitForURL(/cursor/);
      await settled(withScript);
      const withoutScript = await rig.open({ viewport, javaScriptEnabled: false });
      await withoutScript.goto(`${asQuestion('@ada.example')}#result`);

      for (const page of [withScript, withoutScript]) {
        const [header, box, title] = await Promise.all(
          ['.site-header', '.ask-line', '#result-title'].map((one) =>
            page.locator(one).boundingBox(),
          ),
        );
        expect(box?.y).toBeGreaterThanOrEqual(header?.height ?? Number.NaN);
        expect(title?.y).toBeGreaterThan((box?.y ?? 0) + (box?.height ?? 0));
        expect((title?.y ?? 0) + (title?.height ?? 0)).toBeLessThan(viewport.height);
      }
    },
  );

  it.each([360, 768, 1280])('has text as wide as its card, %d pixels wide', async (width) => {
    const page = await rig.open({ viewport: { width, height: 800 } });
    await page.goto(asQuestion(threadUrl()));

    const [room, ...texts] = await page.evaluate<number[]>(`(() => {
      const card = document.querySelector('.rendered');
      const { paddingLeft, paddingRight } = getComputedStyle(card);
      const room = card.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      return [room, ...[...card.children].map((one) => one.getBoundingClientRect().width)];
    })()`);

    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => Math.abs(text - (room ?? 0)) > 1)).toEqual([]);
  });

  it('shows error messages for invalid inputs', async () => {
    const page = await rig.open();
    const problem = page.locator('.problem');

    await read(page, 'https://x.com/home');

    expect(await problem.textContent()).toMatch(
      /Not the URL of a post[\s\S]*is not the URL of a post[\s\S]*Use a link such as[\s\S]*invalid_path/,
    );
    expect(await page.locator('#status').textContent()).toBe('Shown: Not the URL of a post');
    await read(page, '@jack');
    expect(await problem.textContent()).toContain('Try again in 30 seconds.');
  });

  it('reports that the server does not respond, and works again afterwards', async () => {
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/');
    await page.route(/q=/, (route) => route.abort());
    await page.getByRole('link', { name: 'a profile' }).click();
    await page.getByRole('heading', { name: 'The server did not answer' }).waitFor();
    await page.unroute(/q=/);

    await page.getByRole('link', { name: 'a thread' }).click();

    await page.getByRole('heading', { name: 'Thread by Ada Fenwick' }).waitFor();
    expect(await page.locator('.problem').count()).toBe(0);
  });

  it('shows hostile text as text', async () => {
    const page = await rig.open();

    await read(page, '"><img src=https://evil.test/x onerror=alert(1)><script>alert(1)</script>');

    expect(await page.locator('#q').inputValue()).toContain('<script>alert(1)</script>');
    expect(await page.locator('#result img, main script').count()).toBe(0);
  });

  it('works without JavaScript', async () => {
    const page = await rig.open({ javaScriptEnabled: false });
    await page.goto('/');

    await page.locator('#q').fill(threadUrl());
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=.*#result/);

    const heading = page.getByRole('heading', { name: 'Thread by Ada Fenwick' });
    expect(await heading.isVisible()).toBe(true);
    expect(await page.locator('#result-curl').textContent()).toBe(`curl ${threadUrl()}`);
    await page.locator('#result').getByText('Markdown', { exact: true }).first().click();
    expect(await page.locator('#result-source').isVisible()).toBe(true);
    expect(await page.locator('#result .rendered').isVisible()).toBe(false);
    expect(await page.locator('[data-copies]:visible').count()).toBe(0);
    await page.locator('#q').fill('https://x.com/home');
    await page.keyboard.press('Enter');
    await page.locator('.problem').waitFor();
  });

  it('can be used with the keyboard only', async () => {
    const page = await rig.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto('/');
    const focused = () =>
      page.evaluate<string>(
        'document.activeElement.id || document.activeElement.textContent.trim()',
      );
    const tab = async () => {
      await page.keyboard.press('Tab');
      return focused();
    };

    expect(await tab()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await tab()).toBe('q');
    await page.keyboard.type('@ada.example');
    await page.keyboard.press('Enter');
    await page.locator('#result:not([aria-busy]) .rendered').waitFor();
    expect(await focused()).toBe('result-title');
    expect(await tab()).toBe('result-view-rendered');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#result-source').isVisible()).toBe(true);
    expect(await tab()).toBe('Copy the Markdown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await clipboardOf(page)).toContain('# Ada Fenwick (@ada.example)');
  });

  it('changes the theme and remembers it', async () => {
    const page = await rig.open({ colorScheme: 'light' });
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    await page.goto('/');
    const light = await background();

    await page.getByRole('button', { name: 'Dark theme' }).click();
    const dark = await background();
    await page.reload();

    expect(dark).not.toBe(light);
    expect(await background()).toBe(dark);
    await page.getByRole('button', { name: 'Dark theme', pressed: true }).click();
    expect(await background()).toBe(light);
  });

  it.each([
    ['empty', () => '/'],
    ['with a thread', () => asQuestion(threadUrl())],
    ['with a profile', () => asQuestion('@ada.example')],
    ['with followers', () => asQuestion(`${rig.url}/ada.example/followers`)],
    ['with a search', () => asQuestion(`${rig.url}/search?platform=archive&q=heron`)],
    ['with a problem', () => asQuestion('https://x.com/home')],
    ['with a wait', () => asQuestion('@jack')],
  ])('has no barriers %s, light and dark, and fits a phone', async (_, path) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await rig.open({ colorScheme });
      await page.goto(path());
      expect(await findBarriers(page)).toEqual([]);
      const source = page.locator('#result').getByText('Markdown', { exact: true }).first();
      if ((await source.count()) === 0) continue;
      await source.click();
      expect(await findBarriers(page)).toEqual([]);
    }
    const small = await rig.open(phone);
    await small.goto(path());
    expect(await overflowOf(small)).toBe(0);
    expect(await findBarriers(small)).toEqual([]);
  });
});
