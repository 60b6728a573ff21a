import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { clause } from '../support/clause.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** Starts a session and returns the events of its stream. */
async function ask(url: string, message: string): Promise<Record<string, unknown>> {
  const started = await fetch(`${url}/svc/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
    body: JSON.stringify({ message }),
  });
  expect(started.status).toBe(202);
  const stream = await fetch(`${url}${started.headers.get('location')}`);
  const events = (await stream.text()).split('\n').filter((line) => line.trim() !== '');
  const completed = events.map((line) => JSON.parse(line)).filter(isCompleted);
  return completed.at(-1).data;
}

const isCompleted = ({ type }: { readonly type: string }) => type === 'message.completed';

/** Threads take some seconds to load TypeScript on a busy machine. */
const timeoutMs = 60_000;

/** The index is built while the server already answers; the health route reports when it is ready. */
async function untilReady(url: string): Promise<void> {
  const ask = async () => {
    const health = await fetch(`${url}/svc/v1/health`);
    if (!health.ok) expect(await health.clone().json()).toMatchObject({ code: 'not_ready' });
    return health.status;
  };
  await expect.poll(ask, { interval: 100, timeout: timeoutMs }).toBe(200);
}

clause(
  'session.what.answers_messages',
  'are answered from the configured corpora, with citations, or declined',
  async () => {
    const corpus = temporaryFolder();
    writeFileSync(
      join(corpus, 'gates.md'),
      '# Gates\n\n## Opening hours\n\nThe sluice gates open at six in the morning.\n\n## Paint\n\nThe gates are painted green.\n',
    );
    const { url } = await listen({ PERCH_SESSIONS: 'on', PERCH_CORPUS: corpus });
    await untilReady(url);

    const answer = await ask(url, 'When do the sluice gates open?');
    const declined = await ask(url, 'How do I configure the Kubernetes ingress?');

    expect(answer).toMatchObject({
      message: expect.stringContaining('six in the morning'),
      citations: expect.arrayContaining([
        expect.objectContaining({ path: 'gates.md', heading: 'Opening hours', line: 5 }),
      ]),
      abstained: false,
    });
    expect(declined).toMatchObject({ abstained: true, citations: [] });
  },
  timeoutMs,
);
