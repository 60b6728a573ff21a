import type { FastifyRequest } from 'fastify';
import { AllowanceWindow } from '../../access/allowances/allowance-window.ts';
import { createAllowances } from '../../access/allowances/allowances.ts';
import { createAddressReader, createConnectionReader } from '../../access/client-address.ts';
import { openKeyStore } from '../../access/keys/key-store.ts';
import { createLedger } from '../../core/scheduling/ledger.ts';
import { createIdentification } from '../../http/key-status/plugin.ts';
import type { AppBasics } from '../options.ts';
import { toAllowanceLimits, toLedgerBounds } from './bounds.ts';

export type Access = ReturnType<typeof openAccess>;

/** Opens the store of API keys and the rate limits. Does not fail if the store of API keys is unreadable. */
export function openAccess({ config, clock, random, logger }: AppBasics) {
  const folder = config.PERCH_DATA_DIR;
  const keys = openKeyStore({
    path: folder === ':memory:' ? folder : `${folder}/perch.db`,
    clock,
    random,
    onTrouble: (reason, err) => logger.error({ reason, err }, 'the key store cannot be read'),
    onRecovered: () => logger.info('the key store can be read again'),
  });
  const window = { windowMs: config.PERCH_ALLOWANCE_WINDOW_SECONDS * 1000, clock };
  const stores = { callers: new AllowanceWindow(window), pool: new AllowanceWindow(window) };
  const allowances = createAllowances(stores, toAllowanceLimits(config));
  const readAddress = createAddressReader({
    trusted: config.PERCH_TRUST_PROXY,
    // The address is not logged, because without a proxy it belongs to a caller.
    onIgnored: () =>
      logger.warn(
        'Perch ignores X-Forwarded-For headers. If your proxy sends them, add it to PERCH_TRUST_PROXY',
      ),
  });
  /** Returns the client address of a request, in the format that `toClientAddress` returns. */
  const clientOf = ({ raw }: FastifyRequest) => readAddress(raw);
  return {
    keys,
    allowances,
    clientOf,
    /** Returns the client address of a connection, or `null` if the connection comes from a trusted proxy. */
    connectionOf: createConnectionReader(config.PERCH_TRUST_PROXY),
    /** Counter of the resources (connections, bytes and so on) that each client currently uses. */
    ledger: createLedger(toLedgerBounds(config)),
    identification: createIdentification({ keys, allowances, clock, clientOf }),
    close: () => keys.close(),
  };
}
