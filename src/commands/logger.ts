import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Output } from './command.ts';

/** Creates the log: lines for people on a terminal, JSON elsewhere. Tokens never reach it. */
export async function createLogger(level: string, output: Output): Promise<pino.Logger> {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (output.isTTY !== true) return pino(options, { write: (line) => void output.write(line) });
  const { default: pretty } = await import('pino-pretty');
  const { formatters: _labels, ...numbered } = options;
  const destination = new Writable({
    write: (lines, _encoding, done) => {
      output.write(String(lines));
      done();
    },
  });
  return pino(numbered, pretty({ colorize: true, destination, sync: true }));
}
