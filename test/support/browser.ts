import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { noLoadLimit } from './build-app.ts';

/** Path of the Chromium binary. If it is not set, browser tests are skipped. */
export const browserPath = process.env.PERCH_BROWSER;

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/** Built server and a browser. Both run during all tests of a file. */
export interface Rig {
  /** Base URL of the server, without a trailing slash. */
  readonly url: string;
  /** Opens an empty page with a new profile. At the end of the test it is closed and checked for faults. */
  open(options?: VisitOptions): Promise<Page>;
}

/** Options of a visit. */
export interface VisitOptions extends BrowserContextOptions {
  /** Whether to check for faults at the end. Default: all faults. */
  readonly faults?: 'refused' | 'expected';
}

/** Opens the rig for a test file. The server stores nothing and has no network except as set by `env`. */
export function useRig(env: Readonly<Record<string, string>> = {}): Rig {
  const opened: { url: string; browser?: Browser; server?: ChildProcess; folder?: string } = {
    url: '',
  };
  beforeAll(async () => {
    const port = await findPort();
    opened.url = `http://localhost:${port}`;
    opened.folder = mkdtempSync(join(tmpdir(), 'perch-browser-'));
    opened.server = spawn(process.execPath, [main, 'serve'], {
      cwd: opened.folder,
      env: { ...quiet, PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await onceReady(opened.server);
    opened.browser = await chromium.launch({
      executablePath: browserPath ?? '',
      args: ['--no-sandbox'],
    });
  });
  afterAll(async () => {
    await opened.browser?.close();
    opened.server?.kill('SIGKILL');
    if (opened.folder !== undefined) rmSync(opened.folder, { recursive: true, force: true });
  });
  return {
    get url() {
      return opened.url;
    },
    open: async ({ faults = 'refused', ...options } = {}) => {
      if (opened.browser === undefined) throw new Error('The browser did not start.');
      const context = await opened.browser.newContext({ baseURL: opened.url, ...options });
      const page = await context.newPage();
      const found = watch(page, opened.url);
      onTestFinished(async () => {
        await context.close();
        if (faults === 'refused') expect(found).toEqual([]);
      });
      return page;
    },
  };
}

const quiet = {
  PATH: process.env.PATH ?? '',
  PERCH_DATA_DIR: ':memory:',
  PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
  PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
  PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
  PERCH_PUBLIC_ALLOWANCE: '100000',
  ...noLoadLimit,
};

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function onceReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on('exit', (code) => reject(new Error(`The built server ended with ${code}.`)));
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('"msg":"Perch is ready"')) resolve();
    });
  });
}

/** Records the faults of a visit: errors, policy violations, failed requests and requests to other hosts. */
function watch(page: Page, url: string): readonly string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      faults.push(`console: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    // A script has aborted the request itself, or the page was left before its pictures or its icon (`other`) had arrived.
    const isEnded = request.failure()?.errorText === 'net::ERR_ABORTED';
    if (isEnded && ['fetch', 'image', 'other'].includes(request.resourceType())) return;
    faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) faults.push(`elsewhere: ${request.url()}`);
  });
  return faults;
}

/** Returns the violations that axe finds in the current page with all rules. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  // The debugger evaluates the script, because the Content-Security-Policy of the page would block it.
  await page.evaluate(axeSource);
  const options: RunOptions = { preload: false, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  );
}

/** Visit options of a phone. */
export const phone = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
} as const satisfies VisitOptions;

/** Returns the number of pixels by which a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}

/** Reads the clipboard in a separate page, because pages of Perch have no permission. */
export async function clipboardOf(page: Page): Promise<string> {
  const other = await page.context().newPage();
  await other.goto('/health/live');
  await other.bringToFront();
  const text = await other.evaluate<string>('navigator.clipboard.readText()');
  await other.close();
  await page.bringToFront();
  return text;
}

/**
 * Returns the texts of table cells that are larger than their cell, and of tables that are larger than their
 * container although they cannot be scrolled with the keyboard.
 */
export function findClipped(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const isTooWide = (one) => one.scrollWidth > one.clientWidth + 1;
    const cells = [...document.querySelectorAll('tbody :is(th, td)')].filter(isTooWide);
    const tables = [...document.querySelectorAll('.table')].filter(
      (one) => isTooWide(one) && (one.tabIndex < 0 || getComputedStyle(one).overflowX !== 'auto'),
    );
    return [...cells, ...tables].map((one) => one.textContent.slice(0, 80));
  })()`);
}
