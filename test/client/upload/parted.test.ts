import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newLiveSessions } from '../../../src/client/upload/live-sessions.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { newPartedFiles, type Parted, parted, type Run, textsOf } from '../support/parted.ts'

const test = suite<{ world: ClientWorld }>('one conversation in several files')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

/** The first file is gone on with after the second one was begun, and so is the second one. */
const RUNS: readonly Run[] = [
  { file: 0, turns: [0, 1] },
  { file: 1, turns: [2, 3] },
  { file: 0, turns: [4] },
  { file: 2, turns: [5] },
  { file: 1, turns: [6] },
]

/** All orders in which runs can arrive: those of one file only in theirs. */
const arrivalsOf = (runs: readonly Run[]): readonly (readonly Run[])[] => {
  if (runs.length === 0) return [[]]
  const next = runs.filter((run) => runs.find(({ file }) => file === run.file) === run)
  return next.flatMap((run) => arrivalsOf(runs.filter((other) => other !== run)).map((rest) => [run, ...rest]))
}

const orderOf = (message: object) => (message as { readonly order: number }).order

const stored = ({ server }: ClientWorld) =>
  server.traces.map(({ messages }) =>
    [...messages.values()]
      .sort((a, b) => orderOf(a) - orderOf(b))
      .flatMap(({ parts }) => parts.map(({ content }) => content['text'])),
  )

const sentBy = ({ server }: ClientWorld) =>
  server.requests
    .filter(({ path }) => path.endsWith('/batch'))
    .flatMap(({ text }) => (JSON.parse(text) as { messages: { parts: { content: { text: string } }[] }[] }).messages)
    .flatMap(({ parts }) => parts.map(({ content }) => content.text))

const conversation = (arrived: readonly Run[]) =>
  arrived
    .flatMap(({ turns }) => turns)
    .sort((a, b) => a - b)
    .flatMap(textsOf)

const codexTitle = `${JSON.stringify({
  ...{ timestamp: '2026-09-09T10:00:00Z', ordinal: 90, type: 'event_msg' },
  payload: { type: 'thread_name_updated', thread_name: 'given later' },
})}\n`

/** Lets runs arrive one after the other; after each the service has the conversation so far, and a second run sends nothing. */
const assertArrival = async (world: ClientWorld, kind: Parted, arrival: readonly Run[], isWatched: boolean) => {
  const home = mkdtempSync(join(world.home, 'home-'))
  const roots = () => kind.agent.roots({}, home)
  const options = { agents: [{ ...kind.agent, roots }], ...(isWatched ? { live: newLiveSessions() } : {}) }
  const files = newPartedFiles(home, kind)
  world.server.traces.length = 0
  for (const [index, run] of arrival.entries()) {
    files.write(run)
    world.server.requests.length = 0
    await world.sync(options)
    const where = `${kind.agent.id}, ${JSON.stringify(arrival)}, ${index}`
    const arrived = arrival.slice(0, index + 1)
    assert.equal(stored(world), [conversation(arrived)], where)
    const isLatest = arrived.every(({ turns }) => turns[0]! <= run.turns[0]!)
    if (isLatest) assert.equal(sentBy(world), run.turns.flatMap(textsOf), `only what is new: ${where}`)
    assert.equal(await world.writesOf(options), [], where)
  }
}

const all = arrivalsOf(RUNS)
for (const kind of parted) {
  const arrivals = all.filter((_, index) => index % (kind.agent.id === 'codex' ? 4 : 10) === 0)
  for (const isWatched of [false, true])
    test(`${kind.agent.name}: the messages are those of the conversation, whatever arrives first${isWatched ? ', also for a watch' : ''}`, async ({
      world,
    }) => {
      for (const arrival of arrivals) await assertArrival(world, kind, arrival, isWatched)
    })
}

const KEY = `AKIA${'Z7QW3ERTY2UIOP5A'}`

for (const kind of parted)
  test(`${kind.agent.name}: a secret is taken out of all files, and erased from what was sent, once`, async ({
    world,
  }) => {
    const options = { agents: [kind.agent] }
    const files = newPartedFiles(world.home, kind)
    const paths = RUNS.map((run) => files.write(run))
    for (const path of new Set(paths)) writeFileSync(path, readFileSync(path, 'utf8').replaceAll('answer ', `${KEY} `))
    await world.sync({ ...options, redacting: () => undefined })
    assert.match(JSON.stringify(stored(world)), KEY)
    world.server.requests.length = 0
    const { summary } = await world.sync(options)
    assert.not.match(JSON.stringify(stored(world)), KEY)
    assert.is(stored(world)[0]!.length, 14)
    assert.equal([summary.exitCode, summary.updated], [0, 7])
    assert.is(world.server.writes().filter((write) => write.endsWith('/history/erase')).length, 1)
    assert.equal(await world.writesOf(options), [])
    rmSync(paths[0]!)
    files.write({ file: 2, turns: [7] })
    await world.sync(options)
    assert.not.match(JSON.stringify(stored(world)), KEY)
    if (kind.agent.id === 'codex') {
      assert.equal(stored(world)[0]!.slice(-2), textsOf(7))
      const title = () => world.server.traces[0]!.fields['title']
      assert.is(title(), 'prompt 0', 'what the file that is gone began with')
      appendFileSync(paths[3]!, codexTitle)
      await world.sync(options)
      assert.is(title(), 'given later')
    }
    assert.equal([stored(world)[0]!.length, await world.writesOf(options)], [16, []])
  })

test.run()
