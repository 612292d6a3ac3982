import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newHashLine } from '../../../src/base/line-hashes.ts'
import { newAsk } from '../../../src/client/attribution/ask.ts'
import { lineHasher } from '../../../src/client/attribution/hunks.ts'
import { locateLines } from '../../../src/client/attribution/locate.ts'
import { knownOf } from '../../../src/client/attribution/today.ts'
import { openRepository } from '../../../src/client/git/open-repository.ts'
import type { Attributions, OneAttributionKey } from '../../../src/contract/attribution.ts'
import { runs } from '../../support/runs.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { known } from '../../server/attribution/support/sessions.ts'
import { type Home, newHome } from '../rules/support/git.ts'

const test = suite<Home>('attribution of random edits')
const { node } = await openWorld(test)
const ada = await signIn(node)

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

/** Numbers that are the same for a seed. */
const newRandom = (seed: number) => {
  let state = seed
  const below = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)]! }
}

/** A line of a file, as whoever wrote it knows: a session, or a person. */
type Written = { readonly text: string; readonly by: string | undefined }

/** Lines that everybody writes, and lines that say nothing. */
const COMMON = ['    return undefined', '  } catch (error) {', '    if (error) throw error']
const WEAK = ['}', '', '  })']

const MINUTE = 60_000

/**
 * Random edits of some files by agents, in the forms of their tools, and by a person, who types, moves and indents lines, and deletes them. What is wrong: a line
 * given to a session that never wrote its text.
 */
const newWriters = (root: string, seed: number) => {
  const { below, pick } = newRandom(seed)
  const files = new Map<string, Written[]>()
  const sessions = new Map<string, object[]>()
  /** Who wrote each text, without its white space. */
  const writers = new Map<string, Set<string>>()
  let [clock, lines, calls] = [Date.now() - 20 * 24 * 60 * MINUTE, 0, 0]
  const compared = (text: string) => text.replaceAll(/\s/g, '')
  const newText = () => {
    if (below(8) === 0) return pick(COMMON)
    return below(8) === 0
      ? pick(WEAK)
      : `${' '.repeat(2 * below(4))}const made${++lines} = compute(${seed}, ${below(900)})`
  }
  const block = (by: string | undefined): Written[] =>
    Array.from({ length: 1 + below(9) }, () => ({ text: newText(), by }))
  const note = (added: readonly Written[]) => {
    for (const { text, by } of added)
      if (by !== undefined) writers.set(compared(text), (writers.get(compared(text)) ?? new Set()).add(by))
  }
  const textOf = (written: readonly Written[]) => written.map(({ text }) => `${text}\n`).join('')

  /** A call in one of the forms that agents have, and its result. */
  const call = (session: string, file: string, before: Written[], after: Written[], whole: Written[]) => {
    const callId = `call-${seed}-${++calls}`
    const messages = sessions.get(session)!
    const [prefixed, old, now] = [join(root, file), textOf(before), textOf(after)]
    const patch = [...before.map(({ text }) => `-${text}`), ...after.map(({ text }) => `+${text}`)].join('\n')
    const isPatch = session.includes('codex')
    const isWhole = !isPatch && below(4) === 0
    const said = (toolName: string, args: object, output: string, id: string, status = 'success') => {
      const order = messages.length
      messages.push(
        {
          externalId: `${id}-c`,
          role: 'assistant',
          order,
          timestamp: clock,
          parts: [{ type: 'tool_call', content: { callId: id, toolName, args } }],
        },
        {
          externalId: `${id}-r`,
          role: 'user',
          order: order + 1,
          timestamp: clock,
          parts: [{ type: 'tool_result', content: { callId: id, toolName, output, status } }],
        },
      )
    }
    if (isPatch)
      said(
        'apply_patch',
        { input: `*** Begin Patch\n*** Update File: ${file}\n@@\n${patch}\n*** End Patch` },
        'ok',
        callId,
      )
    else if (isWhole) {
      const shown = files
        .get(file)!
        .map(({ text }, i) => `${String(i + 1).padStart(6)}\u2192${text}`)
        .join('\n')
      said('Read', { file_path: prefixed }, shown, `${callId}-read`)
      said('Write', { file_path: prefixed, content: textOf(whole) }, 'ok', callId)
    } else said('Edit', { file_path: prefixed, old_string: old, new_string: now }, 'ok', callId)
  }
  /** Replaces some lines by others; an agent names lines around them. */
  const edit = (file: string, by: string | undefined) => {
    const old = files.get(file)!
    const at = below(old.length + 1)
    const cut = below(2) === 0 ? Math.min(below(5), old.length - at) : 0
    const [from, to] = [Math.max(0, at - below(3)), Math.min(old.length, at + cut + below(3))]
    const added = block(by)
    const whole = [...old.slice(0, at), ...added, ...old.slice(at + cut)]
    if (by !== undefined)
      call(by, file, old.slice(from, to), [...old.slice(from, at), ...added, ...old.slice(at + cut, to)], whole)
    note(added)
    files.set(file, whole)
  }
  const person = (file: string) => {
    const old = files.get(file)!
    const at = below(old.length + 1)
    const some = old.slice(at, at + below(6))
    const rest = [...old.slice(0, at), ...old.slice(at + some.length)]
    const place = below(rest.length + 1)
    const what = below(5)
    if (what === 0) files.set(file, rest)
    else if (what === 1) files.set(file, [...rest.slice(0, place), ...some, ...rest.slice(place)])
    else if (what === 2)
      files.set(
        file,
        old.map((line) => ({ ...line, text: line.text.trim() === '' ? '' : `  ${line.text}` })),
      )
    else edit(file, undefined)
  }
  let session = ''
  const step = () => {
    clock += MINUTE
    if (files.size < 6 || below(200) === 0) {
      const name = `src/part${files.size}/file${files.size}.ts`
      files.set(name, [])
      return edit(name, undefined)
    }
    const file = pick([...files.keys()])
    if (session === '' || below(25) === 0) {
      session = `${pick(['claude', 'codex'])}-${seed}-${sessions.size}`
      sessions.set(session, [])
    }
    if (below(3) === 0) person(file)
    else edit(file, session)
  }
  return { files, sessions, writers, compared, textOf, step, now: () => clock, below }
}

