import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { launchd } from '../../../../src/client/watch/service/launchd.ts'
import { lastingCommand, lastingEnvironment } from '../../../../src/client/watch/service/program.ts'
import { NoServiceManager, type ServicePlace, withoutManager } from '../../../../src/client/watch/service/service.ts'
import { systemd } from '../../../../src/client/watch/service/systemd.ts'
import { filesBelow } from '../../support/files-below.ts'
import { fakeProgram } from '../../support/fake-program.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the service that watches')

const inHome = async (work: (place: ServicePlace, bin: string) => Promise<unknown>) => {
  const { path: home, remove } = tempFolder()
  const bin = join(home, 'bin')
  try {
    await work({ env: { PATH: `${bin}:/usr/bin:/bin` }, home, state: join(home, 'state') }, bin)
  } finally {
    remove()
  }
}

const program = {
  command: [
    '/opt/node 26/bin/node',
    '/opt/it\'s "100%" $HOME\\x/main.js',
    'sync',
    '--watch',
    '--server',
    'https://a/?b=%20',
  ],
  environment: { CLAUDE_CONFIG_DIR: '/home/a b/"c"', PATH: '/usr/bin:/bin' },
}

const UNIT = `# Written by "tracebook watch install". To remove it: tracebook watch uninstall
[Unit]
Description=Tracebook: uploads the sessions of coding agents as they are written
StartLimitIntervalSec=0

[Service]
ExecStart="/opt/node 26/bin/node" "/opt/it's \\"100%%\\" $$HOME\\\\x/main.js" "sync" "--watch" "--server" "https://a/?b=%%20"
Environment="CLAUDE_CONFIG_DIR=/home/a b/\\"c\\""
Environment="PATH=/usr/bin:/bin"
Restart=on-failure
RestartSec=30
TimeoutStopSec=10
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=true

[Install]
WantedBy=default.target
`

test('the unit of systemd quotes its values', () => {
  const place = { env: {}, home: '/home/a', state: '/home/a/state' }
  assert.is(systemd(place).file, '/home/a/.config/systemd/user/tracebook-watch.service')
  assert.is(systemd(place).describe(program), UNIT)
})

test('systemd accepts the unit, if systemd is installed', () =>
  inHome(async (place) => {
    if (spawnSync('systemd-analyze', ['--version']).error) return
    const node = { command: [process.execPath, '/tmp/100% $x', 'sync', '--watch'], environment: program.environment }
    const file = join(place.home, 'tracebook-watch.service')
    writeFileSync(file, systemd(place).describe(node))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: place.home },
    })
    const said = stderr.split('\n').filter((line) => line.includes('tracebook-watch'))
    assert.equal([said, status], [[], 0], stderr)
  }))

const RUNNING = `case "$*" in *show*) printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\nMainPID=4711\\n';; esac`

test('systemd is asked to start the service now and at each login, and later to remove it', () =>
  inHome(async (place, bin) => {
    const { calls } = fakeProgram(bin, 'systemctl', RUNNING)
    const manager = systemd(place)
    assert.is(await manager.status(), undefined)
    assert.is(await manager.uninstall(), false)
    const before = filesBelow(place.home)
    await manager.install(program)
    assert.is(readFileSync(manager.file, 'utf8'), UNIT)
    assert.is(statSync(manager.file).mode & 0o777, 0o600)
    assert.equal(await manager.status(), { isRunning: true, pid: 4711, state: 'active (running)' })
    await manager.install(program)
    assert.is(await manager.uninstall(), true)
    const install = ['daemon-reload', 'enable tracebook-watch.service', 'restart tracebook-watch.service']
    const show = 'show tracebook-watch.service --property=LoadState,ActiveState,SubState,MainPID'
    const uninstall = ['disable --now tracebook-watch.service', 'daemon-reload', 'reset-failed tracebook-watch.service']
    assert.equal(
      calls(),
      [...install, show, ...install, ...uninstall].map((call) => `--user ${call}`),
    )
    assert.equal(
      filesBelow(place.home).filter((path) => !path.endsWith('.calls')),
      before,
    )
    assert.not.ok(existsSync(join(place.home, '.config', 'systemd')))
  }))

