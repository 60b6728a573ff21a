import { listDocuments, openLibrary } from '../app/open/documents.ts';
import { systemClock } from '../core/clock.ts';
import { version } from '../core/version.ts';
import { problemReply } from '../http/openapi/problems.ts';
import { serveStdio } from '../mcp/stdio.ts';
import { parseCommandArgs } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { withFetching } from './reading/open-reading.ts';
import { withStopSignal } from './stop-signal.ts';

/** `perch mcp`: the tools and resources of `/mcp` for one client on standard input and output. */
export const mcpCommand: CommandBody = {
  details: `The tools and resources are those of /mcp; no server is needed. It ends when standard input ends, or
on SIGTERM or SIGINT. The log goes to standard error.`,
  exits: 'Exit code: 0 ended, 2 bad usage.',
  plan: (args) => {
    const { positionals } = parseCommandArgs(args, {});
    if (positionals.length > 0) {
      throw new UsageError(`mcp takes no arguments, not ${positionals.join(' ')}`);
    }
    return serveClient;
  },
};

function serveClient(context: CommandContext): Promise<ExitCode> {
  const { config, stdin, stdout } = context;
  return withFetching(context, async (fetching, logger) => {
    await withStopSignal((stop) =>
      serveStdio({
        version,
        problem: problemReply,
        documents: () =>
          listDocuments({ config, clock: systemClock, library: openLibrary(logger) }),
        reader: fetching.reader,
        context: fetching.context,
        input: stdin,
        write: (text) => stdout.writeJson(text),
        stop,
        onDefect: (err) => logger.error({ err }, 'defect while calling a tool'),
        onReport: (err) => logger.debug({ err }, 'MCP message refused'),
      }),
    );
    return exitCodes.ok;
  });
}
