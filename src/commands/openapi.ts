import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { newLogger } from '../logger.ts'
import { serve } from '../service/serve.ts'

const SETTINGS = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'silent' }

/** The document as a service gives it that lives just for this, on an empty folder: nothing else is touched. */
const print = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-openapi-'))
  try {
    await chmod(folder, 0o711) // as root, PostgreSQL runs as somebody else, who has to get in
    const config = readConfig({ ...SETTINGS, DATA_DIR: folder, DISK_RESERVE_MB: '0' })
    const running = await serve(config, newLogger(config.LOG_LEVEL), new AbortController().signal)
    try {
      const answer = await fetch(`${running.url}/openapi.json`)
      console.log(JSON.stringify(await answer.json(), null, 2))
    } finally {
      await running.stop('fast')
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** `tracebook openapi`: the contract of this version, for generators of clients. */
export const openapiCommand = (): Command =>
  new Command('openapi').description('Print the OpenAPI document of the HTTP API').action(print)
