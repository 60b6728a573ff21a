import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Output } from './output/output.ts';

/** Creates a logger that writes coloured text to a terminal and JSON lines to other outputs. */
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
  // Escape characters in logged values are replaced, so that only the log itself sets colours.
  const write = (line: string) => void shown.write(line.replaceAll(/\\u001b/gi, '\\ufffd'));
  return pino(numbered, { write });
}
