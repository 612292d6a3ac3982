import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Where root keeps what PostgreSQL, which does not run as root, must be able to reach. */
const OF_THE_SYSTEM = '/var/lib/tracebook'

/** Whether everybody may go through a folder and all that it lies in. */
const isOpen = (folder: string): boolean =>
  (statSync(folder).mode & 0o001) !== 0 && (dirname(folder) === folder || isOpen(dirname(folder)))

/** Two folders may have one name, and their data must not meet. */
const nameOf = (folder: string) =>
  `${basename(folder)}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`

/**
 * The data folder when none is given: `data` in the current folder. Root, whose PostgreSQL runs as another user, gets one
 * below `/var/lib/tracebook`, for each folder its own, where that user could not come here, as in a home that is closed to
 * others.
 */
export const defaultDataFolder = (folder = process.cwd(), uid = process.getuid?.()): string => {
  const here = resolve(folder, 'data')
  return uid !== 0 || existsSync(join(here, 'postgres')) || isOpen(folder)
    ? here
    : join(OF_THE_SYSTEM, nameOf(resolve(folder)))
}
