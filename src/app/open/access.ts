import type { FastifyRequest } from 'fastify';
import { AllowanceWindow } from '../../access/allowances/allowance-window.ts';
import { createAllowances } from '../../access/allowances/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { openKeyStore } from '../../access/keys/key-store.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import { createIdentification } from '../../http/key-status/plugin.ts';
import type { AppBasics } from '../options.ts';
import { toAllowanceLimits, toLedgerBounds } from './bounds.ts';

/** The keys, the allowances and who is behind a request. */
export type Access = ReturnType<typeof openAccess>;

/** Opens what callers are known and counted by. A key store that cannot be read stops nothing. */
export function openAccess({ config, clock, random, logger }: AppBasics) {
  const folder = config.PERCH_DATA_DIR;
  const keys = openKeyStore({
    path: folder === ':memory:' ? folder : `${folder}/perch.db`,
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
  /** Returns the name of a request's client address, as `toClientAddress` makes it. */
  const clientOf = ({ raw }: FastifyRequest) => readAddress(raw);
  return {
    keys,
    allowances,
    clientOf,
    /** Returns the client at the other end of a connection, or `null` for a trusted proxy. */
    connectionOf: createConnectionReader(config.PERCH_TRUST_PROXY),
    /** Counts what each client holds at this moment. */
    ledger: createLedger(toLedgerBounds(config)),
    identification: createIdentification({ keys, allowances, clock, clientOf }),
    close: () => keys.close(),
  };
}
