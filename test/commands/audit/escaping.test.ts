import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signCheckpoint } from '../../../src/server/proof/checkpoint.ts'
import { generateSigner } from '../../../src/server/proof/note.ts'
import { EMPTY_ROOT } from '../../../src/server/proof/tree.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { ask, tokenIn } from '../support/api.ts'
import { type Ended, inTemporary, run } from '../support/user.ts'
import { inOwnWorld } from '../support/world.ts'

const test = suite('what commands under tracebook audit print')

/** Clears the screen with one character and with two, turns the direction of text, and ends the line for some readers. */
const EVIL = 'evil\u009b2J\u202e\u2028'
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

const assertSafe = ({ out, err }: Ended, what: string) => {
  assert.not.match(out + err, UNSAFE, `${what}: ${JSON.stringify(out + err)}`)
  assert.match(out + err, 'evil', what)
}

type Answers = Readonly<Record<string, unknown>>

/** A server that answers each path in its way: with the text, with the data, or not at all. */
const withServer = async (answers: Answers, work: (url: string) => Promise<void>) => {
  const server = createServer(({ url = '' }, answer) => {
    const found = answers[url.split('?')[0]!]
    if (found === undefined) answer.writeHead(404).end(JSON.stringify({ ok: false, error: { message: EVIL } }))
    else answer.end(typeof found === 'string' ? found : JSON.stringify({ ok: true, data: found }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
}

const SIZE = 3
const rightToLeft = generateSigner('evil\u202e')
const note = signCheckpoint({ size: SIZE, root: EMPTY_ROOT }, rightToLeft)
const keyOf = (logId: string, { verifier } = rightToLeft) => ({
  origin: verifier.name,
  logId,
  key: verifier.text,
  keys: [{ key: verifier.text }],
})

/** A server's words in each place where the check of a service prints them. */
const servers: readonly (readonly [what: string, answers: Answers, how: number])[] = [
  ['a refusal', {}, 1],
  ['a key that is none', { '/v1/audit/key': { ...keyOf('a'), key: EVIL } }, 1],
  ['a log', { '/v1/audit/key': keyOf('a'), '/v1/audit/checkpoint': note, '/v1/audit/consistency': { proof: [] } }, 0],
  ['another log', { '/v1/audit/key': keyOf(EVIL), '/v1/audit/checkpoint': note }, 3],
  ['another origin', { '/v1/audit/key': { ...keyOf('a'), origin: EVIL }, '/v1/audit/checkpoint': note }, 3],
  ['an unknown key', { '/v1/audit/key': { ...keyOf('a'), keys: [{ key: EVIL }] }, '/v1/audit/checkpoint': note }, 3],
]

test('of a service that is checked is escaped', () =>
  inTemporary(async (folder) => {
    const config = join(folder, 'config')
    for (const [what, answers, how] of servers)
      for (const form of [[], ['--json']])
        await withServer(answers, async (url) => {
          const ended = await run(['audit', 'verify', '--server', url, ...form], { TRACEBOOK_CONFIG_DIR: config })
          assert.is(ended.how, how, `${what}: ${ended.out} ${ended.err}`)
          assertSafe(ended, what)
        })
  }))

test('of a bundle is escaped', () =>
  inTemporary(async (folder) => {
    const path = join(folder, 'bundle.json')
    const bundle = { entry: '[]', index: 0, size: SIZE, proof: [], checkpoint: note }
    const other = generateSigner(rightToLeft.name).verifier.text
    for (const form of [[], ['--json']]) {
      await writeFile(path, JSON.stringify({ ...bundle, key: other }))
      assertSafe(await run(['audit', 'verify', '--offline', path, ...form], {}), 'a bundle with another key')
    }
  }))

test('of traces and people is escaped, by each command', () =>
  inOwnWorld(async ({ url, databaseUrl, folder, user, putTrace }) => {
    const [id, token] = [`t-${EVIL}`, tokenIn(user.config)]
    await ask(url, '/v1/user', { token, method: 'PATCH', body: { displayName: EVIL } })
    await putTrace(user, id, { title: EVIL, model: EVIL, projectPath: EVIL }, [EVIL])
    await putTrace(user, id, { title: `other ${EVIL}` })
    const of = async (...words: string[]) => {
      for (const form of words.includes('proof') ? [[]] : [[], ['--json']]) {
        const ended = await user.run('audit', ...words, ...form)
        assert.is(ended.how, 0, ended.err)
        assertSafe(ended, words[0]!)
      }
    }
    await of('log')
    await of('log', id)
    await of('show', id)
    await of('show', id, '--messages')
    await of('diff', id, '--from', '0')
    const proved = await user.run('audit', 'proof', id, '0')
    assertSafe(proved, 'proof')
    const bundle = join(folder, 'bundle.json')
    await writeFile(bundle, proved.out)
    assert.is((await run(['audit', 'verify', '--offline', bundle], {})).how, 0, 'it is the same document')

    const here = (...words: string[]) =>
      run(['audit', ...words], { DATABASE_URL: databaseUrl, ...logEnvironment(databaseUrl) })
    assert.is((await user.run('rm', id, '--yes')).how, 0)
    for (const form of [[], ['--json']]) assertSafe(await here('erasures', ...form), 'erasures')
  }))

test.run()
