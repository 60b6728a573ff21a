import { X509Certificate } from 'node:crypto';
import { readBoundedText, UnusableTextError } from '../files/bounded-text.ts';
import { UnusableEngineError } from './engine-error.ts';

const maxBytes = 1_048_576;

/** Returns PEM certificates. Throws UnusableEngineError if the file has none or is unreadable. */
export function readAuthority(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const text = readBoundedText(path, maxBytes);
    new X509Certificate(text); // reads the first certificate, or throws an error
    return text;
  } catch (cause) {
    const reason = cause instanceof UnusableTextError ? cause.reason : 'contains no certificate';
    const fault = `PERCH_REDIS_CA_FILE is ${JSON.stringify(path)}, but this file ${reason}. Set it to a file with certificates in PEM.`;
    throw new UnusableEngineError(fault, { cause });
  }
}
