import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { AllowanceWindow } from '../../access/allowances/allowance-window.ts';
import { type Allowances, createAllowances } from '../../access/allowances/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { type KeyStore, openKeyStore } from '../../access/keys/key-store.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { createLedger, type Ledger } from '../../core/scheduling/ledger.ts';
import { createIdentification, type Identification } from '../../http/key-status/plugin.ts';
import { toAllowanceLimits, toLedgerBounds } from './bounds.ts';

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

function toStorePath(folder: string): string {
  return folder === ':memory:' ? folder : `${folder}/perch.db`;
}
