import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { printedAddressOf } from '../http/origin.ts'
import { openDatabase } from './database.ts'
import { newFront } from './front.ts'
import { type Node, openNode } from './node.ts'

export type Running = {
  /** The address that the service listens at. */
  readonly url: string
  /** The address that people use: `PUBLIC_URL`, or else `url`. */
  readonly publicUrl: string
  /** The address of the service in commands that are printed for others; undefined if it has none. */
  readonly printedAddress: string | undefined
  readonly roles: Config['ROLES']
  /** The database; printed for the operator. */
  readonly database: string
  /** `fast` answers pending requests first; `immediate` does not. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
}

const urlOf = ({ HOST }: Config, port: number): string => `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`

/** Starts the whole node: database, log, read models, HTTP. If it rejects, nothing is left running. */
export const serve = async (config: Config, logger: Logger, signal: AbortSignal): Promise<Running> => {
  const database = await openDatabase(config, logger, signal)
  const front = newFront()
  let node: Node | undefined
  const stop = async (mode: 'fast' | 'immediate') => {
    try {
      front.close()
      await node?.close(mode)
    } finally {
      await database.stop(mode)
    }
  }
  try {
    const { url: databaseUrl, isDiskLow, dataDir } = database
    node = await openNode({
      config,
      databaseUrl,
      logger,
      isDiskLow,
      ...(dataDir ? { dataDir } : {}),
      front: { ...front, use: ({ server }) => front.use(server) },
    })
    await front.listen(config)
    const url = urlOf(config, front.port())
    await database.publish(url)
    logger.info({ url, roles: config.ROLES }, 'serving')
    const publicUrl = config.PUBLIC_URL === undefined ? url : new URL(config.PUBLIC_URL).href.replace(/\/$/, '')
    const printedAddress = printedAddressOf(config, url)
    return { url, publicUrl, printedAddress, roles: config.ROLES, database: database.description, stop }
  } catch (error) {
    await stop('fast').catch(() => {})
    throw error
  }
}
