import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitCodes } from '../../cli/exit.ts'
import { readConfig } from '../../config.ts'
import { newLogger } from '../../logger.ts'
import { serve } from '../../service/serve.ts'

const SETTINGS = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent' }

/** Prints the document of a service that is started for it, with a database in a temporary folder. */
export const print = async (): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-openapi-'))
  try {
    await chmod(folder, 0o711) // for a run as root: PostgreSQL runs as another user then, which has to enter the folder
    const config = readConfig({ ...SETTINGS, DATA_DIR: folder, DISK_RESERVE_MB: '0' })
    const running = await serve(config, newLogger(config.LOG_LEVEL), new AbortController().signal)
    try {
      const response = await fetch(`${running.url}/openapi.json`)
      console.log(JSON.stringify(await response.json(), null, 2))
      return exitCodes.ok
    } finally {
      await running.stop('fast')
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
