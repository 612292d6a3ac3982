import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../src/client/agents/index.ts'
import { findSessionFiles, type Linked } from '../../src/client/agents/session-files.ts'
import { linksLeftOut } from '../../src/client/report/text.ts'
import { type ClientWorld, newWorld } from './support/client-world.ts'
import { userLine } from './support/session-file.ts'
import { sessionsOfTheField } from './support/shared-data.ts'
import type { StoredMessage, StoredTrace } from './support/service-world.ts'

const test = suite<{ world: ClientWorld }>('sessions as people report them')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const field = sessionsOfTheField()
const projects = (world: ClientWorld) => join(world.home, '.claude', 'projects')

/** Puts a situation below the user's home: sessions that lie in no folder of an agent into one of Claude Code's. */
const put = (world: ClientWorld, situation: string): void => {
  const from = join(field!, situation)
  const folder = join(projects(world), '-home-dev')
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(from))
    cpSync(join(from, name), join(name.startsWith('.') ? world.home : folder, name), { recursive: true })
}
const sync = (world: ClientWorld) => world.sync({ agents })

const found = (world: ClientWorld, id: string): StoredTrace =>
  world.server.traces.find(({ externalId }) => externalId.startsWith(id))!
const textOf = (trace: StoredTrace): string => JSON.stringify([...trace.messages.values()])
const typedIn = (trace: StoredTrace): readonly unknown[] =>
  [...trace.messages.values()].flatMap(({ role, parts }) =>
    role === 'user' ? parts.flatMap(({ type, content }) => (type === 'text' ? [content['text']] : [])) : [],
  )
const titleOf = (trace: StoredTrace) => trace.fields['title']

const inField = (situation: string, holds: (world: ClientWorld) => Promise<void>): void => {
  if (field === undefined) return
  test(situation, async ({ world }) => {
    put(world, situation)
    await holds(world)
  })
}

inField('01-codex-segments', async (world) => {
  await sync(world)
  const trace = found(world, '01a03d4c')
  const orderOf = (message: StoredMessage) => (message as StoredMessage & { readonly order: number }).order
  const all = [...trace.messages.values()]
  const texts = all
    .sort((a, b) => orderOf(a) - orderOf(b))
    .flatMap(({ parts }) => parts.map(({ content }) => content['text']))
  assert.equal(
    texts.map((text) => String(text).split(/[ :]/)[0]),
    ['first', 'Prices', 'second', 'Four', 'third', 'Committed'],
  )
  assert.equal([world.server.traces.length, titleOf(trace)], [1, 'first: make the cart round prices'])
  assert.equal(await world.writesOf({ agents }), [])
})

inField('02-spliced-lines', async (world) => {
  const { summary } = await sync(world)
  const trace = found(world, 'f1e1d002')
  for (const word of ['SPLICE-A', 'SPLICE-B', 'SPLICE-C']) assert.match(String(typedIn(trace)), word)
  assert.is([...trace.messages.values()].filter(({ role }) => role === 'assistant').length, 2)
  assert.ok(summary.skippedLines > 0 && summary.skippedBytes > 0)
})

inField('04-symlinked-project', async (world) => {
  renameSync(join(projects(world), '-home-dev', 'shared'), join(world.home, 'shared'))
  symlinkSync(join('..', '..', 'shared', '-home-dev-linked'), join(projects(world), '-home-dev-linked'))
  const links: Linked[] = []
  const home = { env: {}, home: world.home }
  await findSessionFiles(agents, [], home, () => {}, { onFolder: () => {}, onLink: (link) => links.push(link) })
  assert.match(linksLeftOut(links).message, /^1 linked folder left out/)
  await sync(world)
  assert.ok(found(world, 'f1e1d044'))
})

inField('05-server-tool-blocks', async (world) => {
  const { events } = await sync(world)
  const trace = found(world, 'f1e1d005')
  const calls = [...trace.messages.values()].flatMap(({ parts }) =>
    parts.flatMap(({ type, content }) => (type === 'tool_call' ? [String(content['toolName'])] : [])),
  )
  for (const tool of ['advisor', 'web_search', 'lookup'])
    assert.ok(
      calls.some((name) => name.includes(tool)),
      tool,
    )
  for (const word of ['ADVICE-TEXT', 'LRU-PAGE-TITLE', 'https://', 'WIKI-RESULT']) assert.match(textOf(trace), word)
  assert.not.match(textOf(trace), 'encrypted_content')
  assert.not.ok(events.some((event) => event.type === 'problem'))
})

