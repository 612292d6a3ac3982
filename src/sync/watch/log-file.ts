import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { localTime } from '../../cli/time-text.ts'

/** The name of the file in the state folder that holds what a service said that has no journal. */
export const LOG_FILE = 'watch.log'

const MAX_BYTES = 1 << 20

/**
 * A stream that writes lines to a file, each with the time. When the file has reached `maxBytes`, it is renamed to `.1`, in place
 * of the one before: both together stay bounded. What cannot be written is lost: nothing fails for it.
 */
export const logFile = (path: string, maxBytes = MAX_BYTES): Pick<NodeJS.WriteStream, 'write'> => ({
  write: (text: string | Uint8Array) => {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= maxBytes) renameSync(path, `${path}.1`)
      const lines = String(text).trimEnd().split('\n')
      appendFileSync(path, lines.map((line) => `${localTime(Date.now())} ${line}\n`).join(''), { mode: 0o600 })
      return true
    } catch {
      return false
    }
  },
})
