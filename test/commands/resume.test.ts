import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { projectFolderName } from '../../src/client/resume/project-folder.ts'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import type { User } from './support/user.ts'
import { inWorld, namespaceOf, type World } from './support/world.ts'

const test = suite('tracebook resume')

const text = (words: string) => ({ type: 'text', content: { text: words } })
const UUID = '0f9a3c52-5c39-4f0e-9d53-3a8f7e1b2c4d'
const usage = { inputTokens: 100, outputTokens: 20, responseId: 'msg_1' }
const MESSAGES = [
  { externalId: UUID, role: 'user', order: 0, timestamp: 1_780_000_000_000, parts: [text('Mend the parser.')] },
  {
    externalId: 'msg_1',
    role: 'assistant',
    model: 'claude-opus-4-6',
    order: 1,
    timestamp: 1_780_000_001_000,
    usage,
    parts: [
      { type: 'thinking', content: { text: 'a secret thought' } },
      { type: 'tool_call', content: { callId: 'toolu_1', toolName: 'Bash', args: { command: 'ls' } } },
    ],
  },
  {
    externalId: '1f9a3c52-5c39-4f0e-9d53-3a8f7e1b2c4d',
    role: 'user',
    order: 2,
    timestamp: 1_780_000_002_000,
    parts: [
      { type: 'tool_result', content: { callId: 'toolu_1', toolName: 'Bash', output: 'a.ts', status: 'success' } },
    ],
  },
  { externalId: 'msg_2', role: 'assistant', model: 'claude-opus-4-6', order: 3, parts: [text('It is mended.')] },
]

type Resumed = {
  readonly id: string
  readonly file: string
  readonly command: string
  readonly messages: number
  readonly leftOut: readonly { readonly what: string; readonly count: number }[]
}

let traceId = ''
test.before.each(() => void (traceId = randomUUID()))

