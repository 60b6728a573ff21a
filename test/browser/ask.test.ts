import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { exampleQuestions } from '../../src/routes/pages/ask/ask-plugin.ts';
import { browserPath, findBarriers, overflowOf, phone, useRig } from '../support/browser.ts';
import { buildTestApp } from '../support/build-app.ts';
import { parseHtml } from '../support/render-html.ts';
import { answerTo, createManualEngine } from '../support/scripted-engine.ts';

const question = 'What does the code rate_limited mean?';
const further = 'and how long do I wait then?';

describe.skipIf(browserPath === undefined)('/docs/ask in the browser PERCH_BROWSER', () => {
  const rig = useRig({ PERCH_SESSIONS: 'on', PERCH_SESSION_REQUIRE_BEARER: 'on' });

  /** Waits for the index, which the server builds after it starts. */
  async function untilReady(): Promise<void> {
    while (!(await fetch(`${rig.url}/svc/v1/health`)).ok);
  }

  it('shows the answer as it arrives, with links to the cited sections', async () => {
    await untilReady();
    const page = await rig.open();
    await page.goto('/docs');
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Ask' }).click();
    await page.waitForURL('**/docs/ask'); // until its script has run; without it, Enter sends the form

    await page.getByLabel('Your question').fill(question);
    await page.keyboard.press('Enter');
    const turn = page.locator('.turn');
    await turn.locator('[aria-busy="false"]').waitFor();

    expect(await turn.getByRole('heading', { level: 2 }).textContent()).toBe(question);
    expect(new URL(page.url()).search).toBe(
      `?q=${encodeURIComponent(question).replaceAll('%20', '+')}`,
    );
    const source = turn.locator('a[href^="/docs/"][href*="#"]').last();
    const target = new URL((await source.getAttribute('href')) ?? '', rig.url);
    await source.click();
    await page.waitForURL(target.href);
    expect(await page.locator(`[id="${decodeURIComponent(target.hash.slice(1))}"]`).count()).toBe(
      1,
    );
  });

  it('continues the session with further questions, and starts a new one', async () => {
    await untilReady();
    const page = await rig.open();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') asked.push(new URL(request.url()).pathname);
    });
    await page.goto('/docs/ask');

    for (const text of [question, further]) {
      await page.locator('#q').fill(text);
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.getByRole('button', { name: 'Ask' }).waitFor();
    }
    expect(await page.locator('.turn h2').allTextContents()).toEqual([question, further]);
    expect(asked).toEqual([
      '/svc/v1/session',
      expect.stringMatching(/^\/svc\/v1\/session\/ses_\w+$/),
    ]);
    await page.getByRole('button', { name: 'Start over' }).click();

    expect(await page.locator('.turn').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('');
  });

  it('continues after an answer rendered by the server', async () => {
    await untilReady();
    const page = await rig.open();
    await page.goto(`/docs/ask?q=${encodeURIComponent(question)}`);
    const first = await page.locator('.turn').textContent();

    await page.getByLabel('Follow-up question').fill(further);
    await page.keyboard.press('Enter');
    await page.locator('.turn [aria-busy="false"]').waitFor();

    expect(await page.locator('.turn').first().textContent()).toBe(first);
    expect(await page.locator('.turn h2').allTextContents()).toEqual([question, further]);
    expect(await page.locator('.turn').last().textContent()).toContain('rate_limited');
  });

  it('answers without JavaScript', async () => {
    await untilReady();
    const page = await rig.open({ javaScriptEnabled: false });
    await page.goto('/docs/ask');

    await page.getByLabel('Your question').fill(question);
    await page.keyboard.press('Enter');

    await page.locator('.turn h2', { hasText: question }).waitFor();
    expect(await page.locator('.answer').textContent()).toContain('rate_limited');
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false);
  });

  it('renders the same answer as the server for all examples', async () => {
    await untilReady();
    for (const text of [...exampleQuestions, 'price of crude oil in 1973', question]) {
      const [plain, scripted] = [await rig.open({ javaScriptEnabled: false }), await rig.open()];
      await plain.goto(`/docs/ask?q=${encodeURIComponent(text)}`);
      await scripted.goto('/docs/ask');
      await scripted.locator('#q').fill(text);
      await scripted.keyboard.press('Enter');
      await scripted.locator('.turn [aria-busy="false"]').waitFor();

      // The browser adds a button to each code block.
      await scripted.evaluate('for (const one of document.querySelectorAll(".copy")) one.remove()');
      const shown = await Promise.all(
        [plain, scripted].map(async (page) => ({
          text: (await page.locator('.answer').innerText()).split(/\s+/),
          links: await page
            .locator('.answer a')
            .evaluateAll((all) => all.map((link) => link.getAttribute('href'))),
          code: await page.locator('.answer code').allTextContents(),
        })),
      );
      expect(shown[1]).toEqual(shown[0]);
    }
  });

  it('has answers for all offered examples', async () => {
    await untilReady();
    for (const name of exampleQuestions) {
      const page = await rig.open();
      await page.goto('/docs/ask');
      await page.getByRole('link', { name }).click();
      await page.locator('.turn [aria-busy="false"]').waitFor();

      expect(await page.locator('.turn.abstained').count()).toBe(0);
      expect(await page.locator('.turn a[href^="/docs/"]').count()).toBeGreaterThan(0);
    }
  });

  it('shows a message if the connection is lost or the server refuses', async () => {
    await untilReady();
    const page = await rig.open({ faults: 'expected' });
    await page.goto('/docs/ask');
    await page.route('**/svc/v1/session', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/problem+json',
        body: '{"code":"rate_limited","detail":"Too many.","resolution":"Wait.","retry_after":60}',
      }),
    );

    await page.locator('#q').fill(question);
    await page.keyboard.press('Enter');
    await page.locator('.failed', { hasText: 'Too many. Wait.' }).waitFor();
    await page.unroute('**/svc/v1/session');
    let cuts = 0;
    await page.route('**/stream?*', (route) => {
      cuts += 1;
      return cuts === 1 ? route.abort() : route.continue();
    });
    await page.locator('#q').fill(question);
    await page.keyboard.press('Enter');
    await page.locator('.turn:last-child [aria-busy="false"]').waitFor();

    expect(cuts).toBeGreaterThan(1);
    expect(await page.locator('.turn').last().textContent()).toContain('rate_limited');
  });

  it('requires a question, and does not send a blank one', async () => {
    const page = await rig.open();
    await page.goto('/docs/ask');

    await page.locator('#q').fill('   ');
    await page.keyboard.press('Enter');

    expect(await page.evaluate('document.getElementById("q").validationMessage')).toBe(
      'Type a question first.',
    );
    expect(await page.locator('.turn').count()).toBe(0);
  });

  it.each(['/docs/ask', `/docs/ask?q=${encodeURIComponent(question)}`, '/docs/ask?q='])(
    'has no barriers at %s, light and dark, and fits a phone',
    async (path) => {
      await untilReady();
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await rig.open({ colorScheme });
        await page.goto(path);
        expect(await findBarriers(page)).toEqual([]);
      }
      const small = await rig.open(phone);
      await small.goto(path);
      expect(await overflowOf(small)).toBe(0);
      await small.locator('#q').fill(question);
      await small.keyboard.press('Enter');
      await small.locator('.turn [aria-busy="false"]').waitFor();
      expect(await overflowOf(small)).toBe(0);
      expect(await findBarriers(small)).toEqual([]);
    },
  );
});

