/** Error for a call that the shared engine (Valkey or Redis server) refused or did not answer. */
export class EngineError extends Error {
  /** Whether later calls will probably fail too: the engine is unreachable, slow or starting. */
  readonly isOutage: boolean;
  constructor(message: string, isOutage: boolean, cause?: unknown) {
    super(message, { cause });
    this.isOutage = isOutage;
  }
}

/** Error if Perch cannot start with its engine. The message is for the operator. */
export class UnusableEngineError extends Error {}

const refusedWrites = /^(?:OOM|MISCONF|NOREPLICAS)\b/;
const outages = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOAUTH|WRONGPASS|NOPERM)\b/;

export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? toMessage(error) : String(error);
  if (refusedWrites.test(message)) return new EngineError(message, false, error);
  return new EngineError(message, outages.test(message) || !isReply(error), error);
}

function isReply(error: unknown): boolean {
  return error instanceof Error && /^(?:[A-Z]{3,}\b|ERR )/.test(error.message) && !isNetwork(error);
}

const isNetwork = (error: Error) => 'code' in error;

/** Rethrows an error; if Redis denies permission, as an EngineError that is no outage. */
export function toPermissionError(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  throw message.startsWith('NOPERM') ? new EngineError(message, false, error) : error;
}

/** Returns the reason for a failed connection; `null` if the error does not contain one. */
export function toConnectionFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // For a host with several addresses, there is one error per address, but no common error.
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  const message = toMessage(first);
  return message === '' || /^All the root nodes are unavailable/.test(message) ? null : message;
}

/** Returns a message; for system errors only codes, so that callers see no addresses. */
function toMessage(error: Error): string {
  if (!('code' in error) || typeof error.code !== 'string') return error.message;
  return 'syscall' in error ? `${error.syscall} ${error.code}` : error.code;
}

/** Delay of a timer in milliseconds above which this process counts as busy. */
const busyMs = 10;
/** Maximum number of times that a deadline is extended because this process was busy. */
const maxExtensions = 5;

/** Returns a call's result, or rejects with EngineError. Waits longer if this process is busy. */
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
