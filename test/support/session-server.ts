import { createLogger } from '../../src/cli/logger.ts';
import { createOutput } from '../../src/cli/output/output.ts';
import { shutDown } from '../../src/cli/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { buildApp } from '../../src/server/build-app.ts';
import { answerTo, createScriptedEngine } from './scripted-engine.ts';

/**
 * Server with sessions as a separate process. Its engine is silent for SILENT_MS, and then streams chunks
 * every PIECE_MS. It prints its URL, and stops as `perch serve` does.
 */
const loaded = loadConfig(process.env);
if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
const { config } = loaded;
const pieceMs = Number(process.env.PIECE_MS ?? 5);
const silentMs = Number(process.env.SILENT_MS ?? 0);
const engine = createScriptedEngine(async (question, { signal, onText }) => {
  const answer = answerTo(question.text, { text: `${'word '.repeat(60)}${question.text}` });
  await systemClock.sleep(silentMs, signal);
  for (const piece of answer.text.match(/.{1,70}/gs) ?? []) {
    await systemClock.sleep(pieceMs, signal);
    onText(piece);
  }
  return answer;
});
const logger = await createLogger('error', createOutput(process.stdout));
const app = await buildApp({ config, logger, clock: systemClock, random: systemRandom, engine });
const address = await app.server.listen({ host: '127.0.0.1', port: config.PORT });
process.stdout.write(`listening at ${address}\n`);
process.once('SIGTERM', () => {
  void shutDown(app, {
    clock: systemClock,
    graceMs: config.PERCH_SHUTDOWN_GRACE_MS,
    drainMs: config.PERCH_SHUTDOWN_DRAIN_MS,
  });
});
