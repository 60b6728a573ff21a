#!/usr/bin/env node
import { runCommand } from './commands/run.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});
