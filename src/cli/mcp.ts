import { systemClock } from '../lib/clock.ts';
import { openTracing } from '../lib/tracing/tracing.ts';
import { version } from '../lib/version.ts';
import { serveStdio } from '../routes/mcp/stdio.ts';
import { listDocuments, openLibrary } from '../server/wiring/documents.ts';
import { type CommandBody, type Run, withoutArguments } from './command.ts';
import { withFetching } from './reading/open-reading.ts';
import { withStopSignal } from './stop-signal.ts';

export const mcpCommand: CommandBody = {
  folder: 'created',
  details: `The tools and resources are the same as those of /mcp. No other server is needed. The command ends when
standard input ends, or on SIGTERM or SIGINT. The log goes to standard error.`,
  exits: 'Exit code: 0 stopped, 2 bad usage.',
  ...withoutArguments('mcp', {}, () => serveClient),
};

const serveClient: Run = (context) =>
  withFetching(context, async ({ reader, context: planning }, logger) => {
    const { config, stdin, stdout } = context;
    const library = openLibrary(config, logger);
    return withStopSignal((stop) =>
      serveStdio({
        version,
        documents: () => listDocuments({ config, clock: systemClock, library }),
        reader,
        context: planning,
        input: stdin,
        write: (text) => stdout.writeJson(text),
        stop,
        onDefect: (err, fields) =>
          logger.error({ ...fields, err }, 'an MCP tool call failed because of a defect'),
        tracing: openTracing(),
        onReport: (err) => logger.debug({ err }, 'an MCP message was refused'),
      }),
    );
  });
