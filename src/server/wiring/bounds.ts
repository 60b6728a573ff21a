import { readFileSync } from 'node:fs';
import type { AllowanceLimits } from '../../access/allowances.ts';
import type { Config } from '../../config/config.ts';
import type { Resource, ResourceBound } from '../../lib/scheduling/quotas.ts';

const connectionShare = 3 / 4;

export function toQuotaLimits(config: Config): Readonly<Record<Resource, ResourceBound>> {
  const bound = (perAddress: number, total: number) => ({ perAddress, total });
  const { PERCH_DATA_DIR, PERCH_SESSION_STORE, PERCH_CONNECTIONS } = config;
  const isInMemory = PERCH_DATA_DIR === ':memory:' || PERCH_SESSION_STORE === 'memory';
  const sessionBytes = config.PERCH_SESSION_BYTES ?? (isInMemory ? 128 : 1024) * 1_048_576;
  const connections = Math.min(PERCH_CONNECTIONS, readDescriptorLimit() * connectionShare);
  const upstreamReads = config.PERCH_MAX_UPSTREAM_READS;
  return {
    connections: bound(config.PERCH_CONNECTIONS_PER_ADDRESS, connections),
    pipelines: bound(4, Number.POSITIVE_INFINITY), // connections closed for pipelining
    upstreamReads: bound(config.PERCH_UPSTREAM_READS_PER_ADDRESS, upstreamReads),
    upstreamBytes: bound(config.PERCH_UPSTREAM_BYTES_PER_ADDRESS, config.PERCH_UPSTREAM_BYTES),
    replyBytes: bound(config.PERCH_REPLY_BYTES_PER_ADDRESS, config.PERCH_REPLY_BYTES),
    histories: bound(config.PERCH_HISTORY_IMPORTS_PER_ADDRESS, config.PERCH_HISTORY_IMPORTS),
    sessions: bound(config.PERCH_SESSION_LIVE_PER_ADDRESS, config.PERCH_SESSION_LIVE),
    sessionBytes: bound(config.PERCH_SESSION_BYTES_PER_ADDRESS, sessionBytes),
    queuedTurns: bound(config.PERCH_SESSION_TURNS_PER_ADDRESS, config.PERCH_SESSION_WAITING_TURNS),
    streams: bound(config.PERCH_SESSION_STREAMS_PER_ADDRESS, config.PERCH_SESSION_STREAMS),
    pictures: bound(128, 512), // waiting requests
    pictureBytes: bound(3 * toPictureBytes(config), 6 * toPictureBytes(config)),
    picturesOfHost: bound(256, 512), // unfinished fetches: a slow host must not block others
  };
}

/** Returns the maximum size of a picture in bytes. */
export const toPictureBytes = (config: Config): number =>
  Math.min(config.PERCH_MEDIA_MAX_BYTES, config.PERCH_REPLY_BYTES_PER_ADDRESS);

export function toAllowanceLimits(config: Config): AllowanceLimits {
  return {
    windowSeconds: config.PERCH_ALLOWANCE_WINDOW_SECONDS,
    public: config.PERCH_PUBLIC_ALLOWANCE,
    key: config.PERCH_KEY_ALLOWANCE,
    post: config.PERCH_POST_ALLOWANCE,
    media: config.PERCH_MEDIA_ALLOWANCE,
    pool: config.PERCH_POOL_ALLOWANCE,
  };
}

/** Returns the maximum of open files and sockets; `Infinity` if unknown (proc_pid_limits(5)). */
function readDescriptorLimit(path = '/proc/self/limits'): number {
  try {
    const limit = /^Max open files +(\d+) /m.exec(readFileSync(path, 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
}