inField('06-worktree-project', async (world) => {
  await sync(world)
  assert.equal(
    world.server.traces.map(({ fields }) => fields['projectName']),
    ['shop', 'shop', 'shop', 'shop'],
  )
})

inField('07-inline-sidechain', async (world) => {
  await sync(world)
  const [parent, child] = [
    found(world, 'f1e1d007-0000-4000-8000-000000000007'),
    found(world, 'f1e1d007-0000-4000-8000-000000000007-agent-'),
  ]
  assert.equal([child.fields['parentExternalId'], child.fields['parentCallId']], [parent.externalId, 'toolu_07t'])
  for (const word of ['SIDE-ANSWER', 'SIDE-RESULT', 'SIDE-FINAL']) assert.match(textOf(child), word)
  assert.equal(typedIn(parent), ['review the parser with a helper'])
})

inField('13-slash-command-title', async (world) => {
  await sync(world)
  const [prompted, reviewed] = [found(world, 'f1e1d014'), found(world, 'f1e1d015')]
  assert.equal(
    [titleOf(prompted), titleOf(reviewed)],
    ['REALPROMPT the invoice total is off by one cent', '/review the last commit for races'],
  )
  assert.is(typedIn(prompted).length, 1)
})

inField('14-gemini-session-context', async (world) => {
  await sync(world)
  const [trace] = world.server.traces as [StoredTrace]
  assert.is(titleOf(trace), 'GEMINI-PROMPT rename the column')
  assert.is(trace.fields['projectName'], 'shop')
  assert.not.match(textOf(trace), 'session_context')
  assert.equal([typedIn(trace).length, trace.messages.size], [2, 4])
})

inField('17-subagents-flood-lists', async (world) => {
  await sync(world)
  const parents = Map.groupBy(world.server.traces, ({ fields }) => fields['parentExternalId'])
  assert.equal([parents.get(undefined as never)?.length, world.server.traces.length], [2, 14])
})

inField('19b-redaction-of-coloured-output', async (world) => {
  await sync(world)
  const secrets = readFileSync(join(field!, '19b-redaction-of-coloured-output', 'secrets.txt'), 'utf8').split('\n')
  const text = textOf(found(world, 'f1e1d050'))
  for (const secret of secrets.filter(Boolean)) assert.not.match(text, secret)
})

inField('22-separators-bom-crlf-utf16', async (world) => {
  const { summary } = await sync(world)
  const trace = found(world, 'f1e1d023')
  assert.is(trace.messages.size, 2)
  for (const separator of ['\u2028', '\u2029', '\u0085']) assert.ok(textOf(trace).includes(separator))
  assert.ok(found(world, 'f1e1d024').messages.size > 0)
  assert.is(summary.exitCode, 0)
})

inField('32-bang-commands', async (world) => {
  await sync(world)
  const trace = found(world, 'f1e1d034')
  assert.is(titleOf(trace), 'BANG-PROMPT commit what you see')
  const texts = [...trace.messages.values()].flatMap(({ parts }) => parts.map(({ content }) => String(content['text'])))
  assert.ok(texts.includes('! git status --short'))
  for (const word of ['M src/cart.ts', '<notes> & todo.txt'])
    assert.ok(
      texts.some((text) => text.includes(word)),
      word,
    )
  assert.not.match(textOf(trace), '<bash-')
})

inField('35-folder-changes-and-moves', async (world) => {
  renameSync(join(projects(world), '-home-dev', 'old-name'), join(projects(world), 'old-name'))
  await sync(world)
  const trace = found(world, 'f1e1d052')
  assert.equal([trace.fields['projectName'], typedIn(trace).length], ['shop', 3])
  renameSync(join(projects(world), 'old-name'), join(projects(world), 'new-name'))
  const sessionId = 'f1e1d052-0000-4000-8000-000000000052'
  const more = userLine('f1e1d052-0000-4000-8000-000000009999', 'more', { sessionId })
  appendFileSync(join(projects(world), 'new-name', `${sessionId}.jsonl`), `${more}\n`)
  const { summary } = await sync(world)
  assert.equal([summary.messages, world.server.traces.length], [1, 1])
})

if (field === undefined) test.skip('no situations beside the repository')

test.run()
