// Perch with an engine for questions such as `40 pieces of 64`: it answers with 40 pieces of text of 64 characters, or
// longer ones so that each becomes an event. It sends one piece in each iteration of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '../../src/cli/logger.ts';
import { createOutput } from '../../src/cli/output/output.ts';
import { shutDown } from '../../src/cli/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { buildApp } from '../../src/server/build-app.ts';

const words = 'the quick brown fox jumps over the lazy dog and “goes on” ';

/** Divisor for the minimum length of a piece relative to the text so far (src/sessions/turns/turn-run.ts). */
const leastShare = 16;

const engine = {
  modelId: 'perch/scripted',
  isReady: true,
  answer: async ({ text: question }, { onText }) => {
    const [, pieces = 1, length = 64] = /^(\d+) pieces of (\d+)/.exec(question) ?? [];
    let text = '';
    for (let piece = 0; piece < Number(pieces); piece += 1) {
      const size = Math.max(Number(length), Math.ceil(text.length / leastShare));
      const added = words.repeat(Math.ceil(size / words.length)).slice(0, size);
      text += added;
      onText(added);
      await nextTurn();
    }
    return { text, citations: [], abstained: false, finishReason: 'stop' };
  },
};

const loaded = loadConfig(process.env);
if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
const { config } = loaded;
const app = await buildApp({
  config,
  engine,
  clock: systemClock,
  random: systemRandom,
  logger: await createLogger('info', createOutput(process.stdout)),
});
process.once('SIGTERM', () => {
  void shutDown(app, { clock: systemClock, graceMs: 0, drainMs: 0 });
});
await app.server.listen({ host: config.HOST, port: config.PORT });
