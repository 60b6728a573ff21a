import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { packagePath } from '../../core/files/package-path.ts';
import type { PageAssets } from '../../render/context.ts';

const styleSheets = ['theme.css', 'site.css', 'post.css', 'page.css'];

/** Reads the style sheets and the icon of HTML pages. If reading fails, logs the error and returns `undefined`. */
export function readPageAssets(logger: FastifyBaseLogger): PageAssets | undefined {
  const read = (name: string) => readFileSync(packagePath(`assets/${name}`), 'utf8');
  try {
    const styles = styleSheets.map((name) => compact(read(name))).join('\n');
    const icon = Buffer.from(read('favicon.svg')).toString('base64');
    return {
      styles,
      stylesHash: `sha256-${createHash('sha256').update(styles).digest('base64')}`,
      iconUrl: `data:image/svg+xml;base64,${icon}`,
    };
  } catch (error) {
    logger.error({ err: error }, 'The style sheets of the pages cannot be read.');
    return undefined;
  }
}

/** Removes the comments, indentation and empty lines of a style sheet. */
function compact(css: string): string {
  const parts = css.split('*/').map((part) => part.split('/*', 1)[0]);
  const lines = parts.join('').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
