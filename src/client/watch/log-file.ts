import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { localTime } from '../../cli/time-text.ts'

/** The name of the file in the state folder with the output of a service that has no journal. */
export const LOG_FILE = 'watch.log'

const MAX_BYTES = 1 << 20

/**
 * A stream that writes lines to a file, each with the time. When the file has reached `maxBytes`, it is renamed to `.1`, in place
 * of the one before, so that both together stay bounded. Lines that cannot be written are lost without an error.
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
