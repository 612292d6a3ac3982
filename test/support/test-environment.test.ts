import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../src/client/agents/index.ts'
import { configDir, stateDir } from '../../src/client/config.ts'
import { testEnvironment } from './test-environment.ts'

const test = suite('the environment of tests')

test('the home folder, and what the client and the agents keep in it, are in the temp folder of the test process', () => {
  const isOwn = (path: string) => path.startsWith(`${tmpdir()}/`)
  assert.is(dirname(homedir()), tmpdir())
  assert.equal(
    [configDir(process.env), stateDir(process.env)].filter((path) => !isOwn(path)),
    [],
  )
  assert.equal(
    agents.flatMap((agent) => agent.roots(process.env, homedir())).filter((path) => !isOwn(path)),
    [],
  )
})

test('a test sees no variable of the developer that names files, a service, a database or a preference', () => {
  const developer = {
    HOME: '/home/ada',
    XDG_CONFIG_HOME: '/home/ada/.config',
    XDG_DATA_HOME: '/home/ada/.local/share',
    TRACEBOOK_URL: 'https://traces.example.org',
    TRACEBOOK_CONFIG_DIR: '/home/ada/tracebook',
    CODEX_HOME: '/home/ada/.codex',
    CLAUDE_CONFIG_DIR: '/home/ada/.claude',
    GIT_CONFIG_GLOBAL: '/home/ada/gitconfig',
    GIT_DIR: '/home/ada/project/.git',
    DATABASE_URL: 'postgres://db/tracebook',
    PGHOST: 'db',
    PORT: '80',
    OPENAI_API_KEY: 'key',
    NO_COLOR: '1',
  }
  const passed = {
    PATH: '/bin',
    TEST_DATABASE_URL: 'postgres://db/test',
    npm_config_userconfig: '/npmrc',
    HTTPS_PROXY: 'p',
  }
  const { npm_config_cache, ...seen } = testEnvironment({ ...developer, ...passed }, '/tmp/home')
  assert.equal(seen, { ...passed, HOME: '/tmp/home', GIT_CONFIG_NOSYSTEM: '1' })
  assert.is(npm_config_cache, join(homedir(), '.npm'))
})

test.run()
