#!/usr/bin/env node
import { exitOnWriteError } from './cli/output/output.ts';
import { exitOnSignalAsInit } from './cli/stop-signal.ts';

process.setSourceMapsEnabled(true); // the build is bundled; stack traces should name source files
exitOnWriteError(process, process.exit);
exitOnSignalAsInit();
// Loading the commands takes a while, and the container can be stopped during that time.
const { runCommand } = await import('./cli/run.ts');
process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  exit: process.exit,
});
