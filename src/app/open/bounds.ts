import type { AllowanceLimits } from '../../access/allowances/allowances.ts';
import type { Config } from '../../config/config.ts';
import { readDescriptorLimit } from '../../core/files/descriptors.ts';
import type { Holding, HoldingBound } from '../../core/scheduling/ledger.ts';

/** The part of the open files of the process that clients may have; the rest is for upstreams and databases. */
const descriptorPart = 3 / 4;

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
