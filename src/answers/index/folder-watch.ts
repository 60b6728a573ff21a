import { type FSWatcher, watch } from 'node:fs';

/** The most folders that are watched; the system has a limit for all processes together. */
const maxFolders = 2000;

/** Watches folders for changes of the files right in them. */
export interface FolderWatch {
  /** False where a folder of the last look could not be watched: changes may go unseen. */
  readonly isComplete: boolean;
  /** Watches a folder from now on, and counts it as visited. */
  visit(folder: string): void;
  /** Stops to watch the folders that were not visited since the last call. */
  leaveOthers(): void;
  /** Resolves at the first change since the last call. */
  changed(): Promise<void>;
  /** Counts as a change. */
  upset(): void;
  close(): void;
}

/** Opens a watch over no folder yet. The caller closes it. */
export function openFolderWatch(): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let visited = new Set<string>();
  // Folders that are not watched: of the last look, and of the one under way.
  let missed = 0;
  let missing = 0;
  let change = createChange();
  const giveUp = (folder: string) => {
    missing += 1;
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    get isComplete() {
      return missed + missing === 0;
    },
    visit: (folder) => {
      visited.add(folder);
      if (watchers.has(folder)) return;
      if (watchers.size >= maxFolders) {
        missing += 1;
        return;
      }
      try {
        const watcher = watch(folder, { persistent: false }, (_, name) => {
          if (name === null || isWorthALook(name)) change.happen();
        });
        watcher.on('error', () => giveUp(folder));
        watchers.set(folder, watcher);
      } catch {
        missing += 1; // The limit of the system, or a file system that cannot tell.
      }
    },
    leaveOthers: () => {
      for (const [folder, watcher] of watchers) {
        if (visited.has(folder)) continue;
        watcher.close();
        watchers.delete(folder);
      }
      visited = new Set();
      missed = missing;
      missing = 0;
    },
    changed: async () => {
      await change.happened;
      change = createChange();
    },
    upset: () => change.happen(),
    close: () => {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** Databases and their logs are written all the time, and hidden files are read by nobody here. */
function isWorthALook(name: string): boolean {
  if (name.startsWith('.')) return name === '.gitignore';
  return !/\.(?:db|sqlite3?)(?:-\w+)?$/.test(name);
}

function createChange() {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen: () => happen() };
}
