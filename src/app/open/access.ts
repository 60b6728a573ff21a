import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { AllowanceWindow } from '../../access/allowances/allowance-window.ts';
import {
  type AllowanceLimits,
  type Allowances,
  createAllowances,
} from '../../access/allowances/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { type KeyStore, openKeyStore } from '../../access/keys/key-store.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { readDescriptorLimit } from '../../core/files/descriptors.ts';
import type { Random } from '../../core/random.ts';
import {
  createLedger,
  type Holding,
  type HoldingBound,
  type Ledger,
} from '../../core/scheduling/ledger.ts';
import { createIdentification, type Identification } from '../../http/key-status/identity.ts';

/** What access is built of. */
export interface AccessOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
}

/** Who may ask, and how much: the keys, the allowances and who is behind a request. */
export interface Access {
  readonly keys: KeyStore;
  readonly allowances: Allowances;
  readonly identification: Identification;
  /** Returns the name of a request's client address, as `toClientAddress` makes it. */
  readonly clientOf: (request: FastifyRequest) => string;
  /** Returns the client at the other end of a connection, or `null` for a trusted proxy. */
  readonly connectionOf: ReturnType<typeof createConnectionReader>;
  /** Counts what each client holds at this moment. */
  readonly ledger: Ledger;
  close(): void;
}

/** Opens what callers are known and counted by. A key store that cannot be read stops nothing. */
export function openAccess({ config, clock, random, logger }: AccessOptions): Access {
  const keys = openKeyStore({
    path: toStorePath(config.PERCH_DATA_DIR),
    clock,
    random,
    onTrouble: (reason, err) => logger.error({ reason, err }, 'the key store cannot be read'),
    onRecovered: () => logger.info('the key store is back'),
  });
  const window = { windowMs: config.PERCH_ALLOWANCE_WINDOW_SECONDS * 1000, clock };
  const stores = { callers: new AllowanceWindow(window), pool: new AllowanceWindow(window) };
  const allowances = createAllowances(stores, toAllowanceLimits(config));
  const readAddress = createAddressReader({
    trusted: config.PERCH_TRUST_PROXY,
    // No address in the log: where no proxy is in front, it would be a caller's.
    onIgnored: () =>
      logger.warn(
        'X-Forwarded-For is ignored; if your proxy sends it, name the proxy in PERCH_TRUST_PROXY',
      ),
  });
  const clientOf = ({ raw }: FastifyRequest) => readAddress(raw);
  return {
    keys,
    allowances,
    clientOf,
    connectionOf: createConnectionReader(config.PERCH_TRUST_PROXY),
    ledger: createLedger(toLedgerBounds(config)),
    identification: createIdentification({ keys, allowances, clock, clientOf }),
    close: () => keys.close(),
  };
}

/** The part of the open files of the process that clients may have; the rest is for upstreams and databases. */
const descriptorPart = 3 / 4;

/** Returns the maximum of everything that clients can hold. */
export function toLedgerBounds(config: Config): Readonly<Record<Holding, HoldingBound>> {
  return {
    connections: {
      perAddress: config.PERCH_CONNECTIONS_PER_ADDRESS,
      total: Math.min(config.PERCH_CONNECTIONS, readDescriptorLimit() * descriptorPart),
    },
    upstreamReads: {
      perAddress: config.PERCH_UPSTREAM_READS_PER_ADDRESS,
      total: config.PERCH_MAX_UPSTREAM_READS,
    },
    upstreamBytes: {
      perAddress: config.PERCH_UPSTREAM_BYTES_PER_ADDRESS,
      total: config.PERCH_UPSTREAM_BYTES,
    },
    replyBytes: {
      perAddress: config.PERCH_REPLY_BYTES_PER_ADDRESS,
      total: config.PERCH_REPLY_BYTES,
    },
    histories: {
      perAddress: config.PERCH_HISTORY_IMPORTS_PER_ADDRESS,
      total: config.PERCH_HISTORY_IMPORTS,
    },
    ...toSessionBounds(config),
  };
}

/** Gives the sizes of the allowances that are configured. */
export function toAllowanceLimits(config: Config): AllowanceLimits {
  return {
    windowSeconds: config.PERCH_ALLOWANCE_WINDOW_SECONDS,
    public: config.PERCH_PUBLIC_ALLOWANCE,
    key: config.PERCH_KEY_ALLOWANCE,
    post: config.PERCH_POST_ALLOWANCE,
    pool: config.PERCH_POOL_ALLOWANCE,
  };
}

function toSessionBounds(config: Config) {
  const { PERCH_DATA_DIR, PERCH_SESSION_STORE } = config;
  const isInMemory = PERCH_DATA_DIR === ':memory:' || PERCH_SESSION_STORE === 'memory';
  return {
    sessions: {
      perAddress: config.PERCH_SESSION_LIVE_PER_ADDRESS,
      total: config.PERCH_SESSION_LIVE,
    },
    sessionBytes: {
      perAddress: config.PERCH_SESSION_BYTES_PER_ADDRESS,
      total: config.PERCH_SESSION_BYTES ?? (isInMemory ? 128 : 1024) * 1_048_576,
    },
    queuedTurns: {
      perAddress: config.PERCH_SESSION_TURNS_PER_ADDRESS,
      total: config.PERCH_SESSION_WAITING_TURNS,
    },
    streams: {
      perAddress: config.PERCH_SESSION_STREAMS_PER_ADDRESS,
      total: config.PERCH_SESSION_STREAMS,
    },
  };
}

function toStorePath(folder: string): string {
  return folder === ':memory:' ? folder : `${folder}/perch.db`;
}