test('if systemd does not answer, no files are left, and the error says what to do instead', () =>
  inHome(async (place, bin) => {
    const manager = systemd({ ...place, env: { PATH: bin } })
    await assertFails(() => manager.install(program), /there is no systemctl/)
    assert.not.ok(existsSync(manager.file))
    fakeProgram(bin, 'systemctl', 'echo "Failed to connect to bus: No medium found" >&2; exit 1')
    await assertFails(() => systemd(place).install(program), /Failed to connect to bus/)
    assert.not.ok(existsSync(join(place.home, '.config')))
    mkdirSync(join(place.home, '.config', 'systemd', 'user', 'default.target.wants'), { recursive: true })
    writeFileSync(manager.file, UNIT)
    symlinkSync(
      manager.file,
      join(place.home, '.config', 'systemd', 'user', 'default.target.wants', 'tracebook-watch.service'),
    )
    assert.is(await systemd(place).uninstall(), true)
    assert.not.ok(existsSync(join(place.home, '.config', 'systemd')))
  }))

const assertFails = async (work: () => Promise<unknown>, message: RegExp) => {
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.instance(error, NoServiceManager)
  assert.match((error as Error).message, message)
}

test('the line for a crontab runs the same command as the unit', () =>
  inHome(async (place, bin) => {
    const { calls } = fakeProgram(bin, "it's 100% it")
    const said = withoutManager(
      'no bus',
      { command: [join(bin, "it's 100% it"), 'sync'], environment: { A: 'b c' } },
      '/log',
    )
    const line = /@reboot (.*)/.exec(said)![1]!
    execFileSync('sh', ['-c', line.replaceAll('\\%', '%')])
    assert.equal(calls(), ['sync --log-file /log'])
    assert.match(said, 'tracebook hooks install claude-code')
    assert.match(line, /^A='b c' /)
  }))

const PRINT = `case "$*" in print*) printf '\\tstate = running\\n\\tpid = 4711\\n';; esac`

test('launchd is asked to load the service, with a log of limited size, and later to remove it', () =>
  inHome(async (place, bin) => {
    const { calls } = fakeProgram(bin, 'launchctl', PRINT)
    const manager = launchd(place, 501)
    assert.is(manager.file, join(place.home, 'Library', 'LaunchAgents', 'tracebook.watch.plist'))
    assert.is(await manager.status(), undefined)
    await manager.install(program)
    const text = readFileSync(manager.file, 'utf8')
    for (const part of [
      "<string>/opt/it's &quot;100%&quot; $HOME\\x/main.js</string>",
      `<string>--log-file</string>\n    <string>${join(place.state, 'watch.log')}</string>`,
      '<key>CLAUDE_CONFIG_DIR</key>\n    <string>/home/a b/&quot;c&quot;</string>',
      '<key>SuccessfulExit</key>\n    <false/>',
    ])
      assert.ok(text.includes(part), part)
    const opened = [...text.matchAll(/<(\w+)(?: [^>]*)?>/g)].map(([, name]) => name).sort()
    const closed = [...text.matchAll(/<\/(\w+)>/g)].map(([, name]) => name).sort()
    assert.equal(opened, closed)
    assert.equal(await manager.status(), { isRunning: true, pid: 4711, state: 'running' })
    await manager.install(program)
    assert.is(await manager.uninstall(), true)
    assert.is(await manager.uninstall(), false)
    const [target, load] = ['gui/501/tracebook.watch', `bootstrap gui/501 ${manager.file}`]
    assert.equal(calls(), [
      `enable ${target}`,
      load,
      `print ${target}`,
      `bootout ${target}`,
      `enable ${target}`,
      load,
      `bootout ${target}`,
    ])
    assert.not.ok(existsSync(join(place.home, 'Library', 'LaunchAgents')))
  }))

test('the command of the service has an absolute path with links resolved, and one in the cache of npx is refused', () =>
  inHome(async ({ home }) => {
    const [entry, link] = [join(home, 'lib', 'tracebook.js'), join(home, 'tracebook')]
    mkdirSync(join(home, 'lib'))
    writeFileSync(entry, '')
    symlinkSync(entry, link)
    assert.equal(lastingCommand('/opt/node', link), ['/opt/node', entry])
    const cached = join(home, '.npm', '_npx', 'abc', 'node_modules', 'tracebook', 'src', 'tracebook.js')
    assert.throws(() => lastingCommand('/opt/node', cached), /cache of npx .* Install it first/)
  }))

test('only environment variables that hold locations are passed to the service, as absolute paths', () => {
  const env = {
    TRACEBOOK_CONFIG_DIR: 'conf',
    CODEX_HOME: '/codex',
    OPENCODE_DB: 'x.db',
    SECRET: 'x',
    PATH: '/bin',
    APPDATA: '',
  }
  assert.equal(lastingEnvironment(env), {
    TRACEBOOK_CONFIG_DIR: join(process.cwd(), 'conf'),
    CODEX_HOME: '/codex',
    PATH: '/bin',
    OPENCODE_DB: 'x.db',
  })
})

test.run()
