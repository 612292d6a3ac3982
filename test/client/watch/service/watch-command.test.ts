import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../../../support/until.ts'
import { type CommandContext, documents, newCommandContext, run } from '../../support/commands.ts'
import { fakeProgram } from '../../support/fake-program.ts'
import { filesBelow } from '../../support/files-below.ts'

const test = suite<CommandContext>('watch install, status and uninstall')

test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

const unitOf = ({ home }: CommandContext) => join(home, '.config', 'systemd', 'user', 'tracebook-watch.service')

/** The words of a line of the unit that is quoted as systemd reads it. */
const wordsOf = (line: string) =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) =>
    word!.replace(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  )

if (process.platform === 'linux')
  test('the installed service runs, uploads, is shown by status, and is removed completely', async (context) => {
    const bin = join(context.home, 'bin')
    const { calls } = fakeProgram(bin, 'systemctl')
    context.variables = { PATH: `${bin}:/usr/bin:/bin`, CODEX_HOME: join(context.home, 'my codex') }
    const refused = await run(context, 'watch', 'install')
    assert.is(refused.code, 2)
    assert.match(refused.err, /Not logged in to http.* login/)
    assert.is((await run(context, 'login')).code, 0)
    const before = filesBelow(context.home)
    const installed = await run(context, 'watch', 'install', '--namespace', 'user-1')
    assert.equal([installed.code, installed.err], [0, ''])
    assert.match(installed.out, /journalctl --user --unit tracebook-watch\.service/)
    assert.is((await run(context, 'watch', 'status')).code, 1)

    const unit = readFileSync(unitOf(context), 'utf8')
    const [command, ...args] = wordsOf(/^ExecStart=(.*)$/m.exec(unit)![1]!)
    const variables = wordsOf([...unit.matchAll(/^Environment=(.*)$/gm)].map(([, word]) => word).join(' '))
    assert.ok(variables.includes(`CODEX_HOME=${join(context.home, 'my codex')}`))
    const env = { HOME: context.home, ...Object.fromEntries(variables.map((one) => one.split(/=(.*)/s).slice(0, 2))) }
    const service = spawn(command!, args, { env, cwd: '/', stdio: 'ignore' })
    await until(() => context.server.traces.length === 2)
    const [status] = documents((await run(context, 'watch', 'status', '--json')).out)
    assert.equal([status!['installed'], status!['running']], [true, true])
    assert.is((status!['watcher'] as { pid: number }).pid, service.pid)
    service.kill('SIGTERM')
    assert.equal(await once(service, 'exit'), [0, null])

    assert.is((await run(context, 'watch', 'uninstall')).out, 'Removed.\n')
    assert.is((await run(context, 'watch', 'uninstall')).out, 'Nothing to remove.\n')
    const left = filesBelow(context.home).filter((path) => !before.includes(path))
    assert.equal(
      left.filter((path) => !/^(?:bin\/systemctl\.calls|config\/data(?:\/upload(?:s\.sqlite|ing).*)?)$/.test(path)),
      [],
      'the record of uploads and its lock are not the service',
    )
    assert.ok(calls().includes('--user disable --now tracebook-watch.service'))
  })

test('without a service manager, watch install says what to do instead', async (context) => {
  mkdirSync(join(context.home, 'empty'))
  context.variables = { PATH: join(context.home, 'empty') }
  await run(context, 'login')
  const { code, err } = await run(context, 'watch', 'install')
  assert.is(code, 1)
  assert.match(err, /@reboot .* sync --watch --server http:\S+ --log-file /)
  assert.match(err, 'hooks install claude-code')
  assert.not.ok(existsSync(unitOf(context)))
})

test('the help of watch, and of each of its commands, has examples', async (context) => {
  for (const args of [['watch'], ['watch', 'install'], ['watch', 'status']])
    assert.match((await run(context, ...args, '--help')).out, '  tracebook watch install --server https://')
})

test.run()
