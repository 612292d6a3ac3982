import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { checkRestorable, restoreBackup } from '../../src/eventstore/backup/restore.ts'
import { readBackup } from '../../src/eventstore/backup/write.ts'
import { copyLog } from '../../src/eventstore/log/copy/copy.ts'
import { newExportWriter } from '../../src/eventstore/log/export/write.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { onServer } from '../support/database.ts'
import { type Named, type Setting, between, withDatabase } from './measure.ts'
import { REBUILD_EVENTS, fillLog } from './rebuild.ts'
import { bareCopy } from './yardsticks.ts'

const rateOf = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return (REBUILD_EVENTS * 1_000) / (performance.now() - started)
}

/** Reads the log as PostgreSQL has it. */
const bareRead = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for await (const _ of client.query(copyTo('copy log.appends to stdout')));
  await client.end()
}

const exported = async (url: string, file: string) => {
  const log = wholeAppends(openPostgresLog({ url }))
  const out = createWriteStream(file)
  const writer = newExportWriter(
    (text) =>
      new Promise((resolve, reject) => out.write(text, (error) => (error ? reject(error) : resolve(undefined)))),
  )
  for await (const event of log.readAll({ after: 0n })) await writer.event(event)
  await writer.flush()
  out.end()
  await log.close()
}

const copied = (server: string, url: string) =>
  withDatabase(server, (target) =>
    rateOf(async () => {
      const [from, to] = [openPostgresLog({ url }), openPostgresLog({ url: target })]
      await copyLog({ from, to })
      await Promise.all([from.close(), to.close()])
    }),
  )

const restored = (server: string, path: string) =>
  withDatabase(server, async (url) => {
    await onServer(url, 'drop schema log cascade; drop schema tracebook cascade')
    return rateOf(async () => restoreBackup(await checkRestorable(path), { path, url }))
  })

/** Events a second into a backup and an export, beside a COPY of the log; and into a database, beside a COPY of the events. */
export const copies = async ({ world: { databaseUrl: server } }: Setting): Promise<readonly Named[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-bench-'))
  const file = join(folder, 'backup')
  try {
    return await withDatabase(server, async (url) => {
      const log = wholeAppends(openPostgresLog({ url }))
      const lines = await fillLog(log)
      await log.close()
      const read = () => rateOf(() => bareRead(url))
      const write = async () => REBUILD_EVENTS / (await bareCopy(server, lines))
      const works = {
        backup: [
          read,
          () =>
            rateOf(() =>
              pipeline(
                readBackup({ url, at: 0 }, () => {}),
                createWriteStream(file),
              ),
            ),
        ],
        'audit-export': [read, () => rateOf(() => exported(url, join(folder, 'export')))],
        restore: [write, () => restored(server, file)],
        'log-copy': [write, () => copied(server, url)],
      } as const
      const rows: Named[] = []
      for (const [name, [yardstick, work]] of Object.entries(works))
        rows.push({ name, unit: 'events/s', ...(await between(yardstick, work)) })
      return rows
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}
