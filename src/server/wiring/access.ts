import type { FastifyRequest } from 'fastify';
import { createAllowances } from '../../access/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { type KeyStore, openKeyStore } from '../../access/keys/key-store.ts';
import { openSharedKeys } from '../../access/keys/shared-keys.ts';
import { type Charge, createRateLimiter } from '../../access/rate-limits.ts';
import { createSharedRateLimiter } from '../../access/shared-rate-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import { createQuotas } from '../../lib/scheduling/quotas.ts';
import { openSharedSecret } from '../../lib/secret.ts';
import { createIdentification } from '../../routes/key-status/plugin.ts';
import type { AppContext } from '../context.ts';
import { toAllowanceLimits, toQuotaLimits } from './bounds.ts';

export type Access = Awaited<ReturnType<typeof openAccess>>;

/** Opens keys, limits and identification. Logs an unreadable key file instead of throwing. */
export async function openAccess(options: AppContext) {
  const { config, clock, logger, redis: engine } = options;
  const keys = engine === null ? openKeyFileStore(options) : openSharedKeys({ ...options, engine });
  const { sessions, ...limiters } = await openRateLimiters(options);
  const allowances = createAllowances(limiters, toAllowanceLimits(config));
  const readAddress = createAddressReader({
    trusted: config.PERCH_TRUST_PROXY,
    // The address is not logged, because without a proxy it belongs to a caller.
    onIgnored: () =>
      logger.warn(
        'Perch ignores X-Forwarded-For headers. If your proxy sends them, add it to PERCH_TRUST_PROXY',
      ),
  });
  const clientOf = ({ raw }: FastifyRequest) => readAddress(raw);
  return {
    keys,
    allowances,
    /** Limiter of session starts and messages. */
    limiter: sessions,
    clientOf,
    /** Returns the client of a connection; `null` for a trusted proxy. */
    connectionOf: createConnectionReader(config.PERCH_TRUST_PROXY),
    ledger: createQuotas(toQuotaLimits(config)),
    identification: createIdentification({ keys, allowances, clock, clientOf }),
    close: () => keys.close(),
  };
}

function openKeyFileStore({ config, clock, random, logger }: AppContext): KeyStore {
  const folder = config.PERCH_DATA_DIR;
  return openKeyStore({
    path: folder === ':memory:' ? folder : `${folder}/perch.db`,
    clock,
    random,
    ...toKeyLogLines(logger, clock),
  });
}

const reportMs = 60_000;

function toKeyLogLines(logger: AppContext['logger'], clock: Clock) {
  let reportedMs = Number.NEGATIVE_INFINITY;
  let isReported = false;
  return {
    onTrouble: (reason: string, error: unknown): void => {
      if (Math.abs(clock.now() - reportedMs) < reportMs) return;
      [isReported, reportedMs] = [true, clock.now()];
      const cause = error instanceof Error ? error.message : undefined;
      logger.error({ reason, cause }, 'the key store cannot be read');
    },
    onRecovered: (): void => {
      if (isReported) logger.info('the key store can be read again');
      isReported = false;
    },
  };
}

/** Opens limiters, separate so that accounts of one cannot make another forget its accounts. */
async function openRateLimiters({ clock, random, redis: engine }: AppContext) {
  if (engine === null) {
    const open = () => createRateLimiter({ clock });
    return { callers: open(), pool: open(), sessions: open() };
  }
  const secret = await openSharedSecret(engine, 'addresses', random);
  const open = (tagOf: (charges: readonly Charge[]) => string) =>
    createSharedRateLimiter({ engine, clock, secret, tagOf });
  return {
    // An address is charged together with its network, which is the last charge.
    callers: open((charges) => charges.at(-1)?.account ?? ''),
    pool: open(() => 'pool'),
    sessions: open(() => 'sessions'),
  };
}
