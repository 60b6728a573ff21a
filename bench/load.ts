import { spawn } from 'node:child_process';
import { Pool } from 'undici';
import { cpuSeconds, isInstalled, onCore, type Target } from './processes.ts';

/** Measurements of one server under load. */
export interface Measured {
  readonly requestsPerSecond: number;
  /** CPU time of the server for one request in microseconds. */
  readonly cpuMicroseconds: number;
}

export interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
}

export const generator = isInstalled('wrk') ? 'wrk' : 'undici';

/** Sends requests as fast as the server responds, for a given time. Measures the request rate and the CPU time. */
export async function measure(target: Target, options: LoadOptions): Promise<Measured> {
  const before = cpuSeconds(target.pid);
  const begin = performance.now();
  const requests =
    generator === 'wrk' ? await runWrk(target, options) : await runUndici(target, options);
  const seconds = (performance.now() - begin) / 1000;
  return {
    requestsPerSecond: requests / seconds,
    cpuMicroseconds: ((cpuSeconds(target.pid) - before) * 1e6) / requests,
  };
}

function runWrk({ url, headers }: Target, { seconds, connections }: LoadOptions): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, ...sent, url];
  const wrk = spawn(...onCore(1, 'wrk', args));
  let printed = '';
  wrk.stdout.on('data', (text) => (printed += text));
  return new Promise((resolve, reject) => {
    wrk.on('close', () => {
      const requests = /(\d+) requests in/.exec(printed)?.[1];
      if (requests === undefined || /Non-2xx|Socket errors/.test(printed))
        reject(new Error(printed));
      else resolve(Number(requests));
    });
  });
}

/** Sends the load with undici. As undici is slower than the servers, the measured request rates are lower bounds. */
async function runUndici(
  { url, headers }: Target,
  { seconds, connections }: LoadOptions,
): Promise<number> {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, { connections });
  const end = performance.now() + seconds * 1000;
  let requests = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const answer = await pool.request({ method: 'GET', path: pathname + search, headers });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
      requests += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, ask));
  await pool.close();
  return requests;
}
