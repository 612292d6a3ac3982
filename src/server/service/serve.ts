import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { buildApp } from './app.ts'
import { ifLate } from '../../base/waits.ts'
import { openDatabase } from './database.ts'
import { type OpenService, openService } from './open.ts'

export type Running = {
  /** The address that the service listens at. */
  readonly url: string
  /** The address that people use: `PUBLIC_URL`, or else `url`. */
  readonly publicUrl: string
  readonly roles: Config['ROLES']
  /** The database; printed for the operator. */
  readonly database: string
  /** `fast` answers pending requests first; `immediate` does not. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

const MAX_DRAIN_MS = 4_000

/** Waits up to 4 s for requests in flight: a client may read a long list slowly. */
const closeApp = (app: FastifyInstance, mode: 'fast' | 'immediate'): Promise<void> =>
  ifLate(mode === 'fast' ? MAX_DRAIN_MS : 0, () => app.server.closeAllConnections(), app.close())

const urlOf = (app: FastifyInstance, { HOST, PORT }: Config): string => {
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`
}

const listen = async (app: FastifyInstance, { HOST, PORT }: Config) => {
  // For `localhost` Fastify would open a second server at ::1, which would bound no connections, and leave errors to Node.
  const host = HOST === 'localhost' ? '127.0.0.1' : HOST
  try {
    await app.listen({ host, port: PORT })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    throw new Error(`port ${PORT} of ${HOST} is in use: stop the program that uses it, or set PORT to another one`, {
      cause: error,
    })
  }
}

/** Starts the whole service: database, log, read models, HTTP. If it rejects, nothing is left running. */
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
    const { url: databaseUrl, isDiskLow, dataDir } = database
    open = await openService({ config, databaseUrl, logger, isDiskLow, ...(dataDir ? { dataDir } : {}) })
    app = await buildApp(open.service)
    await listen(app, config)
    const url = urlOf(app, config)
    await database.publish(url)
    logger.info({ url, roles: config.ROLES }, 'serving')
    const publicUrl = config.PUBLIC_URL === undefined ? url : new URL(config.PUBLIC_URL).href.replace(/\/$/, '')
    return { url, publicUrl, roles: config.ROLES, database: database.description, stop }
  } catch (error) {
    await stop('fast').catch(() => {})
    throw error
  }
}
