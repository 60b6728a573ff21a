import type { FastifyRequest } from 'fastify';
import type { AllowanceStore, Charge } from '../../access/allowances/allowance-store.ts';
import { AllowanceWindow } from '../../access/allowances/allowance-window.ts';
import { createAllowances } from '../../access/allowances/allowances.ts';
import { createSharedAllowances } from '../../access/allowances/shared-allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { type KeyStore, openKeyStore } from '../../access/keys/key-store.ts';
import { openSharedKeys } from '../../access/keys/shared-keys.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { openSharedSecret } from '../../core/engine/shared-secret.ts';
import { createQuotas } from '../../core/scheduling/quotas.ts';
import { createIdentification } from '../../http/key-status/plugin.ts';
import type { AppContext } from '../context.ts';
import { toAllowanceLimits, toQuotaLimits } from './bounds.ts';

export type Access = Awaited<ReturnType<typeof openAccess>>;

/** Opens keys, limits and identification. Logs an unreadable key file instead of throwing. */
export async function openAccess(options: AppContext) {
  const { config, clock, logger, redis: engine } = options;
  const keys = engine === null ? openKeyFileStore(options) : openSharedKeys({ ...options, engine });
  const stores =
    engine === null ? createOwnWindows(options) : await createSharedWindows(options, engine);
  const allowances = createAllowances(stores, toAllowanceLimits(config));
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

type AllowanceStores = Readonly<Record<'callers' | 'pool', AllowanceStore>>;

const toWindowMs = ({ PERCH_ALLOWANCE_WINDOW_SECONDS: seconds }: Config) => seconds * 1000;

function createOwnWindows({ config, clock }: AppContext): AllowanceStores {
  const window = { windowMs: toWindowMs(config), clock };
  return { callers: new AllowanceWindow(window), pool: new AllowanceWindow(window) };
}

async function createSharedWindows(
  { config, clock, random }: AppContext,
  engine: Engine,
): Promise<AllowanceStores> {
  const secret = await openSharedSecret(engine, 'addresses', random);
  const window = { windowMs: toWindowMs(config), clock, engine, secret };
  // An address is charged together with its network, which is the last charge.
  const callers = {
    ...window,
    tagOf: (charges: readonly Charge[]) => charges.at(-1)?.account ?? '',
  };
  return {
    callers: createSharedAllowances(callers),
    pool: createSharedAllowances({ ...window, tagOf: () => 'pool' }),
  };
}
