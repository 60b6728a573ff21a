import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import {
  type ConnectOptions,
  connectEngine,
  type EngineClient,
  type EngineConnection,
} from './client.ts';
import {
  EngineError,
  toConnectionFault,
  toEngineError,
  toPermissionError,
  withinDeadline,
} from './engine-error.ts';

/** Lua script that the shared engine (Redis or Valkey) runs atomically. */
export type EngineScript = Readonly<{ text: string; sha1: string }>;

/** Creates a script with the SHA-1 hash by which a Valkey or Redis server identifies it. */
export const defineScript = (text: string): EngineScript => ({
  text,
  sha1: createHash('sha1').update(text).digest('hex'),
});

export interface EngineCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  /** Milliseconds to wait for the reply. Default: `timeoutMs` of `EngineOptions`. */
  readonly deadlineMs?: number;
}

/** State of the engine. `fault`: reason for an outage. `instances`: number that are running. */
export type EngineState = Readonly<{ isUp: boolean; fault: string | null; instances: number }>;

/**
 * Valkey or Redis server that several instances share. During an outage, calls fail immediately,
 * and a probe every 200 ms checks whether it answers again (docs/instances.md).
 */
export type Engine = Awaited<ReturnType<typeof openEngine>>;

export interface EngineOptions extends Omit<ConnectOptions, 'onError'> {
  readonly clock: Clock;
  readonly instance: string;
  /** Whether this process counts as an instance, by which limits are divided. Default: `true`. */
  readonly isCounted?: boolean;
  readonly timeoutMs: number;
  /** Called when the engine stops answering or answers again, at most once a second. */
  readonly onChange: (state: EngineState) => void;
}

const operatorDeadlineMs = 2000;
const probeMs = 200;
const heartbeatMs = 1000;
const probesPerConnection = 5;
/** Milliseconds without a heartbeat after which an instance no longer counts as running. */
const absentMs = 5000;

