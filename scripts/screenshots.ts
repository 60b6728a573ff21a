import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { openSample } from './sample-server.ts';

/**
 * Arguments of this script, which takes screenshots of Perch's web pages with the browser at the path `PERCH_BROWSER`
 * (default: `/usr/bin/chromium`). Without arguments, the script writes the picture of the README. `--all FOLDER` writes
 * screenshots of ten pages, wide and narrow, light and dark.
 */
const { values } = parseArgs({ options: { all: { type: 'string' } } });

/** Base URL on the pages. The script listens on another port, so that it also works while a server runs. */
const baseUrl = 'http://localhost:8080';
const thread = `${baseUrl}/ada.example/status/1900000000000000001`;

/** Paths of the pages by the names of their screenshots. */
const pages = {
  front: '/',
  result: `/?q=${encodeURIComponent(thread)}`,
  refused: '/?q=https://x.com/home',
  docs: '/docs',
  start: '/docs/start',
  configuration: '/docs/configuration',
  errors: '/docs/errors',
  keys: '/docs/keys',
  found: '/docs/find?q=port',
  ask: '/docs/ask?q=how%20do%20I%20change%20the%20port',
} as const;

const wide = { width: 1280, height: 800 };
const narrow = { width: 390, height: 844 };

const { app } = await openSample({ env: { PERCH_BASE_URL: baseUrl, PERCH_SESSIONS: 'on' } });
const address = await app.server.listen({ port: 0, host: '127.0.0.1' });
const browser = await chromium.launch({
  executablePath: process.env.PERCH_BROWSER ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  if (values.all === undefined) await takeReadmePicture(browser);
  else await takeAll(browser, values.all);
} finally {
  await browser.close();
  await app.server.close();
}

async function takeReadmePicture(of: Browser): Promise<void> {
  mkdirSync('docs/images', { recursive: true });
  const page = await of.newPage({ baseURL: address, viewport: { width: 1120, height: 760 } });
  await page.goto(pages.result);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: 'docs/images/front-page.png' });
}

async function takeAll(of: Browser, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [size, viewport] of Object.entries({ wide, narrow })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await of.newContext({ baseURL: address, viewport, colorScheme });
      const page = await context.newPage();
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await page.waitForLoadState('networkidle');
        await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) });
      }
      await context.close();
    }
  }
}
