import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { start } from './support/processes.ts'
import { inWorld } from './support/world.ts'

const test = suite('the client that a service hands out')

/** The command lines on a page. */
const linesOn = async (url: string): Promise<readonly string[]> => {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  return [...page.matchAll(/<div class="cmd"><code>([^<]*)<\/code>/g)].map(([, line]) => line!)
}

test('the lines on the page of help log in and upload sessions, in a folder without a clone, with nothing but npm', () =>
  inWorld(async ({ url, folder }) => {
    const machine = join(folder, 'another-machine')
    const claude = join(machine, 'claude')
    await mkdir(machine)
    await cp(join(import.meta.dirname, '..', 'fixtures', 'sync'), claude, { recursive: true })
    const variables = {
      HOME: machine,
      TRACEBOOK_CONFIG_DIR: join(machine, 'config'),
      CLAUDE_CONFIG_DIR: claude,
      npm_config_cache: join(machine, 'npm'),
      npm_config_registry: 'http://127.0.0.1:9/', // nothing answers there
    }
    const runLine = (line: string) => start(['-c', `cd ${machine} && ${line}`], variables, ['/bin/sh']).ended

    const lines = await linesOn(`${url}/help`)
    const program = `npx --yes ${url}/client/tracebook-`
    const [login = '', sync = ''] = [' login ', ' sync'].map((word) => lines.find((line) => line.includes(word)))
    for (const line of [login, sync]) assert.ok(line.startsWith(program), line)

    const loggedIn = await runLine(login)
    assert.is(loggedIn.how, 0, loggedIn.err)
    assert.match(loggedIn.out, `Next, upload your sessions: ${sync}\n`)
    const synced = await runLine(sync)
    assert.is(synced.how, 0, synced.err)
    assert.match(synced.out, 'synced 2 sessions: 6 messages (6 new)')
  }))

test.run()
