import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type CommandContext, documents, newCommandContext, run } from './support/commands.ts'
import { line, userLine } from './support/session-file.ts'

const test = suite<CommandContext>('the sessions that the command status tells of')

test.before.each(async (context) => {
  Object.assign(context, await newCommandContext())
  age(context, 1)
})
test.after.each(({ close }) => close())

const project = ({ claude }: CommandContext) => join(claude, 'projects', '-w-app')

/** Nothing was written to these sessions for so many days. */
const age = (context: CommandContext, days: number): void => {
  const at = new Date(Date.now() - days * 24 * 60 * 60_000)
  for (const name of readdirSync(project(context), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.jsonl')) utimesSync(join(project(context), name), at, at)
}

const sessionsOf = async (context: CommandContext) => documents((await run(context, 'status', '--json')).out)[0]!

test('status counts sessions in total, sent and not sent', async (context) => {
  await run(context, 'login')
  assert.match(
    (await run(context, 'status')).out,
    /\nsessions {3}2 here: 2 not sent; send them with: .*tracebook sync\n/,
  )
  await run(context, 'sync')
  writeFileSync(join(project(context), 's-2.jsonl'), `${userLine('u-1', 'Hello')}\n`)
  const { out } = await run(context, 'status')
  assert.match(out, /\nsessions {3}3 here: 2 sent, 1 not sent; send them with: .*tracebook sync\n/)
  assert.not.match(out, 'expiring')
  const { sessions, waiting } = await sessionsOf(context)
  assert.equal(sessions, { here: 3, sent: 2, unsent: 1, expiring: { sessions: 0, unsent: 0 }, linked: [] })
  assert.equal(waiting, { new: 1, changed: 0, unchanged: 2 })
})

test('status counts sessions that their agent will delete within a week, also while the service is unreachable, and says how to save them', async (context) => {
  await run(context, 'login')
  age(context, 28)
  const saving =
    /\nexpiring {3}2 sessions that Claude Code deletes within a week, 2 of them not sent; save them with: .*tracebook sync\n/
  assert.match((await run(context, 'status')).out, saving)
  await run(context, 'sync')
  assert.match(
    (await run(context, 'status')).out,
    /\nexpiring {3}2 sessions that Claude Code deletes within a week, all of them sent\n/,
  )
  const agents = await run(context, 'agents')
  assert.match(agents.out, /\n {2}2 sessions that Claude Code deletes within a week, all of them sent\n/)
  writeFileSync(join(context.claude, 'settings.json'), '{"cleanupPeriodDays":90}')
  assert.not.match((await run(context, 'status')).out, 'expiring')
  await context.server.close()
  writeFileSync(join(context.claude, 'settings.json'), '{"cleanupPeriodDays":30}')
  const away = await sessionsOf(context)
  assert.equal(away['sessions'], { here: 2, sent: 2, unsent: 0, expiring: { sessions: 2, unsent: 0 }, linked: [] })
})

test('a linked folder and a linked file are named by status, agents and sync, which upload it when it is named', async (context) => {
  await run(context, 'login')
  const [outside, link] = [join(context.home, 'shared', '-w-linked'), join(context.claude, 'projects', '-w-linked')]
  mkdirSync(outside, { recursive: true })
  writeFileSync(join(outside, 's-9.jsonl'), `${userLine('u-1', 'Linked', { sessionId: 's-9' })}\n`)
  symlinkSync(outside, link)
  const file = join(context.claude, 'projects', '-w-app', 's-8.jsonl')
  writeFileSync(join(context.home, 's-8.jsonl'), `${userLine('u-1', 'Alone', { sessionId: 's-8' })}\n`)
  mkdirSync(dirname(file), { recursive: true })
  symlinkSync(join(context.home, 's-8.jsonl'), file)
  const said = `1 linked folder and 1 linked file left out: name them to upload them (${link}, ${file})`
  assert.ok((await run(context, 'sync')).err.includes(`${said}\n`))
  assert.ok((await run(context, 'status')).out.includes(`\nleft out   ${said}\n`))
  assert.ok((await run(context, 'agents')).out.includes(`\n  ${said}\n`))
  const [told] = documents((await run(context, 'sync', '--json')).out).filter(({ type }) => type === 'left_out')
  assert.equal(told, { type: 'left_out', folders: [link], files: [file], message: said })
  assert.equal(((await sessionsOf(context))['sessions'] as { readonly linked: unknown }).linked, [file, link])
  const named = await run(context, 'sync', link, file)
  assert.equal([named.code, named.err], [0, ''])
  assert.match(named.out, /synced 2 sessions/)
})

test('status counts sessions without a login', async (context) => {
  age(context, 40)
  const { out } = await run(context, 'status')
  assert.match(out, /\nsessions {3}2 here; unknown how many were sent\n/)
  assert.match(
    out,
    /\nexpiring {3}2 sessions that Claude Code deletes within a week; save them with: .*tracebook sync\n/,
  )
  assert.equal((await sessionsOf(context))['sessions'], { here: 2, expiring: { sessions: 2 }, linked: [] })
})

test('status says how many parts of unknown kinds were left out', async (context) => {
  await run(context, 'login')
  assert.not.match((await run(context, 'status')).out, 'left out')
  const unknown = ['dream', 'dream', 'song'].map((type) => line({ type }))
  writeFileSync(join(project(context), 's-2.jsonl'), `${[userLine('u-1', 'Hello'), ...unknown].join('\n')}\n`)
  assert.match((await run(context, 'sync')).err, /\n?3 parts of unknown kinds left out: dream, song\n/)
  assert.match((await run(context, 'status')).out, /\nleft out {3}3 parts of unknown kinds left out: dream, song\n/)
  const { sessions } = await sessionsOf(context)
  assert.equal((sessions as { leftOut: unknown }).leftOut, { parts: 3, kinds: ['dream', 'song'] })
})

test.run()
