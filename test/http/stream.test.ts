import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newStreams } from '../../src/http/stream.ts'
import { newPool } from '../../src/postgres/connect.ts'
import { freshDatabase, onServer } from '../support/database.ts'

const test = suite('http: long lists')

const NAME = 'stream test'
const database = await freshDatabase()
const pool = newPool(database.url, NAME, 2, 0)
const { stream } = newStreams(pool)
test.after(async () => {
  await pool.end()
  await database.drop()
})

type Numbered = { n: number; text: string }
const parts = (toText: (row: Numbered) => string | undefined) => ({ before: '[', toText, after: () => ']' })
const numbers = (count: number, length = 1) => ({
  text: `select n, repeat('x', $2) as text from generate_series(1, $1::int) n`,
  values: [count, length],
})

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await setTimeout(5)
}

const sessions = async () => {
  const running = `select from pg_stat_activity where application_name = $1 and datname = current_database()`
  return (await onServer(database.url, running, [`tracebook ${NAME}`])).rows.length
}

/** The database has sent all, or cannot get rid of it, as often as one looks. */
const isStuck = async () => {
  for (let looks = 0; looks < 10; looks++) {
    const { rows } = await onServer(
      database.url,
      `select state = 'idle' or wait_event = 'ClientWrite' as stuck from pg_stat_activity where application_name = $1`,
      [`tracebook ${NAME}`],
    )
    if (rows.length === 0 || !rows.every(({ stuck }) => stuck)) return false
  }
  return true
}

test('hold all rows in order, however many, and give their connection back', async () => {
  for (const count of [0, 1, 7, 20_000]) {
    const readable = await stream(
      numbers(count),
      parts(({ n }: Numbered) => String(n)),
    )
    assert.equal(
      JSON.parse(await text(readable)),
      Array.from({ length: count }, (_, i) => i + 1),
    )
  }
  await until(() => pool.idleCount === pool.totalCount)
  assert.is(pool.totalCount, 1)
})

test('leave out what has no text', async () => {
  const readable = await stream(
    numbers(6),
    parts(({ n }: Numbered) => (n % 2 ? undefined : String(n))),
  )
  assert.is(await text(readable), '[2,4,6]')
})

test('take no more from the database than their reader takes, also where rows are large', async () => {
  const MiB = 1024 * 1024
  let taken = 0
  const count = ({ text }: Numbered) => {
    taken += 1
    return JSON.stringify(text)
  }
  const readable = await stream(numbers(60, MiB), parts(count))
  readable.read(1)
  await until(isStuck)
  assert.ok(taken < 5, `${taken}`)
  let length = 1
  for await (const chunk of readable) {
    length += (chunk as Buffer).length
    assert.ok(taken * MiB - length < 5 * MiB, `${taken} MiB of ${length}`)
  }
  assert.is(taken, 60)
  assert.is(length, 60 * (MiB + 2) + 59 + 2)
})

test('end with their reader, who leaves no session behind', async () => {
  const open = () =>
    stream(
      numbers(60, 1024 * 1024),
      parts(({ text }: Numbered) => JSON.stringify(text)),
    )
  const readers: Readable[] = [await open(), await open()]
  for (const reader of readers) reader.destroy()
  await until(async () => pool.totalCount === 0 && (await sessions()) === 0)
})

test('say what is wrong before anything is sent, and break off after that', async () => {
  const dividing = (by: string) => ({ text: `select 1 / ${by} as n from generate_series(0, 9999) g`, values: [] })
  const toText = ({ n }: Numbered) => String(n).padStart(100)
  const failed = await stream(dividing('g'), parts(toText)).catch((error: Error) => error)
  assert.match(String(failed), 'division by zero')
  for (const readable of [
    await stream(dividing('(9999 - g)'), parts(toText)),
    await stream(
      numbers(20_000),
      parts(({ n }: Numbered) => {
        if (n > 10_000) throw new Error('no text')
        return String(n)
      }),
    ),
  ]) {
    readable.resume()
    const [error] = await once(readable, 'error').catch((error: Error) => [error])
    assert.match(String(error), /division by zero|no text/)
  }
  await until(() => pool.idleCount === pool.totalCount)
})

test.run()
