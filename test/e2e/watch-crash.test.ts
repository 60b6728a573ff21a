import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startGrowingTimeline } from '../support/growing-timeline.ts';
import { isLongRun } from '../support/long-run.ts';
import { builtProgram, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';
import { startWebhookReceiver, webhookSecret } from '../support/webhook-receiver.ts';

const kills = isLongRun ? 100 : 6;

/** Returns the ids of the whole lines. A line that the kill cut off is not a printed post. */
function idsIn(stdout: string): readonly string[] {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => String(JSON.parse(line).id));
}

it(
  `loses no post and prints none twice within a run, with ${kills} kills at random moments`,
  async () => {
    const timeline = await startGrowingTimeline(50);
    const receiver = await startWebhookReceiver();
    const state = `${temporaryFolder()}/wren.json`;
    const args = ['watch', '@wren', '--state', state, '--format', 'ndjson', '--every', '1s'];
    const all = [...args, '--webhook', receiver.url];
    const env = { ...timeline.env, PERCH_WEBHOOK_SECRET: webhookSecret };
    const runs: (readonly string[])[] = [];
    const start = await spawnPerch([...all, '--once'], env).ended;
    expect(start).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const old = new Set(timeline.ids);

    for (let kill = 0; kill < kills; kill += 1) {
      // On a slow machine, the runs deliver fewer posts than these, and more than 2000 cannot be read at once.
      const waiting = timeline.ids.length - old.size - new Set(runs.flat()).size;
      timeline.publish(waiting > 300 ? 1 : Math.ceil(60 * Math.random()));
      const perch = spawnPerch(all, env);
      // Most kills hit the deliveries, and some the start of the command or the wait after the deliveries.
      if (Math.random() < 0.8) await perch.printed(/\n/);
      await sleep(400 * Math.random());
      timeline.publish(Math.floor(3 * Math.random()));
      await sleep(400 * Math.random());
      perch.kill('SIGKILL');
      const { signal, stdout, stderr } = await perch.ended;
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      runs.push(idsIn(stdout));
    }
    const last = await spawnPerch([...all, '--once'], env).ended;
    runs.push(idsIn(last.stdout));

    expect(last).toMatchObject({ code: 0, stderr: '' });
    const wanted = timeline.ids.filter((id) => !old.has(id));
    const sorted = (ids: Iterable<string>) => [...new Set(ids)].sort();
    expect(sorted(runs.flat())).toEqual(sorted(wanted));
    expect(sorted(receiver.received.map(({ postId }) => postId))).toEqual(sorted(wanted));
    for (const ids of runs) expect(new Set(ids).size).toBe(ids.length);
    expect(receiver.faults).toEqual([]);
    // At most the post of the kill is printed again, so a state that is never stored would fail here.
    expect(runs.flat().length).toBeLessThanOrEqual(wanted.length + kills);
  },
  isLongRun ? 1_200_000 : 300_000,
);

it(
  'loses no post if it is killed before any change of a file',
  async () => {
    const nodeArgs = ['--import', builtProgram('kill-at-step')];
    const timeline = await startGrowingTimeline(30);
    const state = `${temporaryFolder()}/wren.json`;
    const args = ['watch', '@wren', '--state', state, '--format', 'ndjson', '--once'];
    const run = (step: string) =>
      spawnPerch(args, { ...timeline.env, KILL_AT_STEP: step }, { nodeArgs }).ended;
    expect(await run('')).toMatchObject({ code: 0, stdout: '' });
    timeline.publish(2);
    const whole = await run('');
    const steps = Number(/^steps: (\d+)$/m.exec(whole.stderr)?.[1]);
    expect(steps).toBeGreaterThan(10);

    // A short run tries one step of seven.
    for (let step = 1; step <= steps; step += isLongRun ? 1 : 7) {
      const added = timeline.publish(2);
      const killed = await run(String(step));
      const rest = await run('');
      expect(killed.signal).toBe('SIGKILL');
      expect(rest.code).toBe(0);
      const printed = [...idsIn(killed.stdout), ...idsIn(rest.stdout)];
      expect([...new Set(printed)]).toEqual(added);
      expect(printed.length).toBeLessThanOrEqual(added.length + 1);
    }
  },
  isLongRun ? 1_200_000 : 300_000,
);
