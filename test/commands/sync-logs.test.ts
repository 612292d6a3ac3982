import { cpSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { writeCredentials } from '../../src/client/login/credentials.ts'
import { readSession } from '../client/support/read-session.ts'
import { sharedData } from '../client/support/shared-data.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { startDouble } from '../support/eventstoredb/server.ts'
import { newWorld } from '../support/world.ts'
import { assertSame, messagesOf, tokenIn } from './support/api.ts'
import { type User, inTemporary, newUser } from './support/user.ts'

const schema = schemaOf(mainGroup)

const test = suite('sync, with the log in Postgres and in EventStoreDB')
const fixtures = join(import.meta.dirname, '..', 'fixtures', 'sync')
const recorded = sharedData()
const project = join(fixtures, 'projects', '-w-app')

const NOON = Date.UTC(2026, 0, 1, 12)
const DEVICE = '00000000-0000-4000-8000-000000000001'

/** A service under a clock that stands still: what two of them record of the same requests differs in no time. */
const openServer = async (EVENTSTORE_URL: string) => {
  const { node, database, close } = await newWorld({
    now: () => NOON,
    env: { EVENTSTORE_URL, SUMMARY_PROVIDER: 'none' },
  })
  const url = await node.app.listen({ host: '127.0.0.1', port: 0 })
  /** The read models, without what is made up anew for each session: its id and its token. */
  const models = async (): Promise<Record<string, string[]>> => {
    await node.service.visible(await node.service.log.head())
    const dump = await dumpSchema(database.url, schema, { places: false })
    return { ...dump, sessions: dump['sessions']!.map(() => 'a session') }
  }
  return { url, models, end: close }
}

/** What both services have of it, asked for by the same user. */
type Both = {
  models(): Promise<Record<string, string[]>[]>
  messages(session: string): Promise<Awaited<ReturnType<typeof messagesOf>>[]>
}

/** The same user, by the same device, syncs the same to a service with its log in Postgres, and to one on the double. */
const syncBoth = async (
  folder: string,
  sync: (user: User) => Promise<unknown>,
  look: (both: Both) => Promise<void>,
) => {
  const double = await startDouble()
  const servers = [await openServer(''), await openServer(double.url)]
  try {
    const tokens: string[] = []
    for (const [i, { url }] of servers.entries()) {
      const user = newUser(join(folder, `${i}`), url)
      await writeCredentials(user.config, { server: url, deviceId: DEVICE, others: [] })
      assert.is((await user.run('login')).how, 0)
      await sync(user)
      tokens.push(tokenIn(user.config))
    }
    assert.ok(double.store.all().some(({ stream }) => stream.startsWith('tracebook.trace-')))
    await look({
      models: () => Promise.all(servers.map(({ models }) => models())),
      messages: (session) => Promise.all(servers.map(({ url }, i) => messagesOf(url, session, tokens[i]))),
    })
  } finally {
    for (const { end } of servers) await end()
    await double.stop()
  }
}

const assertAlike = async ({ models, messages }: Both, files: readonly string[]) => {
  const [first, second] = await models()
  assert.is(first!['traces']!.length, files.length)
  for (const [table, lines] of Object.entries(first!)) assert.equal(second![table], lines, table)
  for (const file of files) {
    const sent = (await readSession(file)).messages
    for (const stored of await messages(basename(file, '.jsonl'))) assertSame(stored, sent)
  }
}

test('leads to the same read models, and gives back the same messages', () =>
  inTemporary((folder) => {
    const id = '5e550000-0000-4000-8000-000000000001'
    const files = [`${id}.jsonl`, join(id, 'subagents', 'agent-a1b2c3d4.jsonl')].map((file) => join(project, file))
    const sync = async (user: User) => {
      cpSync(fixtures, user.claude, { recursive: true })
      assert.is((await user.run('sync')).how, 0)
    }
    return syncBoth(folder, sync, (both) => assertAlike(both, files))
  }))

const ofRecorded = (data: string) =>
  inTemporary((folder) => {
    const files = globSync(join(data, 'claude-code', '*.jsonl'))
    const sync = async (user: User) => {
      const { how } = await user.run('sync', ...files)
      assert.is(how, 0, 'one recorded line is no JSON object: it is skipped and said')
    }
    return syncBoth(folder, sync, (both) => assertAlike(both, files))
  })

if (recorded) test('does so with recorded sessions, too', () => ofRecorded(recorded))
else test.skip('there are no recorded sessions beside the repository', () => {})

test.run()
