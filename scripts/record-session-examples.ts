import type { LightMyRequestResponse } from 'fastify';
import type { Answer, AnswerEngine } from '../src/answers/answer.ts';
import { loadConfig } from '../src/config/config.ts';
import type { RecordedExamples } from '../src/http/openapi/examples.ts';
import { type Ask, found, openSample } from './sample-server.ts';

/** What was recorded of the session service. */
export type SessionExamples = Pick<RecordedExamples, 'endpoints' | 'problems'>;

const json = { 'content-type': 'application/json', authorization: 'Bearer any-token' };

const answer: Answer = {
  text: 'A cursor is valid for seven days.\n\nSource: `docs/paging.md#cursors:12`',
  citations: [{ path: 'docs/paging.md', heading: 'Cursors', line: 12, endLine: 12, score: 0.91 }],
  abstained: false,
  finishReason: 'stop',
};

/** Says the same whatever the documentation says, so that examples change with the interface alone. */
export const steadyEngine: AnswerEngine = {
  modelId: 'perch/extractive',
  isReady: true,
  answer: async () => answer,
};

/** Never answers, so that messages wait. */
const silent: AnswerEngine = {
  ...steadyEngine,
  answer: (_question, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
};

/** Has conversations with servers that keep nothing, and gives what they answered. */
export async function recordSessions(): Promise<SessionExamples> {
  const talking = await openSample({ engine: steadyEngine });
  const busy = await openSample({ engine: silent, env: { PERCH_SESSION_QUEUE: '0' } });
  try {
    return {
      endpoints: await recordReplies(talking.ask),
      problems: { ...(await recordProblems(talking.ask)), ...(await recordFull(busy.ask)) },
    };
  } finally {
    await talking.app.server.close();
    await busy.app.server.close();
  }
}

/** Where the service is where nothing is configured. */
function toBase(): string {
  const loaded = loadConfig({});
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  return `/${loaded.config.PERCH_SESSION_PREFIX}/v1`;
}

function say(message: string, headers: Readonly<Record<string, string>> = {}) {
  const payload = JSON.stringify({ message });
  return { method: 'POST', payload, headers: { ...json, ...headers } } as const;
}

interface Started {
  readonly url: string;
  readonly token: Readonly<Record<string, string>>;
  readonly reply: LightMyRequestResponse;
}

async function start(ask: Ask): Promise<Started> {
  const base = toBase();
  const reply = await found(ask(`${base}/session`, say('How long is a cursor valid?')));
  const { sessionId, continuationToken } = reply.json();
  return {
    reply,
    url: `${base}/session/${sessionId}`,
    token: { 'x-continuation-token': continuationToken },
  };
}

async function recordReplies(ask: Ask): Promise<SessionExamples['endpoints']> {
  const { reply, url, token } = await start(ask);
  const stream = await found(ask(`${url}/stream`));
  const lines = stream.body.split('\n').filter((line) => line.includes('"message.completed"'));
  const tell = async (replied: LightMyRequestResponse | Promise<LightMyRequestResponse>) => {
    const told = await found(Promise.resolve(replied));
    return { [told.statusCode]: { 'application/json': told.json() } };
  };
  return {
    getSessionHealth: await tell(ask(`${toBase()}/health`)),
    startSession: await tell(reply),
    streamSession: { 200: { 'application/x-ndjson': JSON.parse(lines.at(-1) ?? '') } },
    continueSession: await tell(ask(url, say('And for lists?', token))),
    cancelTurn: await tell(ask(`${url}/cancel`, { method: 'POST' })),
    resetSession: await tell(ask(`${url}/reset`, { method: 'POST', headers: token })),
  };
}

/** One after the other: each begins sessions, whose ids are told. */
async function recordProblems(ask: Ask): Promise<SessionExamples['problems']> {
  const base = toBase();
  const send = (body: object) =>
    ask(`${base}/session`, { method: 'POST', payload: JSON.stringify(body), headers: json });
  const { url } = await start(ask);
  const ended = await start(ask);
  await found(ask(`${ended.url}/reset`, { method: 'POST', headers: ended.token }));
  return toProblems([
    await send({}),
    await send({ message: [{ type: 'image' }] }),
    await send({ message: 'How long is a cursor valid?', outputSchema: {} }),
    await ask(`${base}/session/ses_unknown/stream`),
    await ask(url, say('And for lists?')),
    await ask(url, say('And for lists?', { 'x-continuation-token': 'another' })),
    await ask(`${url}/stream?startIndex=first`),
    await ask(ended.url, say('And for lists?', ended.token)),
  ]);
}

/** A message that comes while another is at work, where none may wait. */
async function recordFull(ask: Ask): Promise<SessionExamples['problems']> {
  const { url, token } = await start(ask);
  return toProblems([await ask(url, say('And for lists?', token))]);
}

function toProblems(replies: readonly LightMyRequestResponse[]): SessionExamples['problems'] {
  const documents = replies.map((reply) => reply.json());
  return Object.fromEntries(documents.map((one) => [one.code, one] as const));
}