const upload = async (sessions: ReadonlyMap<string, object[]>, projectPath: string) => {
  for (const [externalId, messages] of sessions) {
    await ada.send('PUT', `/v1/traces/${externalId}`, { agentId: externalId.split('-')[0], projectPath })
    for (let from = 0; from < messages.length; from += 200)
      await ada.send('POST', `/v1/traces/${externalId}/messages/batch`, { messages: messages.slice(from, from + 200) })
  }
}

/** A session of edits needs some of them before it says anything. */
const OPERATIONS = 400

test('a line is never given to a session that did not write it, and most have theirs', async (home) => {
  const operations = runs(OPERATIONS)
  const root = home.repository('app')
  const { files, sessions, writers, compared, textOf, step, now, below } = newWriters(root, 20_261)
  const save = () => {
    for (const [file, lines] of files) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), textOf(lines))
    }
  }
  const git = (...args: readonly string[]) => {
    const date = `@${Math.floor(now() / 1_000)} +0000`
    execFileSync('git', ['-C', root, ...args], {
      env: { ...home.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      stdio: 'pipe',
    })
  }
  for (let i = 0; i < operations; i++) {
    step()
    if (below(20) > 0) continue
    save()
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message=change', ...(below(5) === 0 ? ['--amend'] : []))
  }
  save()
  await upload(sessions, root)
  await known(node)

  const { key } = await ada.send<OneAttributionKey>('GET', `/v1/namespaces/${ada.namespaceSlug}/attribution-key`)
  const url = `/v1/namespaces/${ada.namespaceSlug}/attributions`
  const ask = newAsk(
    { ask: (body) => ada.send<Attributions>('POST', url, body) as never },
    { key: key.id },
    { hunks: 500, lines: 5_000 },
  )
  const lineOf = lineHasher(newHashLine(Buffer.from(key.secret, 'base64')))
  const repository = await openRepository(root, home.env)
  const wrong: string[] = []
  let [counted, ofSessions] = [0, 0]
  for (const [path, written] of files) {
    const { lines, hunks } = await locateLines(repository, { path, revision: undefined, lines: undefined }, lineOf)
    assert.is(lines.map(({ text }) => `${text}\n`).join(''), readFileSync(join(root, path), 'utf8'))
    for (const [i, { isWeak, range }] of knownOf(lines, await ask(hunks)).entries()) {
      const { text, by } = written[i]!
      if (isWeak) continue
      ofSessions += Number(by !== undefined)
      if (!range) continue
      counted += 1
      if (!writers.get(compared(text))?.has(range.trace.externalId))
        wrong.push(`${path}:${i + 1} ${text}: ${range.trace.externalId} (${range.evidence}), not ${by ?? 'a person'}`)
    }
  }
  assert.equal(wrong, [])
  assert.ok(ofSessions > operations / 2 && counted > 0.6 * ofSessions, `${counted} of ${ofSessions} lines`)
})

test.run()
