import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename, join, sep } from 'node:path'

/** What of `fs.watch` is used. */
export type WatchFolder = (
  folder: string,
  options: { readonly recursive: boolean },
  onEvent: (event: string, name: string | null) => void,
) => Pick<FSWatcher, 'on' | 'close'>

export type WatchedFolders = {
  /** Watches a folder as long as it is added in each round; with `below` also everything below the folders in it. */
  readonly add: (folder: string, options?: { readonly below: boolean }) => void
  /** Ends the watch of all folders that were not added since it was last called. True when all others are watched. */
  readonly settle: () => boolean
  readonly count: () => number
  readonly close: () => void
}

type Watched = { readonly watcher: Pick<FSWatcher, 'close'>; readonly identity: string; readonly below: boolean }

type Options = {
  /** Called with the path of each file or folder that was created, changed, renamed or deleted; more often than that. */
  readonly onPath: (path: string) => void
  readonly watchFolder?: WatchFolder
  /** Whether the system watches all that is below a folder at the cost of one watch: all do but Linux. */
  readonly recursive?: boolean
}

/** Identifies a folder, so that one that has replaced it is noticed; undefined if there is none. */
const identityOf = (folder: string): string | undefined => {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`
}

/** The system has no more watches for this user, or no more file descriptors. */
const isExhausted = (error: unknown): boolean =>
  ['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Watches folders with `fs.watch`: on Linux one inotify watch for each, all of them on one descriptor; elsewhere one watch for all
 * that is below a folder. No file is watched or held open.
 */
export const newWatchedFolders = ({
  onPath,
  watchFolder = watch,
  recursive = process.platform !== 'linux',
}: Options): WatchedFolders => {
  const watched = new Map<string, Watched>()
  let added = new Set<string>()
  let isComplete = true

  const end = (folder: string) => {
    watched.get(folder)?.watcher.close()
    watched.delete(folder)
  }
  const begin = (folder: string, identity: string, below: boolean) => {
    const watcher = watchFolder(folder, { recursive: below }, (event, name) => {
      onPath(name === null ? folder : join(folder, name))
      // The system reports the removal of the folder itself in the same way.
      if (event === 'rename' && name === basename(folder)) onPath(folder)
    })
    watcher.on('error', () => {
      end(folder)
      onPath(folder)
    })
    watched.set(folder, { watcher, identity, below })
  }
  const isCovered = (folder: string): boolean =>
    recursive && [...watched].some(([path, { below }]) => below && folder.startsWith(path + sep) && added.has(path))

  return {
    add: (folder, { below } = { below: false }) => {
      if (isCovered(folder)) return
      const identity = identityOf(folder)
      if (identity === undefined) return
      const known = watched.get(folder)
      const deep = recursive && (below || (known?.below === true && added.has(folder)))
      added.add(folder)
      if (known?.identity === identity && known.below === deep) return
      end(folder)
      try {
        begin(folder, identity, deep)
      } catch (error) {
        if (isExhausted(error)) isComplete = false
      }
    },
    settle: () => {
      for (const folder of watched.keys()) if (!added.has(folder)) end(folder)
      const wasComplete = isComplete
      added = new Set()
      isComplete = true
      return wasComplete
    },
    count: () => watched.size,
    close: () => {
      for (const folder of watched.keys()) end(folder)
    },
  }
}
