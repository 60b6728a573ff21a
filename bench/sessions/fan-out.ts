import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../interleave.ts';
import { cpuSeconds, type Target } from '../processes.ts';
import { type ClientSession, createSessionClient, parseLines } from './client.ts';
import { readTogether } from './reader-process.ts';
import {
  rounds,
  size,
  startBareStream,
  startScripted,
  withFolder,
  withTargets,
} from './servers.ts';

const goal = 0.5;

const readers = Math.ceil(size / 10);

/** Number of answers, each with 40 pieces of text. All answers together have about 900 events. */
const turns = 20;
const message = '40 pieces of 64';

/** Throughput of the readers that are connected to one server. */
interface Rate {
  readonly eventsPerSecond: number;
  /** CPU time of the server for each event sent to a reader, in microseconds. */
  readonly cpuMicroseconds: number;
}

interface Pair {
  readonly own: Rate;
  readonly bare: Rate;
}

interface Setting {
  readonly own: Target;
  readonly bare: Target;
  readonly session: ClientSession;
  /** Number of events of all answers in the session. */
  readonly events: number;
}

/** Compares the throughput of a session and of a plain Fastify stream with many readers. Returns Markdown lines. */
export async function benchFanOut(): Promise<string[]> {
  const measured = await withFolder(measure);
  return [
    `### ${readers} readers of one session`,
    '',
    `${measured.events.toLocaleString('en-US')} events, by an engine that answers in pieces as fast as they are taken. The bare Fastify stream has`,
    'the same lines in memory, records nothing, and writes each by itself. `recorded`: all readers ask for',
    'the session from its first event. `as it happens`: all follow it while it is answered; the bare server',
    'writes a line to all of them in each turn of its event loop. The servers take turns; the ratio is the',
    `median over the rounds, events counted at each reader. Goal: at least ${goal.toFixed(1)} of the events a second.`,
    '',
    '| read | events/s | bare Fastify | ratio | CPU µs/event | bare | ratio |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    toRow('recorded', measured.recorded),
    toRow('as it happens', measured.live),
    '',
  ];
}

async function measure(folder: string) {
  const own = await startScripted({ folder });
  return withTargets([own], async () => {
    const client = createSessionClient(own);
    const session = await client.start(message);
    for (let turn = 1; turn < turns; turn += 1) {
      await client.read(session);
      await client.say(session, message);
    }
    const text = await client.read(session);
    client.close();
    const file = join(folder, 'lines.ndjson');
    writeFileSync(file, text);
    const bare = await startBareStream(file, { folder });
    return withTargets([bare], async () => {
      const setting = { own, bare, session, events: parseLines(text).length };
      const recorded = await interleave(setting, compareRecorded);
      const live = await interleave(setting, compareLive);
      return { recorded, live, events: setting.events };
    });
  });
}

async function interleave(
  setting: Setting,
  compare: (setting: Setting) => Promise<Pair>,
): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  await compare(setting); // warms up
  for (let round = 0; round < rounds; round += 1) pairs.push(await compare(setting));
  return pairs;
}

async function compareRecorded({ own, bare, session, events }: Setting): Promise<Pair> {
  const path = `/svc/v1/session/${session.id}/stream?follow=false`;
  const ours = await take(own, { path, events });
  const bares = await take(bare, { path: '/recorded', events });
  if (ours.text !== bares.text) throw new Error('The servers sent different lines.');
  return { own: ours.rate, bare: bares.rate };
}

async function compareLive({ own, bare, events }: Setting): Promise<Pair> {
  const client = createSessionClient(own);
  const session = await client.start('1 pieces of 64');
  const before = parseLines(await client.read(session)).length;
  const path = `/svc/v1/session/${session.id}/stream?follow=true&startIndex=${before}`;
  const ask = () => Promise.all(Array.from({ length: turns }, () => client.say(session, message)));
  const ours = await take(own, { path, events: events - 1 }, ask);
  client.close();
  const found = parseLines(ours.text);
  // The first event of a session does not belong to a turn.
  if (found.length !== events - 1)
    throw new Error(`${found.length} events instead of ${events - 1}`);
  if (found.some(({ meta }, at) => meta.index !== before + at)) throw new Error('a gap');
  const begin = () => fetch(bare.url.replace('/svc/v1/health', '/live'), { method: 'POST' });
  const bares = await take(bare, { path: '/live', events }, begin);
  return { own: ours.rate, bare: bares.rate };
}

interface Path {
  readonly path: string;
  readonly events: number;
}

async function take(target: Target, { path, events }: Path, begin?: () => Promise<unknown>) {
  const port = Number(new URL(target.url).port);
  const before = cpuSeconds(target.pid);
  const { ms, text } = await readTogether({ port, path, readers, turns }, begin);
  const taken = events * readers;
  const cpu = cpuSeconds(target.pid) - before;
  const rate: Rate = { eventsPerSecond: (taken / ms) * 1000, cpuMicroseconds: (cpu / taken) * 1e6 };
  return { rate, text };
}

function toRow(name: string, pairs: readonly Pair[]): string {
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick));
  const rate = (pick: (pair: Pair) => number) => Math.round(of(pick)).toLocaleString('en-US');
  const cells = [
    name,
    rate(({ own }) => own.eventsPerSecond),
    rate(({ bare }) => bare.eventsPerSecond),
    of(({ own, bare }) => own.eventsPerSecond / bare.eventsPerSecond).toFixed(2),
    of(({ own }) => own.cpuMicroseconds).toFixed(2),
    of(({ bare }) => bare.cpuMicroseconds).toFixed(2),
    of(({ own, bare }) => own.cpuMicroseconds / bare.cpuMicroseconds).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}
