import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPostgres } from '../../src/eventstore/embedded/postgres.ts'
import { inDataDir } from '../eventstore/embedded/support.ts'
import { onServer, withConnection } from '../support/database.ts'
import { silent } from '../support/silent.ts'
import { until } from '../support/until.ts'
import { withDatabase } from './measure.ts'

const test = suite('databases of the bench')

/** Runs work with the URLs of a server of its own, for its usual role, and for the superuser, as which its autovacuum runs. */
const withServer = (work: (url: string, ofSuperuser: string) => Promise<void>) =>
  inDataDir(async (dataDir) => {
    const { url, pid, stop } = await startPostgres({ dataDir, log: silent })
    try {
      const ofSuperuser = new URL(url)
      ofSuperuser.username = 'postgres'
      await writeFile(join(dataDir, 'postgres.hba'), 'local all all trust\n')
      process.kill(pid(), 'SIGHUP')
      const isLetIn = () => onServer(ofSuperuser.href, 'select 1').catch(() => undefined)
      await until(isLetIn)
      await work(url, ofSuperuser.href)
    } finally {
      await stop('immediate')
    }
  })

test('one is removed also if a process of the superuser works on it, as an autovacuum, once that ends', () =>
  withServer(async (server, ofSuperuser) => {
    const { promise: created, resolve: create } = Promise.withResolvers<string>()
    const { promise: used, resolve: use } = Promise.withResolvers<void>()
    const removed = withDatabase(server, (url) => (create(new URL(url).pathname), used))
    const place = Object.assign(new URL(ofSuperuser), { pathname: await created })
    await withConnection(place.href, async (client) => {
      use()
      const attempts = new Set<unknown>()
      await until(async () => {
        const { rows } = await client.query("select pid from pg_stat_activity where query like 'drop database%'")
        for (const { pid } of rows) attempts.add(pid)
        return attempts.size > 1
      })
    })
    await removed
    const left = await onServer(server, "select datname from pg_database where starts_with(datname, 'bench_')")
    assert.equal(left.rows, [])
  }))

test.run()
