/** Error for a call that the shared engine did not answer or refused. The message continues “The engine …, because”. */
export class EngineError extends Error {
  /** Whether later calls are likely to fail too, because the engine is unreachable, slow or starting. */
  readonly isOutage: boolean;
  constructor(message: string, isOutage: boolean, cause?: unknown) {
    super(message, { cause });
    this.isOutage = isOutage;
  }
}

/** Error for an engine with which Perch cannot start. The message is for the operator. */
export class UnusableEngineError extends Error {}

/** Error replies of an engine that answers, but cannot store anything now. Reads of it still work. */
const refusedWrites = /^(?:OOM|MISCONF|NOREPLICAS)\b/;
/** Error replies of an engine that is loading its data, is no primary, or refuses the login. */
const outages = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM)\b/;

/** Converts any error of a command to an EngineError. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? toMessage(error) : String(error);
  if (refusedWrites.test(message)) return new EngineError(message, false, error);
  return new EngineError(message, outages.test(message) || !isReply(error), error);
}

/** Returns whether an error is a reply of the engine. Its messages start with an upper-case code. */
function isReply(error: unknown): boolean {
  return error instanceof Error && /^(?:[A-Z]{3,}\b|ERR )/.test(error.message) && !isNetwork(error);
}

const isNetwork = (error: Error) => 'code' in error;

/**
 * Rethrows the error of a command that the engine's user may not run, but that Perch can do without.
 * @throws EngineError that is no outage
 */
export function toPermissionError(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  throw message.startsWith('NOPERM') ? new EngineError(message, false, error) : error;
}

/** Returns the reason for an error that the client reports about its connection; `null` if it has none. */
export function toConnectionFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // A host with several addresses has an error for each of them, and none for all.
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  const message = toMessage(first);
  return message === '' || /^All the root nodes are unavailable/.test(message) ? null : message;
}

/** Returns the message of an error. For an error of the system, it has no addresses, because callers can see it. */
function toMessage(error: Error): string {
  if (!('code' in error) || typeof error.code !== 'string') return error.message;
  return 'syscall' in error ? `${error.syscall} ${error.code}` : error.code;
}

/** Milliseconds by which a timer is late if this process was busy. */
const busyMs = 10;
/** Number of times that a deadline is extended because this process was busy. */
const maxExtensions = 5;

/**
 * Rejects with an EngineError if a call takes longer than `ms` milliseconds. If this process was too busy to send the
 * call or to receive its answer in that time, the call gets the same time again.
 */
export function withinDeadline<Value>(call: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (extensions: number): void => {
      const startedMs = performance.now();
      timer = setTimeout(() => {
        const lateMs = performance.now() - startedMs - ms;
        if (lateMs > busyMs && extensions > 0) wait(extensions - 1);
        // An answer that has arrived is read before `setImmediate` calls back.
        else setImmediate(() => reject(new EngineError(`it did not answer within ${ms} ms`, true)));
      }, ms);
    };
    wait(maxExtensions);
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
