import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { restoreFolders } from '../../src/lib/files/data-folder.ts';
import { createSeeded } from '../support/exports/seeded.ts';
import { isLongRun } from '../support/long-run.ts';
import { runHere } from '../support/run-here.ts';
import { listLeftovers, readSavedData, type SavedData, writeData } from '../support/saved-data.ts';
import { builtProgram, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** Number of times that a restore is killed. */
const kills = isLongRun ? 100 : 8;

/** When to kill a restore: before a change of the file system, or after some milliseconds. */
type Moment = Readonly<{ step: number } | { afterMs: number }>;

/** Runs `perch restore` and kills it. Returns the number of its changes of the file system; `null` if it was killed. */
function restoreAndKill(rig: Rig, moment: Moment): Promise<number | null> {
  const args = [
    '--import',
    builtProgram('kill-at-step'),
    inject('perchMain'),
    'restore',
    rig.backup,
  ];
  const step = 'step' in moment ? String(moment.step) : '';
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', PERCH_DATA_DIR: rig.data, KILL_AT_STEP: step },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if ('afterMs' in moment) setTimeout(() => child.kill('SIGKILL'), moment.afterMs);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => {
      const [, steps] = /^steps: (\d+)$/m.exec(stderr) ?? [];
      if (signal === 'SIGKILL') resolve(null);
      else if (code === 0 && steps !== undefined) resolve(Number(steps));
      else reject(new Error(`restore ended with ${code}: ${stderr}`));
    });
  });
}

interface Rig {
  /** Data folder, with the earlier data before each restore. */
  readonly data: string;
  /** Path of the backup. */
  readonly backup: string;
  readonly earlier: SavedData;
  readonly restored: SavedData;
  /** Replaces the data folder by one with the earlier data. */
  reset(): void;
}

async function createRig(): Promise<Rig> {
  const folder = temporaryFolder();
  const [template, source, data] = ['template', 'source', 'data'].map((name) => join(folder, name));
  if (template === undefined || source === undefined || data === undefined) throw new Error();
  for (const path of [template, source]) mkdirSync(path);
  writeData(template, 'earlier');
  writeData(source, 'restored');
  rmSync(`${source}/session.key`); // the earlier one must not remain
  const backup = join(folder, 'backup.zip');
  const made = await runHere(['backup', backup], { PERCH_DATA_DIR: source });
  if (made.code !== 0) throw new Error(made.stderr);
  return {
    data,
    backup,
    earlier: readSavedData(template),
    restored: readSavedData(source),
    reset: () => {
      rmSync(data, { recursive: true, force: true });
      cpSync(template, data, { recursive: true });
    },
  };
}

/** Checks that the next command finds the earlier or the restored data, and returns which of them. */
async function expectWhole(rig: Rig): Promise<'earlier' | 'restored'> {
  const isDecided = existsSync(`${rig.data}/${restoreFolders.complete}`);

  const listed = await runHere(['keys', 'list'], { PERCH_DATA_DIR: rig.data });

  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listLeftovers(rig.data)).toEqual([]);
  const found = readSavedData(rig.data);
  const [moved] = readdirSync(rig.data).filter((name) => name.startsWith('before-restore-'));
  if (moved === undefined) {
    expect(isDecided).toBe(false);
    expect(found).toEqual(rig.earlier);
    return 'earlier';
  }
  expect(found).toEqual(rig.restored);
  expect(readSavedData(`${rig.data}/${moved}`)).toEqual(rig.earlier);
  return 'restored';
}

describe('a restore that is killed', () => {
  it('leaves the earlier or the restored data complete', {
    timeout: 120_000 + kills * 10_000,
  }, async () => {
    const rig = await createRig();
    rig.reset();
    const steps = (await restoreAndKill(rig, { step: 0 })) ?? 0;
    const random = createSeeded(17);
    const outcomes: string[] = [];

    for (let kill = 0; kill < kills; kill += 1) {
      rig.reset();
      const step = 1 + (isLongRun ? kill : Math.floor((kill * steps) / kills) + random.below(3));
      const moment = step <= steps ? { step } : { afterMs: 150 + random.below(900) };
      await restoreAndKill(rig, moment);
      outcomes.push(await expectWhole(rig));
    }

    expect(new Set(outcomes)).toEqual(new Set(['earlier', 'restored']));
  });

  it('is finished by the next server', async () => {
    const rig = await createRig();
    rig.reset();
    const steps = (await restoreAndKill(rig, { step: 0 })) ?? 0;
    rig.reset();
    for (let step = steps; !existsSync(`${rig.data}/${restoreFolders.complete}`); step -= 1) {
      rig.reset();
      await restoreAndKill(rig, { step });
    }

    const server = spawnPerch(['serve'], { PERCH_DATA_DIR: rig.data, PORT: '0' });
    await server.printed(/Perch is ready/);
    const listed = await runHere(['keys', 'list'], { PERCH_DATA_DIR: rig.data });
    server.kill('SIGTERM');

    expect((await server.ended).code).toBe(0);
    expect(listed.stdout).toContain('restored');
    expect(listLeftovers(rig.data)).toEqual([]);
  });
});
