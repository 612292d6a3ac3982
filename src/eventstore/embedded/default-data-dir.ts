import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** The folder for the data of root, whose PostgreSQL runs as another user. */
const SYSTEM_FOLDER = '/var/lib/tracebook'

/** Whether all users can enter a folder and all folders above it. */
const isAccessibleToAll = (folder: string): boolean =>
  (statSync(folder).mode & 0o001) !== 0 && (dirname(folder) === folder || isAccessibleToAll(dirname(folder)))

/** A name that is different for folders with the same name. */
const uniqueName = (folder: string) =>
  `${basename(folder)}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`

/**
 * The default of `DATA_DIR`: `data` in the current folder. Root's PostgreSQL runs as another user. If that user cannot enter the current
 * folder, such as root's home, the default is a folder below `/var/lib/tracebook`, a different one for each current folder.
 */
export const defaultDataDir = (folder = process.cwd(), uid = process.getuid?.()): string => {
  const here = resolve(folder, 'data')
  return uid !== 0 || existsSync(join(here, 'postgres')) || isAccessibleToAll(folder)
    ? here
    : join(SYSTEM_FOLDER, uniqueName(resolve(folder)))
}
