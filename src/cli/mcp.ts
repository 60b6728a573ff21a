import { listDocuments, openLibrary } from '../app/open/documents.ts';
import { systemClock } from '../core/clock.ts';
import { version } from '../core/version.ts';
import { problemReply } from '../http/openapi/problems.ts';
import { serveStdio } from '../mcp/stdio.ts';
import { taking } from './arguments.ts';
import { type CommandBody, exitCodes, type Run, UsageError } from './command.ts';
import { withFetching } from './reading/open-reading.ts';
import { withStopSignal } from './stop-signal.ts';

/** `perch mcp`: the tools and resources of `/mcp` for one client on standard input and output. */
export const mcpCommand: CommandBody = {
  details: `The tools and resources are those of /mcp; no server is needed. It ends when standard input ends, or
on SIGTERM or SIGINT. The log goes to standard error.`,
  exits: 'Exit code: 0 ended, 2 bad usage.',
  ...taking({}, (_, positionals) => {
    if (positionals.length === 0) return serveClient;
    throw new UsageError(`mcp takes no arguments, not ${positionals.join(' ')}`);
  }),
};

const serveClient: Run = (context) =>
  withFetching(context, async ({ reader, context: planning }, logger) => {
    const { config, stdin, stdout } = context;
    const library = openLibrary(logger);
    await withStopSignal((stop) =>
      serveStdio({
        version,
        problem: problemReply,
        documents: () => listDocuments({ config, clock: systemClock, library }),
        reader,
        context: planning,
        input: stdin,
        write: (text) => stdout.writeJson(text),
        stop,
        onDefect: (err) => logger.error({ err }, 'defect while calling a tool'),
        onReport: (err) => logger.debug({ err }, 'MCP message refused'),
      }),
    );
    return exitCodes.ok;
  });
