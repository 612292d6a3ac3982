import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../../support/until.ts'
import { type CommandContext, documents, entry, environment, newCommandContext, run } from '../support/commands.ts'
import { filesBelow } from '../support/files-below.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { startWatching } from '../support/watching.ts'

const test = suite<CommandContext>('hooks install, status and uninstall')
const session = '5e550000-0000-4000-8000-000000000001'

test.before.each(async (context) => {
  Object.assign(context, await newCommandContext())
  assert.is((await run(context, 'login')).code, 0)
})
test.after.each(({ close }) => close())

/** Runs a command as Claude Code does, with what it tells on stdin. Gives what it printed, until all had closed its output. */
const asAgent = async (command: string, input: object, home: string) => {
  const child = spawn('sh', ['-c', command], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { HOME: home, PATH: '/usr/bin:/bin' },
  })
  child.stdin.end(JSON.stringify(input))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err }
}

const commandIn = (file: string): string => {
  const settings = JSON.parse(readFileSync(file, 'utf8')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
  }
  return settings.hooks['Stop']![0]!.hooks[0]!.command
}

test('the hook of Claude Code uploads the session after each turn, prints nothing, and leaves no files when it is removed', async (context) => {
  const { claude, home, server } = context
  const file = join(claude, 'settings.json')
  const text = '{\n\t// mine\n\t"model": "opus",\n}\n'
  writeFileSync(file, text, { mode: 0o600 })
  const before = filesBelow(home)
  const installed = await run(context, 'hooks', 'install', 'claude-code')
  assert.equal([installed.code, installed.out], [0, `Installed (${file})\n`])
  assert.match((await run(context, 'hooks', 'install', 'claude-code')).out, 'Installed already')
  const command = /"command": ("(?:[^"\\]|\\.)*")/.exec(readFileSync(file, 'utf8'))![1]!
  const transcript = join(claude, 'projects', '-w-app', `${session}.jsonl`)
  const input = { session_id: session, transcript_path: transcript, hook_event_name: 'Stop' }
  assert.equal(await asAgent(JSON.parse(command), input, home), { code: 0, out: '', err: '' })
  await until(() => server.traces.length === 2)
  assert.equal(await asAgent(JSON.parse(command), { nothing: true }, home), { code: 0, out: '', err: '' })
  const said = documents((await run(context, 'hooks', 'status', '--json')).out)
  assert.equal([said[0]!['name'], said[0]!['installed'], said[0]!['file']], ['claude-code', true, file])
  const log = String(said[0]!['log'])
  await until(() => readFileSync(log, 'utf8').includes('synced 2 sessions'))
  assert.is((await run(context, 'hooks', 'uninstall', 'claude-code')).out, `Removed (${file})\n`)
  assert.is(readFileSync(file, 'utf8'), text)
  assert.equal(
    filesBelow(home).filter((path) => !before.includes(path) && !/uploads\.sqlite|uploading/.test(path)),
    [join('config', 'data')],
    'the record of uploads and its lock are not the hook',
  )
})

test('hooks install git says, in one of several worktrees, that the hook is called in all of them', async (context) => {
  const { home } = context
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' })
  const [main, other] = [join(home, 'main'), join(home, 'other')]
  mkdirSync(main)
  git(main, 'init', '-q')
  git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
  const installIn = async (cwd: string, ...more: readonly string[]) => {
    const child = spawn(process.execPath, [entry, 'hooks', 'install', 'git', ...more], {
      cwd,
      env: { ...environment(context), PATH: process.env.PATH },
    })
    const [err] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'close')])
    assert.is(child.exitCode, 0, err)
    return err
  }
  assert.is(await installIn(main), '')
  git(main, 'worktree', 'add', '-q', other)
  assert.is(await installIn(other), 'It is called for commits in all 2 worktrees of this repository.\n')
  assert.is(await installIn(other, '--json'), '')
})

test('removing the hook of Claude Code also removes a settings file that it created', async (context) => {
  context.variables = { CLAUDE_CONFIG_DIR: join(context.home, 'new') }
  await run(context, 'hooks', 'install', 'claude-code')
  assert.match(commandIn(join(context.home, 'new', 'settings.json')), 'hooks run claude-code')
  await run(context, 'hooks', 'uninstall', 'claude-code')
  assert.not.ok(existsSync(join(context.home, 'new')))
})

test('the hook of git uploads the sessions of the commit’s repository, and no others', async (context) => {
  const { home, claude, server } = context
  const top = join(home, 'repository')
  mkdirSync(join(top, 'below'), { recursive: true })
  const env = { ...process.env, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: top, env })
  git('init', '--quiet')
  for (const [id, cwd] of [
    ['s-in', join(top, 'below')],
    ['s-out', `${top}-2`],
  ] as const)
    writeSession(join(claude, 'projects', '-w-app'), `${id}.jsonl`, [userLine(`u-${id}`, 'x', { sessionId: id, cwd })])
  context.variables = { PATH: process.env['PATH'] ?? '' }
  const spawned = spawn(
    process.execPath,
    [
      join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts'),
      ...['hooks', 'install', 'git', '--server', server.url],
    ],
    { cwd: top, env: { ...env, TRACEBOOK_CONFIG_DIR: join(home, 'config') }, stdio: 'ignore' },
  )
  assert.equal(await once(spawned, 'exit'), [0, null])
  execFileSync(
    'git',
    ['-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--allow-empty', '-m', 'x'],
    {
      cwd: top,
      env: { ...env, CLAUDE_CONFIG_DIR: claude },
    },
  )
  await until(() => server.traces.length > 0)
  const log = join(home, 'config', 'data', 'hooks.log')
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('synced 1 session'))
  assert.equal(
    server.traces.map(({ externalId }) => externalId),
    ['s-in'],
  )
})

test('a hook uploads nothing while a watch runs', async (context) => {
  const { claude, home } = context
  await run(context, 'hooks', 'install', 'claude-code')
  const watching = startWatching(context)
  await watching.isWatching()
  const transcript = join(claude, 'projects', '-w-app', `${session}.jsonl`)
  appendFileSync(transcript, `${userLine('u-x', 'x', { sessionId: session })}\n`)
  await asAgent(commandIn(join(claude, 'settings.json')), { transcript_path: transcript }, home)
  await until(() => context.server.traces.some(({ messages }) => messages.has('u-x')))
  assert.not.ok(existsSync(join(home, 'config', 'data', 'hooks.log')))
  await watching.end('SIGTERM')
})

test.run()
