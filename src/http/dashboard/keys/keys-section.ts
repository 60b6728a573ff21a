import type { KeyStore } from '../../../access/keys/key-store.ts';
import { escapeHtml } from '../../../render/html/escape.ts';
import type { DashboardSection } from '../pages.ts';
import { dashboardPath } from '../paths.ts';

const keysPath = `${dashboardPath}/keys`;

interface KeysSectionOptions {
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
}

/** Creates the pages that manage API keys. */
export function createKeysSection({ keys }: KeysSectionOptions): DashboardSection {
  return {
    link: { path: keysPath, text: 'Keys' },
    register: ({ page }) => {
      page({
        url: keysPath,
        show: async () => {
          const items = (await keys.list()).map(({ label }) => `<li>${escapeHtml(label)}</li>`);
          return { title: 'Keys', bodyHtml: `<h1>Keys</h1><ul>${items.join('')}</ul>` };
        },
      });
    },
  };
}
