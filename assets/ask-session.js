// Client of the session routes (docs/sessions.md). The ID and the token of the session are only kept in memory.

/** Error response of the server, or a lost connection. The message is shown to people. */
class SessionError extends Error {
  constructor(message, { code = '', waitSeconds } = {}) {
    super(message);
    this.code = code;
    this.waitSeconds = waitSeconds;
  }
}

const connectionLost = 'The connection to the server was lost. Ask again.';

/** Seconds to wait before each attempt to read a stream. New events reset the count. */
const attemptDelays = [0, 0.5, 1, 2, 4, 8];

/** Time without data after which a stream counts as broken. The server sends a heartbeat every 10 seconds. */
const streamTimeoutMs = 30_000;

/** Longest `retry_after`, in seconds, for which a message is sent again. */
const maxRetrySeconds = 10;

/** Maximum number of times that a message is sent. */
const maxAttempts = 4;

/** Creates a client for the session routes below `base`. The session starts with the first question. */
// biome-ignore lint/correctness/noUnusedVariables: ask.js calls it
function createPageSession(base) {
  const bearer = createRandomId();
  let current = null;
  const headers = () => ({
    authorization: `Bearer ${bearer}`,
    ...(current === null ? {} : { 'x-continuation-token': current.token }),
  });
  const post = (path, body, signal) =>
    postOnce(`${base}${path}`, { body, signal, headers: headers() });
  const start = async (message, signal) => {
    const { sessionId, continuationToken, deliveryId } = await post(
      '/session',
      { message },
      signal,
    );
    current = { id: sessionId, token: continuationToken, next: 0 };
    return deliveryId;
  };
  const continueSession = async (message, signal) => {
    try {
      return (await post(`/session/${current.id}`, { message }, signal)).deliveryId;
    } catch (error) {
      const hasEnded = /^session_(?:not_found|expired|not_active|forbidden)$/.test(error.code);
      if (!hasEnded) throw error;
      current = null;
      return start(message, signal);
    }
  };
  return {
    get isOpen() {
      return current !== null;
    },
    /** Asks a question without waiting for the answer, as context for the next question. */
    begin: (question, signal) => start(question, signal),
    /** Asks a question, and calls `onEvent` with each event of its turn. Resolves when the turn ends. */
    ask: async (question, { signal, onEvent }) => {
      const deliveryId = await (current === null ? start : continueSession)(question, signal);
      const turn = { session: current, deliveryId, base, headers: headers(), signal, onEvent };
      await followTurn(turn);
    },
    /** Cancels the current turn. `ask` then gets the event `turn.cancelled`. */
    stop: async () => {
      if (current !== null) await post(`/session/${current.id}/cancel`, {}).catch(() => undefined); // already over
    },
  };
}

/** Sends a message, and retries if the server is busy. The idempotency key keeps it from being stored twice. */
async function postOnce(url, { body, headers, signal }) {
  const init = {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'idempotency-key': createRandomId(),
    },
    body: JSON.stringify(body),
    signal,
  };
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await (await request(url, init)).json();
    } catch (error) {
      const seconds = error.waitSeconds ?? maxRetrySeconds + 1;
      if (signal?.aborted || attempts >= maxAttempts || seconds > maxRetrySeconds) throw error;
      await pause(seconds, signal);
    }
  }
}

/** Sends a request. Throws a `SessionError` for error responses, with `waitSeconds` if a retry can help. */
async function request(url, init) {
  let response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new SessionError(connectionLost, { waitSeconds: 1 });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null); // handled below
  if (problem?.detail === undefined) {
    throw new SessionError(
      `The server answered with status ${response.status}. Ask again in a moment.`,
    );
  }
  const { detail, resolution, code, retry_after: waitSeconds } = problem;
  throw new SessionError(`${detail} ${resolution}`, { code, waitSeconds });
}

/** Reads the stream until the turn ends. A broken stream is resumed at the next index. */
async function followTurn(turn) {
  for (let attempt = 0; attempt < attemptDelays.length; attempt += 1) {
    await pause(attemptDelays[attempt], turn.signal);
    const before = turn.session.next;
    if (await readTurn(turn).catch((error) => handleBreak(error, turn.signal))) return;
    if (turn.session.next > before) attempt = 0;
  }
  throw new SessionError(connectionLost);
}

/** Returns `false` if the stream can be resumed: the connection was lost, or the server said how long to wait. */
function handleBreak(error, signal) {
  const canResume = error instanceof SessionError && (error.code === '' || error.waitSeconds > 0);
  if (signal.aborted || !canResume) throw error;
  return false;
}

/** Reads the stream once. Returns whether the turn has ended. */
async function readTurn({ session, deliveryId, base, headers, signal, onEvent }) {
  const timeout = new AbortController();
  const both = AbortSignal.any([signal, timeout.signal]);
  const url = `${base}/session/${session.id}/stream?startIndex=${session.next}`;
  for await (const line of readLines(url, { headers, signal: both, timeout })) {
    const { type, data, meta } = JSON.parse(line);
    if (meta === undefined || meta.index < session.next) continue; // a heartbeat, or an event that was already read
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

async function* readLines(url, { headers, signal, timeout }) {
  let timer = setTimeout(() => timeout.abort(), streamTimeoutMs);
  let rest = '';
  try {
    const { body } = await request(url, { headers, signal });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => timeout.abort(), streamTimeoutMs);
        const lines = (rest + value).split('\n');
        rest = lines.pop();
        yield* lines.filter((line) => line.trim() !== '');
      }
    } finally {
      reader.cancel().catch(() => undefined); // already closed
    }
  } catch (error) {
    if (error instanceof SessionError) throw error;
    throw new SessionError(connectionLost);
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

/** Returns 32 random hexadecimal digits. `crypto.randomUUID` would need HTTPS. */
function createRandomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
