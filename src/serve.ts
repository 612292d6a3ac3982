import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { diskGuard } from './embedded/disk.ts'
import { lockDataDir } from './embedded/lock.ts'
import { startPostgres } from './embedded/postgres.ts'
import { buildApp } from './app.ts'
import { type OpenService, openService } from './open-service.ts'
import { waitUntilReady } from './postgres/wait-until-ready.ts'

export type Running = {
  readonly url: string
  readonly roles: Config['ROLES']
  /** A description of the database, for messages. */
  readonly database: string
  /** `fast` answers pending requests first; `immediate` does not. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

type Database = {
  readonly url: string
  readonly words: string
  isDiskLow(): boolean
  publish(serviceUrl: string): Promise<void>
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

/** Waits for a database that is starting. @throws Error at once for any other reason, with the name of the setting */
const assertReachable = async (url: string, signal: AbortSignal) => {
  try {
    await waitUntilReady(url, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { message, code } = error as { message?: string; code?: string }
    throw new Error(`DATABASE_URL: the database cannot be reached: ${message || code}`, { cause: error })
  }
}

/** The PostgreSQL of `DATABASE_URL`, or the embedded one in `DATA_DIR`, which only one process may own. */
const openDatabase = async (config: Config, logger: Logger, signal: AbortSignal): Promise<Database> => {
  if (config.DATABASE_URL) {
    await assertReachable(config.DATABASE_URL, signal)
    const nothing = async () => {}
    return { url: config.DATABASE_URL, words: 'DATABASE_URL', isDiskLow: () => false, publish: nothing, stop: nothing }
  }
  const { DATA_DIR: dataDir, DISK_RESERVE_MB: reserveMb, ROLES: roles } = config
  if (!roles.includes('api') || !roles.includes('projector'))
    throw new Error(
      `ROLES is ${roles.join()}, but the embedded PostgreSQL is for one process that does everything: ` +
        'leave ROLES out, or set DATABASE_URL',
    )
  const lock = await lockDataDir(dataDir)
  try {
    const postgres = await startPostgres({ dataDir, log: logger, signal })
    return {
      url: postgres.url,
      words: `its own PostgreSQL in ${dataDir}`,
      isDiskLow: diskGuard({ dir: dataDir, reserveMb }),
      publish: (url) => lock.publish({ url, databaseUrl: postgres.url }),
      stop: async (mode) => {
        await postgres.stop(mode)
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const MAX_DRAIN_MS = 4_000

/** Waits for pending requests, but at most 4 s: a client may read a long list very slowly. */
const closeApp = async (app: FastifyInstance, mode: 'fast' | 'immediate') => {
  const timeout = setTimeout(() => app.server.closeAllConnections(), mode === 'fast' ? MAX_DRAIN_MS : 0)
  await app.close()
  clearTimeout(timeout)
}

const addressOf = (app: FastifyInstance, { HOST, PORT }: Config): string => {
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`
}

const listen = async (app: FastifyInstance, { HOST, PORT }: Config) => {
  try {
    await app.listen({ host: HOST, port: PORT })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    throw new Error(`port ${PORT} of ${HOST} is in use; stop what uses it, or set PORT to another one`, {
      cause: error,
    })
  }
}

/** Starts the whole service: database, log, read models, HTTP. When it rejects, nothing is left running. */
export const serve = async (config: Config, logger: Logger, signal: AbortSignal): Promise<Running> => {
  const database = await openDatabase(config, logger, signal)
  let open: OpenService | undefined
  let app: FastifyInstance | undefined
  const stop = async (mode: 'fast' | 'immediate') => {
    try {
      if (app) await closeApp(app, mode)
      if (mode === 'fast') await open?.close()
    } finally {
      await database.stop(mode)
    }
  }
  try {
    const { url: databaseUrl, isDiskLow } = database
    open = await openService({ config, databaseUrl, logger, isDiskLow })
    app = await buildApp(open.service)
    await listen(app, config)
    const url = addressOf(app, config)
    await database.publish(url)
    logger.info({ url, roles: config.ROLES }, 'serving')
    return { url, roles: config.ROLES, database: database.words, stop }
  } catch (error) {
    await stop('fast').catch(() => {})
    throw error
  }
}
