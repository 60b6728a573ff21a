import type { App } from '../app/build-app.ts';
import type { Clock } from '../core/clock.ts';

/** How long a shutdown may take. */
export interface ShutdownOptions {
  readonly clock: Clock;
  /** Milliseconds for work in flight; what is left then is ended. */
  readonly graceMs: number;
  /** The least milliseconds that the listener stays open, so that readiness is seen to end. */
  readonly drainMs: number;
}

/** Milliseconds after the grace in which replies can still be flushed. */
const flushMs = 500;

/**
 * Stops a server: new requests are refused while the listener stays open,
 * work in flight finishes, or is answered `shutting_down` at the end of the grace, then everything
 * closes.
 */
export async function shutDown(
  app: App,
  { clock, graceMs, drainMs }: ShutdownOptions,
): Promise<void> {
  app.startDraining();
  const begun = clock.now();
  const elapsed = () => clock.now() - begun;
  while (elapsed() < drainMs || (app.inFlight > 0 && elapsed() < graceMs)) await clock.sleep(20);
  app.cutOff();
  const closed = app.server.close();
  await Promise.race([closed, clock.sleep(flushMs)]);
  app.server.server.closeAllConnections();
  await closed;
}
