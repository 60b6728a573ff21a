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

interface Meaning {
  /** Sentence without addresses and names. */
  readonly sentence: string;
  /** Next step of the operator; absent if the server must only be started, or waited for. */
  readonly advice?: string;
}

const login = 'Correct the user name and the password in PERCH_REDIS_URL.';

const unknownIssuer: Meaning = {
  sentence: 'The certificate of the engine is from an authority that Perch does not know.',
  advice: 'Set PERCH_REDIS_CA_FILE to a file with the certificate of this authority.',
};

const noClientCertificate: Meaning = {
  sentence: 'The engine requires a client certificate, which Perch does not have.',
  advice: 'Set `tls-auth-clients no` in the configuration of the engine.',
};

/** Meanings of error replies and https://nodejs.org/api/tls.html#x509-certificate-error-codes. */
const meanings: Readonly<Record<string, Meaning>> = {
  LOADING: { sentence: 'The engine is loading its data.' },
  READONLY: { sentence: 'The engine is a replica, which refuses changes.' },
  MASTERDOWN: { sentence: 'The engine is a replica that has lost its primary.' },
  CLUSTERDOWN: { sentence: 'The cluster is down.' },
  TRYAGAIN: { sentence: 'The cluster is moving data.' },
  NOAUTH: { sentence: 'The engine requires a password.', advice: login },
  WRONGPASS: { sentence: 'The engine refuses the user name or the password.', advice: login },
  NOPERM: {
    sentence: 'The engine refuses a command to the user of Perch.',
    advice:
      'Give the user in PERCH_REDIS_URL the permissions in docs/instances.md, under “Requirements of Valkey or Redis”.',
  },
  OOM: { sentence: 'The engine has no memory left, so it refuses changes.' },
  MISCONF: { sentence: 'The engine cannot write to its disk, so it refuses changes.' },
  NOREPLICAS: { sentence: 'The engine has too few replicas, so it refuses changes.' },
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  CERT_HAS_EXPIRED: {
    sentence: 'The certificate of the engine has expired.',
    advice: 'Renew the certificate, and check the clock of this machine.',
  },
  CERT_NOT_YET_VALID: {
    sentence: 'The certificate of the engine is not valid yet.',
    advice: 'Check the clock of this machine.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    sentence: 'The certificate of the engine is for another host name.',
    advice: 'Use a host name of the certificate in PERCH_REDIS_URL.',
  },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: noClientCertificate,
  ERR_SSL_TLS_ALERT_CERTIFICATE_REQUIRED: noClientCertificate,
};

function meaningOf(fault: string): Meaning | undefined {
  const [code = ''] = fault.split(' ', 1);
  return meanings[code];
}

/** Converts the reason for an outage to a sentence for operators. */
export function describeFault(fault: string): string {
  const meaning = meaningOf(fault);
  if (meaning !== undefined) return meaning.sentence;
  const isSlow = /^it (?:did not answer within \d+ ms|has not answered yet)$/.test(fault);
  return isSlow ? `${fault.replace(/^it/, 'The engine')}.` : 'The engine cannot be reached.';
}

/** Returns advice for operators; `null` if the engine may only have to be started. */
export const adviceFor = (fault: string): string | null => meaningOf(fault)?.advice ?? null;

/** Converts an EngineError to a sentence without the text of the error. */
export const describeEngineError = ({ message, isOutage }: EngineError): string =>
  isOutage || meaningOf(message) !== undefined
    ? describeFault(message)
    : 'The engine refuses a command of Perch.';
