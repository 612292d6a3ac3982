import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { InQuarantine, Unavailable } from '../../eventstore/engine/rejected.ts'
import { isRetryable } from '../../eventstore/engine/retryable-errors.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import { type ProviderState, addProvider } from './decide.ts'
import type { ModelProvider, ModelsEvent } from './events.ts'
import { parseCatalogue } from './parse-catalogue.ts'
import { changeProviders, countModels, readCatalogue } from './refresh.ts'
import { NO_CATALOGUE } from './settings.ts'
import { isAddress } from './source.ts'

type FillingOptions = {
  readonly pool: pg.Pool
  readonly source: string
  readonly transactor: Transactor<ProviderState, ModelsEvent>
  /** The ids of the providers that the registry has, according to the whole log. @throws Unavailable */
  readonly providerIds: () => Promise<readonly string[]>
  /** Resolves once the read models show a position. @throws Unavailable */
  readonly shown: (position: bigint) => Promise<void>
  readonly now: () => number
  readonly logger: Pick<MinimalLogger, 'info' | 'warn'>
  readonly signal: AbortSignal
}

/** The first catalogue of a registry, before which nothing is written that needs prices. */
export type Filling = {
  /** Whether the registry has it, or can have none. */
  isOver(): boolean
  /** Resolves at the same time. Never rejects. */
  readonly over: Promise<void>
}

/** For a registry that is not filled at this start. */
export const NO_FILLING: Filling = { isOver: () => true, over: Promise.resolve() }

const SHIPPED = join(import.meta.dirname, 'shipped-catalogue.json')
const RETRY_MS = 1_000

/** Whether the log or the database is at fault. A provider in quarantine stays there until an operator takes it out. */
const mayPass = (error: unknown): boolean =>
  !(error instanceof InQuarantine) && (error instanceof Unavailable || isRetryable(error))

/** The catalogue of a file; otherwise the one that is part of the service, because an address may be slow or out of reach. */
const readFirst = async (source: string, signal: AbortSignal): Promise<ReadonlyMap<string, ModelProvider>> => {
  const own = isAddress(source) ? undefined : await readCatalogue(source, undefined, signal).catch(() => undefined) // the refresh logs why
  return own?.is === 'read' ? own.providers : parseCatalogue(await readFile(SHIPPED, 'utf8'))
}

/** What all nodes know of the first filling: a row beside those of the sources, which are not empty. */
const newRecord = (pool: pg.Pool, now: () => number) => ({
  /** Whether it has ended, or the registry was read from a source before. */
  isOver: async () =>
    (await pool.query('select from tracebook.catalogues where refreshed_at is not null limit 1')).rows.length > 0,
  hasBegun: async () => (await pool.query(`select from tracebook.catalogues where source = ''`)).rows.length > 0,
  begin: () =>
    pool.query(`insert into tracebook.catalogues (source, next_at) values ('', $1) on conflict do nothing`, [now()]),
  end: () =>
    pool.query(
      `insert into tracebook.catalogues (source, next_at, refreshed_at) values ('', $1, $1)
       on conflict (source) do update set refreshed_at = excluded.refreshed_at`,
      [now()],
    ),
})

/**
 * Fills a registry that has no provider. Several nodes may do so at once, and one after another that has died within: each adds the providers that
 * are missing. While the log or the database cannot be reached, or the read models are behind, it is tried again; after another failure the
 * registry stays as it is, because that must not keep people from writing.
 */
export const startFilling = (options: FillingOptions): Filling => {
  const { pool, source, transactor, providerIds, shown, now, logger, signal } = options
  const record = newRecord(pool, now)
  let isOver = false

  const add = async () => {
    const providers = await readFirst(source, signal)
    const decisions = [...providers].map(([id, provider]) => ({ id, decide: addProvider(provider) }))
    const { added, position } = await changeProviders(transactor, decisions, signal)
    await shown(position)
    logger.info({ providers: providers.size, models: countModels(providers), added }, 'the model registry is filled')
  }

  const fill = async () => {
    if (source === NO_CATALOGUE || (await record.isOver())) return
    const isEmpty = (await providerIds()).length === 0
    // Only now: a node that has added some of these providers has begun before.
    if (isEmpty || (await record.hasBegun())) {
      await record.begin()
      await add()
    }
    await record.end()
  }

  /** Returns false if it has to be tried again. */
  const attempt = async (): Promise<boolean> => {
    try {
      await fill()
      return true
    } catch (error) {
      if (mayPass(error)) return false
      if (!signal.aborted) logger.warn({ reason: (error as Error).message }, 'the model registry cannot be filled')
      return true
    }
  }

  const run = async () => {
    while (!signal.aborted && !(await attempt())) await pause(RETRY_MS, signal)
    isOver = true
  }

  return { isOver: () => isOver, over: run() }
}
