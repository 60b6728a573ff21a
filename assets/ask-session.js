// A session with the server, as a page has one: its id and token are in memory alone.

/** What the server refused, or that it did not answer; the message is for people. */
class Refusal extends Error {
  constructor(message, { code = '', waitSeconds } = {}) {
    super(message);
    this.code = code;
    this.waitSeconds = waitSeconds;
  }
}

const lost = 'The connection to the server was lost. Ask again.';

/** The seconds before a stream is read again, by how often it broke off with nothing new. */
const waits = [0, 0.5, 1, 2, 4, 8];

/** A silent stream has a heartbeat every ten seconds; one without is broken. */
const silenceMs = 30_000;

/** The most that a message waits for a server that is busy, and how often it is sent. */
const longestWaitSeconds = 10;
const mostTries = 4;

/** Creates a session below the path of the session routes. It starts with the first question. */
// biome-ignore lint/correctness/noUnusedVariables: ask.js calls it
function createPageSession(base) {
  const bearer = randomName();
  let known = null;
  const headers = () => ({
    authorization: `Bearer ${bearer}`,
    ...(known === null ? {} : { 'x-continuation-token': known.token }),
  });
  const post = (path, body, signal) =>
    postOnce(`${base}${path}`, { body, signal, headers: headers() });
  const start = async (message, signal) => {
    const { sessionId, continuationToken, deliveryId } = await post(
      '/session',
      { message },
      signal,
    );
    known = { id: sessionId, token: continuationToken, next: 0 };
    return deliveryId;
  };
  const goOn = async (message, signal) => {
    try {
      return (await post(`/session/${known.id}`, { message }, signal)).deliveryId;
    } catch (error) {
      const isOver = /^session_(?:not_found|expired|not_active|forbidden)$/.test(error.code);
      if (!isOver) throw error;
      known = null;
      return start(message, signal);
    }
  };
  return {
    get isOpen() {
      return known !== null;
    },
    /** Asks without waiting for the answer, so that what is asked next goes on from it. */
    begin: (question, signal) => start(question, signal),
    /** Asks, and hands on the events of the turn until its end. */
    ask: async (question, { signal, onEvent }) => {
      const deliveryId = await (known === null ? start : goOn)(question, signal);
      const turn = { session: known, deliveryId, base, headers: headers(), signal, onEvent };
      await followTurn(turn);
    },
    /** Cancels the running turn; its stream tells of it. */
    stop: async () => {
      if (known !== null) await post(`/session/${known.id}/cancel`, {}).catch(() => undefined); // over
    },
  };
}

/** Sends a message so that it is taken once, however often it has to be sent. */
async function postOnce(url, { body, headers, signal }) {
  const init = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomName() },
    body: JSON.stringify(body),
    signal,
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await (await request(url, init)).json();
    } catch (error) {
      const seconds = error.waitSeconds ?? longestWaitSeconds + 1;
      if (signal?.aborted || tries >= mostTries || seconds > longestWaitSeconds) throw error;
      await pause(seconds, signal);
    }
  }
}

/** Gives the response; throws the refusal in words, and how long to wait where waiting helps. */
async function request(url, init) {
  let response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal(lost, { waitSeconds: 1 });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null); // said below
  if (problem?.detail === undefined) {
    throw new Refusal(`The server answered with status ${response.status}. Ask again in a moment.`);
  }
  const { detail, resolution, code, retry_after: waitSeconds } = problem;
  throw new Refusal(`${detail} ${resolution}`, { code, waitSeconds });
}

/** Reads the stream until the turn has ended; where it breaks off, it is read on from the next index. */
async function followTurn(turn) {
  for (let breaks = 0; breaks < waits.length; breaks += 1) {
    await pause(waits[breaks], turn.signal);
    const before = turn.session.next;
    if (await readTurn(turn).catch((error) => bearBreak(error, turn.signal))) return;
    if (turn.session.next > before) breaks = 0;
  }
  throw new Refusal(lost);
}

/** A connection that is lost, and a server that says how long to wait, are tried again. */
function bearBreak(error, signal) {
  const isBroken = error instanceof Refusal && (error.code === '' || error.waitSeconds > 0);
  if (signal.aborted || !isBroken) throw error;
  return false;
}

/** Reads the stream once; tells whether the turn has ended. */
async function readTurn({ session, deliveryId, base, headers, signal, onEvent }) {
  const silent = new AbortController();
  const both = AbortSignal.any([signal, silent.signal]);
  const url = `${base}/session/${session.id}/stream?startIndex=${session.next}`;
  for await (const line of readLines(url, { headers, signal: both, silent })) {
    const { type, data, meta } = JSON.parse(line);
    if (meta === undefined || meta.index < session.next) continue; // no event, or one that is known
    session.next = meta.index + 1;
    const isSessionEnd = /^session\.(?:completed|failed)$/.test(type);
    if (!isSessionEnd && !meta.deliveryIds?.includes(deliveryId)) continue;
    onEvent({ type, data });
    if (isSessionEnd || isTurnEnd(type)) return true;
  }
  return false;
}

function isTurnEnd(type) {
  return /^turn\.(?:completed|failed|cancelled)$/.test(type);
}

async function* readLines(url, { headers, signal, silent }) {
  let timer = setTimeout(() => silent.abort(), silenceMs);
  let rest = '';
  try {
    const { body } = await request(url, { headers, signal });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), silenceMs);
        const lines = (rest + value).split('\n');
        rest = lines.pop();
        yield* lines.filter((line) => line.trim() !== '');
      }
    } finally {
      reader.cancel().catch(() => undefined); // it has ended
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(lost);
  } finally {
    clearTimeout(timer);
  }
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Works without HTTPS as well, where `randomUUID` does not. */
function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