/** Lua script that records a heartbeat of `ARGV[2]`, if any. Returns the number of instances. */
const heartbeat = defineScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
if ARGV[2] then redis.call('ZADD', KEYS[1], now, ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('ZCARD', KEYS[1])
`);

/** Opens the engine. Call `waitUntilUp` to wait until the connection is established. */
export async function openEngine(options: EngineOptions) {
  const { timeoutMs, instance, isCounted = true } = options;
  const health = createHealth(options);
  const { send, reconnect, destroy } = await createSender(options, health);
  const channels = createChannels(options, send);
  health.onUp(channels.resubscribe);
  const beat = async (): Promise<void> => {
    const call = { keys: ['instances'], args: isCounted ? [absentMs, instance] : [absentMs] };
    const instances = await send((to) => runScript(to, heartbeat, call), timeoutMs);
    health.set({ isUp: true, fault: null, instances: Math.max(1, Number(instances)) });
  };
  void watch(beat, reconnect, health);
  return {
    /** Random name of this process, unique among the instances. */
    instance,
    clock: options.clock,
    /** Prefix of the names of all keys and channels of Perch in the shared Valkey or Redis server. */
    prefix: options.prefix,
    get state() {
      return health.state;
    },
    /** Calls `work`. Throws EngineError if the engine fails or takes longer than `deadlineMs`. */
    run: async <Value>(
      work: (client: EngineClient) => Promise<Value>,
      deadlineMs = timeoutMs,
    ): Promise<Value> => {
      health.refuseWhileDown();
      return send(({ client }) => work(client), deadlineMs);
    },
    /** Runs a Lua script. Throws EngineError if the engine fails. */
    evaluate: async (script: EngineScript, call: EngineCall): Promise<unknown> => {
      health.refuseWhileDown();
      return send((to) => runScript(to, script, call), call.deadlineMs ?? timeoutMs);
    },
    waitUntilUp: health.waitUntilUp,
    /** Checks the permission for channels. Throws EngineError without it, or if the engine fails. */
    checkChannels: async (deadlineMs: number): Promise<void> => {
      const channel = `${options.prefix}permissions`;
      await send(({ client }) => client.subscribe(channel, () => {}), deadlineMs);
    },
    /** Calls the listener with each message. Messages sent during an outage are lost. */
    subscribe: channels.subscribe,
    /** Returns a section of `INFO` from each primary. Throws EngineError if one of them fails. */
    info: (section: string): Promise<readonly string[]> =>
      send((to) => to.info(section).catch(toPermissionError), operatorDeadlineMs),
    /** Waits until replicas have all earlier writes of this process, or throws EngineError. */
    confirmReplicas: async (replicas: number, deadlineMs: number): Promise<void> => {
      const wait = (to: EngineConnection) => to.waitForReplicas(replicas, deadlineMs);
      const count = await send(wait, deadlineMs + timeoutMs);
      if (count >= replicas) return;
      throw new EngineError(`only ${count} of ${replicas} replicas have the change`, false);
    },
    close: () => {
      health.close();
      destroy();
    },
  };
}

/** Function that sends commands even in an outage, to detect its end. Throws EngineError. */
type Send = <Value>(
  work: (connection: EngineConnection) => Promise<Value>,
  deadlineMs: number,
) => Promise<Value>;

async function createSender(options: EngineOptions, health: Health) {
  /** Reason for the lost connection, absent in later errors; `null` after a successful call. */
  let lost: string | null = null;
  const onError = (error: unknown): void => {
    lost = toConnectionFault(error) ?? lost;
  };
  let { address } = options;
  const connect = () => {
    const opening = connectEngine({ ...options, address, onError });
    // The next connection starts with another server, because a sentinel that hangs would block it
    // again.
    const { nodes } = address;
    address = { ...address, nodes: [...nodes.slice(1), ...nodes.slice(0, 1)] };
    return opening;
  };
  let connection = await connect();
  const send: Send = async (work, deadlineMs) => {
    try {
      const value = await withinDeadline(work(connection), deadlineMs);
      lost = null;
      return value;
    } catch (error) {
      const failure = toEngineError(error);
      if (!failure.isOutage) throw failure;
      const outage = lost === null ? failure : new EngineError(lost, true, error);
      health.set({ isUp: false, fault: outage.message });
      throw outage;
    }
  };
  return {
    send,
    reconnect: async (): Promise<void> => {
      connection.destroy();
      connection = await connect();
      if (health.isClosed) connection.destroy();
    },
    destroy: () => connection.destroy(),
  };
}

function createChannels({ prefix, timeoutMs }: EngineOptions, send: Send) {
  const listeners = new Map<string, (message: string) => void>();
  const subscribe = (channel: string, listener: (message: string) => void): void => {
    send(({ client }) => client.subscribe(prefix + channel, listener), timeoutMs).catch(
      () => {}, // repeated when the engine answers
    );
  };
  return {
    subscribe: (channel: string, listener: (message: string) => void): void => {
      listeners.set(channel, listener);
      subscribe(channel, listener);
    },
    resubscribe: (): void => {
      for (const [channel, listener] of listeners) subscribe(channel, listener);
    },
  };
}

async function runScript(
  { client }: EngineConnection,
  { text, sha1 }: EngineScript,
  { keys, args }: EngineCall,
): Promise<unknown> {
  const call = { keys: [...keys], arguments: args.map(String) };
  try {
    return await client.evalSha(sha1, call);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(text, call);
  }
}

type Health = ReturnType<typeof createHealth>;

function createHealth({ clock, onChange }: EngineOptions) {
  const closing = new AbortController();
  let state: EngineState = { isUp: false, fault: 'it has not answered yet', instances: 1 };
  let reportedMs = clock.now(); // the first connection takes a moment
  let reported: boolean | null = null;
  let notify = () => {};
  const report = (): void => {
    const nowMs = clock.now();
    if (state.isUp === reported || Math.abs(nowMs - reportedMs) < heartbeatMs) return;
    [reported, reportedMs] = [state.isUp, nowMs];
    onChange(state);
  };
  return {
    get state() {
      return state;
    },
    get isClosed() {
      return closing.signal.aborted;
    },
    set: (change: Partial<EngineState>): void => {
      if (closing.signal.aborted) return;
      const wasUp = state.isUp;
      state = { ...state, ...change };
      report();
      if (state.isUp && !wasUp) notify();
    },
    /** Sets the function that is called whenever the engine answers again. */
    onUp: (listener: () => void): void => {
      notify = listener;
    },
    refuseWhileDown: (): void => {
      if (!state.isUp) throw new EngineError(state.fault ?? 'it does not answer', true);
    },
    /** Waits up to `ms` milliseconds for the engine. Returns whether it answers. */
    waitUntilUp: async (ms: number): Promise<boolean> => {
      const untilMs = clock.now() + ms;
      while (!state.isUp && clock.now() < untilMs && !closing.signal.aborted) await clock.sleep(10);
      return state.isUp;
    },
    sleep: (ms: number) => Promise.allSettled([clock.sleep(ms, closing.signal)]),
    close: () => closing.abort(),
  };
}

async function watch(
  beat: () => Promise<void>,
  reconnect: () => Promise<void>,
  health: Health,
): Promise<void> {
  let failed = 0;
  while (!health.isClosed) {
    await beat().then(
      () => {
        failed = 0;
      },
      (error: EngineError) => {
        if (!error.isOutage)
          health.set({ isUp: true, fault: null }); // it answers, but refuses writes
        else failed += 1;
      },
    );
    if (failed === probesPerConnection) {
      failed = 0;
      await reconnect();
    }
    // If a command fails between two heartbeats, the interval becomes shorter immediately.
    const isDue = (sleptMs: number) => sleptMs >= (health.state.isUp ? heartbeatMs : probeMs);
    for (let sleptMs = 0; !isDue(sleptMs); sleptMs += probeMs) await health.sleep(probeMs);
  }
}