const store = async (
  { url, putTrace }: World,
  user: User,
  fields: object = {},
  messages: readonly object[] = MESSAGES,
) => {
  await putTrace(user, traceId, fields)
  if (messages.length === 0) return
  const token = tokenIn(user.config)
  await ask(url, `/v1/traces/${traceId}/messages/batch`, { token, method: 'POST', body: { messages } })
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** A folder to go on in, and what is below the folders of the two agents. */
const newDesk = (user: User) => {
  const folder = dirname(user.config)
  const work = join(folder, 'wörk (1)')
  mkdirSync(work, { recursive: true })
  return {
    dir: realpathSync(work),
    files: () => [user.claude, join(folder, '.codex')].filter(existsSync).flatMap(filesBelow),
  }
}

const resumed = async (user: User, ...args: readonly string[]): Promise<Resumed> => {
  const { documents } = await runJson(user, 'resume', ...args)
  return documents[0] as unknown as Resumed
}

test('the file stands where the agent looks, for its owner only, and the command that continues it is printed', () =>
  inWorld(async (world) => {
    const { user } = world
    const { dir, files } = newDesk(user)
    await store(world, user)
    const { how, out, err } = await user.run('resume', traceId, '--dir', dir)
    assert.is(how, 0, err)
    const [file] = files() as [string]
    const id = basename(file, '.jsonl')
    assert.is(out, `cd '${dir}' && claude --resume ${id}\n`)
    assert.is(err, 'left out: thinking (1)\n')
    assert.is(file, join(user.claude, 'projects', projectFolderName(dir), `${id}.jsonl`))
    assert.equal(
      [file, dirname(file)].map((path) => statSync(path).mode & 0o777),
      [0o600, 0o700],
    )
    assert.not.match(readFileSync(file, 'utf8'), 'a secret thought')
    assert.is(files().length, 1)
  }))

test('synced again it continues the first one, is a root in lists, and nothing is billed twice', () =>
  inWorld(async (world) => {
    const { url, user } = world
    const { dir } = newDesk(user)
    const slug = await namespaceOf(url, user)
    await store(world, user)
    const { id } = await resumed(user, traceId, '--dir', dir)
    assert.is((await user.run('sync')).how, 0)
    const token = tokenIn(user.config)
    const { trace } = await ask<{ trace: Record<string, unknown> }>(url, `/v1/traces/${id}`, { token })
    assert.equal([trace['parentExternalId'], trace['parentKind'], trace['projectPath']], [traceId, 'resume', dir])
    const { traces } = await ask<{ traces: { externalId: string }[] }>(url, '/v1/traces?children=false', { token })
    assert.equal(traces.map(({ externalId }) => externalId).sort(), [traceId, id].sort())
    const { messages } = await ask<{ messages: { externalId: string }[] }>(url, `/v1/traces/${id}/messages`, { token })
    assert.equal(
      messages.map(({ externalId }) => externalId),
      MESSAGES.map(({ externalId }) => externalId),
    )
    const period = 'from=1779000000000&to=1781000000000'
    const { rows } = await ask<{ rows: { usage: object }[] }>(url, `/v1/namespaces/${slug}/usage?by=agent&${period}`, {
      token,
    })
    assert.equal(
      rows.map((row) => row.usage),
      [{ inputTokens: 100, outputTokens: 20 }],
    )
    // What it was made of outlasts the record of what was uploaded, and a second reading.
    writeFileSync(join(user.config, 'data', 'uploads.sqlite'), 'damaged')
    assert.is((await user.run('sync')).how, 0)
    const again = await ask<{ trace: Record<string, unknown> }>(url, `/v1/traces/${id}`, { token })
    assert.is(again.trace['parentKind'], 'resume')
  }))

test('--at ends after that message, with the results of its calls; --in writes for the other agent; --print writes nothing', () =>
  inWorld(async (world) => {
    const { user } = world
    const { dir, files } = newDesk(user)
    await store(world, user)
    const { file, messages } = await resumed(user, traceId, '--dir', dir, '--at', 'msg_1')
    assert.is(messages, 3)
    assert.not.match(readFileSync(file, 'utf8'), 'It is mended.')
    assert.match(readFileSync(file, 'utf8'), '"tool_use_id":"toolu_1"')
    const codex = await resumed(user, traceId, '--dir', dir, '--in', 'codex')
    assert.match(
      codex.file,
      /\.codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/,
    )
    const [meta = ''] = readFileSync(codex.file, 'utf8').split('\n')
    assert.match(meta, '"model_provider":"openai"')
    assert.is(codex.command, `cd '${dir}' && codex resume ${codex.id}`)
    const printed = await user.run('resume', traceId, '--dir', dir, '--print')
    assert.equal([printed.how, printed.err], [0, ''])
    assert.equal(
      printed.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
      ['user', 'assistant', 'user', 'assistant'],
    )
    assert.is(files().length, 2)
  }))

test('nothing is written for what cannot be resumed, and one sentence says why', () =>
  inWorld(async (world) => {
    const { user, newUser, putTrace } = world
    const { dir, files } = newDesk(user)
    await store(world, user)
    await putTrace(user, 'other', { agentId: 'gemini-cli' }, ['a', 'b'])
    await putTrace(user, 'none', {})
    const bob = await newUser('bob')
    for (const [who, args, said] of [
      [user, ['other', '--dir', dir], /Sessions of claude-code and codex can be resumed, not those of "gemini-cli"/],
      [user, ['none', '--dir', dir], /no prompt and no answer/],
      [user, ['none', '--dir', dir, '--in', 'codex'], /no prompt and no answer/],
      [user, ['none', '--dir', dir, '--print'], /no prompt and no answer/],
      [user, [traceId, '--dir', dir, '--in', 'pi'], /claude-code and codex, not for "pi"/],
      [user, [traceId, '--dir', join(dir, 'none')], /There is no folder/],
      [user, [traceId, '--dir', dir, '--at', 'nothing'], /no message "nothing"/],
      [user, ['unheard-of', '--dir', dir], /no trace/],
      [bob, [traceId, '--dir', dir], /no trace/],
    ] as const) {
      const { how, out, err } = await who.run('resume', ...args)
      assert.equal([how, out], [2, ''], args.join(' '))
      assert.match(err, said)
      assert.is(err.trim().split('\n').length, 1)
    }
    assert.equal(files(), [])
    assert.not(existsSync(join(user.config, 'resumed')))
    assert.not(existsSync(join(user.claude, 'projects')))
  }))

test('a public session needs no login, and the real path of the folder is meant', () =>
  inWorld(async (world) => {
    const { user, newMachine } = world
    await store(world, user, { visibility: 'public' })
    const stranger = newMachine('stranger')
    const { dir } = newDesk(stranger)
    symlinkSync(dir, join(dirname(stranger.config), 'link'))
    const { file } = await resumed(stranger, traceId, '--dir', join(dirname(stranger.config), 'link'))
    assert.match(readFileSync(file, 'utf8'), `"cwd":${JSON.stringify(dir)}`)
  }))

test('the branch is that of the folder, and the version that of the newest session here', () =>
  inWorld(async (world) => {
    const { user } = world
    const { dir } = newDesk(user)
    mkdirSync(join(dir, '.git', 'refs', 'heads'), { recursive: true })
    mkdirSync(join(dir, '.git', 'objects'))
    writeFileSync(join(dir, '.git', 'HEAD'), 'ref: refs/heads/mend\n')
    const other = join(user.claude, 'projects', 'other', `${UUID}.jsonl`)
    mkdirSync(dirname(other), { recursive: true })
    writeFileSync(other, `{"type":"user","version":"2.9.9","message":{"role":"user","content":"hi"}}\n`)
    await store(world, user)
    const line = readFileSync((await resumed(user, traceId, '--dir', dir)).file, 'utf8').split('\n')[0]!
    const { gitBranch, version } = JSON.parse(line) as { readonly gitBranch: string; readonly version: string }
    assert.equal([gitBranch, version], ['mend', '2.9.9'])
  }))

test.run()
