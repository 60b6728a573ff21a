import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Output } from './output/output.ts';

/** Creates the log: lines for people on a terminal, JSON elsewhere. Tokens never reach it. */
export async function createLogger(level: string, output: Output): Promise<pino.Logger> {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (!output.isTerminal) return pino(options, { write: (line) => output.writeJson(line) });
  const { default: pretty } = await import('pino-pretty');
  const { formatters: _labels, ...numbered } = options;
  const destination = new Writable({
    write: (lines, _encoding, done) => {
      output.writeColoured(String(lines));
      done();
    },
  });
  const shown = pretty({ colorize: true, destination, sync: true });
  // The only colours are those of the log itself: a logged value cannot bring an escape sequence.
  const write = (line: string) => void shown.write(line.replaceAll(/\\u001b/gi, '\\ufffd'));
  return pino(numbered, { write });
}
