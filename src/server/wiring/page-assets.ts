import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { packagePath } from '../../lib/files/package-path.ts';
import type { PageAssets } from '../../render/context.ts';

const styleSheets = ['theme.css', 'site.css', 'post.css', 'lists.css', 'page.css'];

/** Reads style sheets, script and icon. If that fails, logs the error and returns `undefined`. */
export function readPageAssets(logger: FastifyBaseLogger): PageAssets | undefined {
  const read = (name: string) => readFileSync(packagePath(`assets/${name}`), 'utf8');
  try {
    const styles = styleSheets.map((name) => compact(read(name))).join('\n');
    const icon = Buffer.from(read('favicon.svg')).toString('base64');
    const text = read('thread.js');
    return {
      styles,
      stylesHash: hash(styles),
      threadScript: { text, hash: hash(text) },
      iconUrl: `data:image/svg+xml;base64,${icon}`,
    };
  } catch (error) {
    logger.error({ err: error }, 'The styles and the script of the pages cannot be read.');
    return undefined;
  }
}

const hash = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

function compact(css: string): string {
  const parts = css.split('*/').map((part) => part.split('/*', 1)[0]);
  const lines = parts.join('').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
