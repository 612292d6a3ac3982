import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for one test file; `remove` it after all. */
export const tempFolder = () => {
  const path = mkdtempSync(join(tmpdir(), 'tracebook-sync-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
