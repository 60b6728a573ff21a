import type { EngineAddress } from './engine-url.ts';

/** Client for the engine: Redis 7.0 or later, Valkey 7.2 or later, or a cluster of them. */
export interface EngineClient {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, options?: SetOptions): Promise<string | null>;
  del(key: string): Promise<number>;
  hGet(key: string, field: string): Promise<string | null>;
  hGetAll(key: string): Promise<Readonly<Record<string, string>>>;
  eval(script: string, call: ScriptCall): Promise<unknown>;
  evalSha(sha1: string, call: ScriptCall): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
}

type SetOptions = Readonly<{ expiration?: { type: 'PX'; value: number }; condition?: 'NX' }>;

/** Keys and arguments of a Lua script. In a cluster, all keys must have the same hash tag. */
export type ScriptCall = Readonly<{ keys: string[]; arguments: string[] }>;

/** Connection to the engine, which reconnects by itself until `destroy` is called. */
export interface EngineConnection {
  readonly client: EngineClient;
  /** Sends the Redis command `INFO` for `section` to each primary server. Returns the replies. */
  info(section: string): Promise<readonly string[]>;
  /** Waits until replicas have all writes of this connection. Returns how many have them. */
  waitForReplicas(replicas: number, timeoutMs: number): Promise<number>;
  destroy(): void;
}

export interface ConnectOptions {
  readonly address: EngineAddress;
  readonly prefix: string;
  /** Certificates in PEM that replace the certificate authorities of Node.js, for `rediss://`. */
  readonly ca?: string | undefined;
  readonly onError: (error: unknown) => void;
}

const connectTimeoutMs = 1000;
const reconnectMs = 100;
const maxPending = 20_000;

/** Opens a connection. The promise may resolve before the connection is established. */
export async function connectEngine(options: ConnectOptions): Promise<EngineConnection> {
  const loaded = await import('@redis/client');
  // The bundle has the exports of a CommonJS package only in `default`, which tsx does not have.
  const redis = loaded.default ?? loaded;
  const connect = { single: connectSingle, sentinel: connectSentinel, cluster: connectCluster };
  return connect[options.address.kind](redis, options);
}

type Redis = typeof import('@redis/client');

function toCommon({ address, ca }: Pick<ConnectOptions, 'address' | 'ca'>) {
  const { isTls, username, password } = address;
  const socket = { connectTimeout: connectTimeoutMs, reconnectStrategy: () => reconnectMs };
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    socket: isTls ? { ...socket, tls: true as const, ...(ca !== undefined && { ca }) } : socket,
    disableOfflineQueue: true,
    disableClientInfo: true, // needs Redis 7.2
    commandsQueueMaxLength: maxPending,
    commandOptions: { timeout: 0 }, // the engine has its own deadlines
    maintNotifications: 'disabled' as const,
  };
}

function connectSingle(redis: Redis, { address, ca, prefix, onError }: ConnectOptions) {
  const { database, nodes } = address;
  const common = toCommon({ address, ca });
  const socket = { ...common.socket, ...nodes[0] };
  const client = redis.createClient({ ...common, socket, database, keyPrefix: prefix });
  client.on('error', onError).connect().catch(onError);
  return {
    client,
    info: async (section: string) => [await client.info(section)],
    waitForReplicas: (replicas: number, timeoutMs: number) => client.wait(replicas, timeoutMs),
    destroy: () => client.destroy(),
  };
}

function connectSentinel(redis: Redis, { address, prefix, onError }: ConnectOptions) {
  const common = toCommon({ address });
  const sentinel = redis.createSentinel({
    name: address.primary,
    sentinelRootNodes: [...address.nodes],
    nodeClientOptions: { ...common, database: address.database },
    commandOptions: common.commandOptions,
    // All commands use one connection. Otherwise, a command can wait until no other command is
    // running.
    reserveClient: true,
    // Sentinels often have no password of their own.
    sentinelClientOptions: { socket: { connectTimeout: connectTimeoutMs } },
    scanInterval: 1000,
    keyPrefix: prefix,
  });
  sentinel.on('error', onError).connect().catch(onError);
  const send = (...words: string[]) => sentinel.sendCommand(false, words).then(String);
  return {
    client: sentinel,
    info: async (section: string) => [await send('INFO', section)],
    waitForReplicas: async (replicas: number, timeoutMs: number) =>
      Number(await send('WAIT', `${replicas}`, `${timeoutMs}`)),
    destroy: () => void sentinel.destroy().catch(onError),
  };
}

function connectCluster(redis: Redis, { address, prefix, onError }: ConnectOptions) {
  const common = toCommon({ address });
  const cluster = redis.createCluster({
    rootNodes: address.nodes.map((node) => ({ ...common, socket: { ...common.socket, ...node } })),
    defaults: common,
    commandOptions: common.commandOptions,
    keyPrefix: prefix,
  });
  cluster.on('error', onError).connect().catch(onError);
  const primaries = () => Promise.all(cluster.masters.map((node) => cluster.nodeClient(node)));
  return {
    client: cluster,
    info: async (section: string) =>
      Promise.all((await primaries()).map((one) => one.info(section))),
    waitForReplicas: async (replicas: number, timeoutMs: number) => {
      const waits = (await primaries()).map((one) => one.wait(replicas, timeoutMs));
      return Math.min(...(await Promise.all(waits)));
    },
    destroy: () => cluster.destroy(),
  };
}
