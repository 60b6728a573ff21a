import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const headers = { 'content-type': 'application/json', authorization: 'Bearer any' };

/** Starts a session with the first message and sends the others one by one. Returns the events of the answers. */
async function ask(url: string, first: string, ...others: string[]) {
  const body = JSON.stringify({ message: first });
  const started = await fetch(`${url}/svc/v1/session`, { method: 'POST', headers, body });
  expect(started.status).toBe(202);
  const { sessionId, continuationToken } = JSON.parse(await started.text());
  const session = `${url}/svc/v1/session/${sessionId}`;
  const answers = [await lastAnswer(session)];
  for (const message of others) {
    const sent = await fetch(session, {
      method: 'POST',
      headers: { ...headers, 'x-continuation-token': continuationToken },
      body: JSON.stringify({ message }),
    });
    expect(sent.status).toBe(202);
    answers.push(await lastAnswer(session));
  }
  return answers;
}

/** Reads the stream of a session until the session waits. Returns the last answer. */
async function lastAnswer(session: string) {
  const stream = await fetch(`${session}/stream`);
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

clause('session.what.answers_messages')(
  'are answered from the configured corpora, with citations, or declined',
  async () => {
    const corpus = temporaryFolder();
    writeFileSync(
      join(corpus, 'gates.md'),
      '# Gates\n\n## Opening hours\n\nThe sluice gates open at six in the morning.\n\n## Paint\n\nThe gates are painted green.\n',
    );
    const { url } = await listen({ PERCH_SESSIONS: 'on', PERCH_CORPUS: corpus });
    await untilReady(url);

    const [answer] = await ask(url, 'When do the sluice gates open?');
    const [declined] = await ask(url, 'How do I configure the Kubernetes ingress?');

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

it(
  'answers 200 sessions that one address starts at once',
  async () => {
    const corpus = temporaryFolder();
    writeFileSync(join(corpus, 'gates.md'), '# Gates\n\nThe sluice gates open at six.\n');
    const { url } = await listen({ PERCH_SESSIONS: 'on', PERCH_CORPUS: corpus });
    await untilReady(url);

    const asked = Array.from({ length: 200 }, () => ask(url, 'When do the sluice gates open?'));
    const answers = (await Promise.all(asked)).flat();

    expect(answers.filter(({ message }) => message.includes('open at six'))).toHaveLength(200);
  },
  timeoutMs,
);

it(
  'answers follow-ups about the topic of the question before',
  async () => {
    const { url } = await listen({ PERCH_SESSIONS: 'on' });
    await untilReady(url);

    for (const [question, followUp, fact] of followUps) {
      const [first, second] = await ask(url, question, followUp);

      expect(second.message, followUp).not.toBe(first.message);
      expect(second.message.slice(0, 500), `${question} ${followUp}`).toContain(fact);
    }
  },
  timeoutMs,
);

/** First question, follow-up, and a string at the beginning of a good answer to the follow-up. */
const followUps = [
  ['how do I change the port?', 'and which variable is that?', '`PORT`'],
  ['how do I install Perch?', 'and on windows?', 'Windows'],
  ['how do I turn on the admin API?', 'how do I turn that off again?', 'PERCH_ADMIN_TOKEN'],
  ['how do I turn off the cache?', 'and only for one request?', 'nocache=true'],
  ['how do I use Perch with Cursor?', 'and in VS Code?', '.vscode/mcp.json'],
  ['how do I create a key?', 'and how do I revoke it?', 'keys delete'],
  ['how do I import my twitter archive?', 'what about mastodon', 'outbox.json'],
] as const;
