import type { Config } from '../config.ts';

/** Says in a line why the server or its archive could not be opened, and which setting decides. */
export function explainOpening(error: unknown, config: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `port ${config.PORT} of ${config.HOST} is in use (PORT)`;
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL') {
    return `${config.HOST} is no address of this machine (HOST)`;
  }
  if (code === 'EACCES') return `no permission for port ${config.PORT} or ${config.PERCH_DATA_DIR}`;
  const reason = error instanceof Error ? error.message : String(error);
  return `${reason} (PERCH_DATA_DIR is ${config.PERCH_DATA_DIR})`;
}