describe.skipIf(browserPath === undefined)('an answer controlled by the test', () => {
  const rig = useRig();

  /** Starts a server in this process whose answers the test controls. */
  async function openHeld() {
    const engine = createManualEngine();
    const env = { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false' };
    const app = await buildTestApp({ engine, env, clock: systemClock });
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    // The rig would report requests to another server as faults.
    const page = await rig.open({ faults: 'expected' });
    await page.goto(`${url}/docs/ask`);
    const ask = async (text: string) => {
      await page.locator('#q').fill(text);
      await page.keyboard.press('Enter');
      return engine.next();
    };
    return { page, ask, engine };
  }

  it('is shown as it streams, and can be stopped', async () => {
    const { page, ask } = await openHeld();
    const held = await ask('one');

    held.say(`The **first** piece, which is long enough to be sent by itself at once.\n\n`);
    await page.locator('.answer strong', { hasText: 'first' }).waitFor();
    expect(await page.locator('.answer').getAttribute('aria-busy')).toBe('true');
    expect(await page.locator('.answer').getAttribute('aria-live')).toBe('polite');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.answer .note', { hasText: 'Stopped.' }).waitFor();
    await page.getByRole('button', { name: 'Ask' }).waitFor();

    expect(held.signal.aborted).toBe(true);
    expect(await page.locator('.answer').textContent()).toContain('first piece');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
    const next = await ask('two');
    next.answer();
    await page.locator('.turn:last-child', { hasText: 'The answer to “two”.' }).waitFor();
  });

  it('is replaced by a different final answer, or by an error message', async () => {
    const { page, ask } = await openHeld();
    const held = await ask('one');

    held.say('A draft that is long enough to be sent by itself, and is taken back later on.');
    await page.locator('.answer', { hasText: 'draft' }).waitFor();
    held.answer();
    await page.locator('.answer', { hasText: 'The answer to “one”.' }).waitFor();
    expect(await page.locator('.answer').textContent()).not.toContain('draft');
    const failing = await ask('two');
    failing.fail(new Error('broken'));

    await page.locator('.failed', { hasText: 'error in the server' }).waitFor();
  });

  it('does not render HTML or unsafe links in its text', async () => {
    const { page, ask } = await openHeld();
    const held = await ask('one');
    const text = [
      '<img src=x onerror="document.title=1"> [bad](javascript:alert(1)) ![p](https://example.org/p.png)',
      '- **bold *and* more** `a ` b` _under_line_ snake_case_name 2 * 3 * 4 \\*plain\\*',
      '  1. nested <b>tag</b>',
      '> quoted [web](https://example.org/a_(b)) <https://example.org/auto>',
      '````js',
      '```',
      '</code><script>document.title=2</script>',
      '````',
      '# Heading `code`',
    ].join('\n\n');

    held.answer(answerTo('one', { text, citations: [] }));
    await page.locator('.turn [aria-busy="false"]').waitFor();

    const html = await page.locator('.answer').innerHTML();
    const { elements } = parseHtml(html);
    expect(elements.map(({ tag }) => tag).filter((tag) => /^(?:img|script|b)$/.test(tag))).toEqual(
      [],
    );
    expect(elements.flatMap(({ attributes }) => attributes.href ?? [])).toEqual([
      'https://example.org/a_(b)',
      'https://example.org/auto',
    ]);
    expect(elements.filter(({ tag }) => tag === 'em').map((one) => one.text)).toEqual(['and']);
    expect(elements.find(({ tag }) => tag === 'ol')?.text).toContain('nested <b>tag</b>');
    expect(elements.find(({ tag }) => tag === 'pre')?.text).toContain('</code><script>');
    expect(await page.locator('.answer').textContent()).toContain('2 * 3 * 4 *plain*');
  });
});
