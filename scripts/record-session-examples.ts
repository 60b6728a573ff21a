import type { LightMyRequestResponse } from 'fastify';
import type { Answer, AnswerEngine } from '../src/answers/answer.ts';
import { loadConfig } from '../src/config/config.ts';
import type { RecordedExamples } from '../src/routes/openapi/examples.ts';
import { openSample, requireOk, type SendRequest } from './sample-server.ts';

/** Recorded response bodies of the session service, which are examples in the OpenAPI document. */
export type SessionExamples = Pick<RecordedExamples, 'endpoints' | 'problems'>;

const json = { 'content-type': 'application/json', authorization: 'Bearer any-token' };

const answer: Answer = {
  text: 'A cursor is valid for seven days.\n\nSource: `docs/paging.md#cursors:12`',
  citations: [{ path: 'docs/paging.md', heading: 'Cursors', line: 12, endLine: 12, score: 0.91 }],
  abstained: false,
  finishReason: 'stop',
};

/** Answer engine with a fixed answer, so that examples change only when the API changes. */
export const steadyEngine: AnswerEngine = {
  modelId: 'perch/extractive',
  isReady: true,
  answer: async () => answer,
};

/** Answer engine that never answers, so that the session stays busy. */
const silent: AnswerEngine = {
  ...steadyEngine,
  answer: (_question, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
};

/**
 * Starts servers without a data folder, runs sessions on them, and returns the response bodies as examples for the
 * OpenAPI document.
 */
export async function recordSessions(): Promise<SessionExamples> {
  const talking = await openSample({ engine: steadyEngine });
  const busy = await openSample({ engine: silent, env: { PERCH_SESSION_QUEUE: '0' } });
  try {
    return {
      endpoints: await recordReplies(talking.request),
      problems: { ...(await recordProblems(talking.request)), ...(await recordFull(busy.request)) },
    };
  } finally {
    await talking.app.server.close();
    await busy.app.server.close();
  }
}

/** Returns the base path of the session service in default settings. */
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

async function start(request: SendRequest): Promise<Started> {
  const base = toBase();
  const reply = await requireOk(request(`${base}/session`, say('How long is a cursor valid?')));
  const { sessionId, continuationToken } = reply.json();
  return {
    reply,
    url: `${base}/session/${sessionId}`,
    token: { 'x-continuation-token': continuationToken },
  };
}

async function recordReplies(request: SendRequest): Promise<SessionExamples['endpoints']> {
  const { reply, url, token } = await start(request);
  const stream = await requireOk(request(`${url}/stream`));
  const lines = stream.body.split('\n').filter((line) => line.includes('"message.completed"'));
  const toExample = async (pending: LightMyRequestResponse | Promise<LightMyRequestResponse>) => {
    const response = await requireOk(Promise.resolve(pending));
    return { [response.statusCode]: { 'application/json': response.json() } };
  };
  return {
    getSessionHealth: await toExample(request(`${toBase()}/health`)),
    startSession: await toExample(reply),
    streamSession: { 200: { 'application/x-ndjson': JSON.parse(lines.at(-1) ?? '') } },
    continueSession: await toExample(request(url, say('And for lists?', token))),
    cancelTurn: await toExample(request(`${url}/cancel`, { method: 'POST' })),
    resetSession: await toExample(request(`${url}/reset`, { method: 'POST', headers: token })),
  };
}

/** Records error responses one after another, so that the session ids are the same in every run. */
async function recordProblems(request: SendRequest): Promise<SessionExamples['problems']> {
  const base = toBase();
  const sendText = (payload: string, headers: Readonly<Record<string, string>> = json) =>
    request(`${base}/session`, { method: 'POST', payload, headers });
  const send = (body: object) => sendText(JSON.stringify(body));
  const { url } = await start(request);
  const ended = await start(request);
  await requireOk(request(`${ended.url}/reset`, { method: 'POST', headers: ended.token }));
  return toProblems([
    await sendText('no JSON'),
    await sendText('<message/>', { 'content-type': 'application/xml' }),
    await send({ message: 'a'.repeat(600_000) }),
    await send({}),
    await send({ message: [{ type: 'image' }] }),
    await send({ message: 'How long is a cursor valid?', outputSchema: {} }),
    await request(`${base}/session/ses_unknown/stream`),
    await request(url, say('And for lists?')),
    await request(url, say('And for lists?', { 'x-continuation-token': 'another' })),
    await request(`${url}/stream?startIndex=first`),
    await request(ended.url, say('And for lists?', ended.token)),
  ]);
}

/** Records the error for a message that is sent while another message is being answered and the queue is full. */
async function recordFull(request: SendRequest): Promise<SessionExamples['problems']> {
  const { url, token } = await start(request);
  return toProblems([await request(url, say('And for lists?', token))]);
}

function toProblems(replies: readonly LightMyRequestResponse[]): SessionExamples['problems'] {
  const documents = replies.map((reply) => reply.json());
  return Object.fromEntries(documents.map((one) => [one.code, one] as const));
}
