import { cp, glob, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cursorStore, query, text } from '../client/agents/cursor/store-file.ts'
import { start } from './support/processes.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('the client that a service hands out')

/** The command lines on a page. */
const linesOn = async (url: string): Promise<readonly string[]> => {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  return [...page.matchAll(/<div class="cmd"><code>([^<]*)<\/code>/g)].map(([, line]) => line!)
}

/** Makes a session of Cursor, which is read with SQLite and a library for protobuf. */
const makeCursorSession = (home: string): void => {
  const { message, root, meta, close } = cursorStore(
    join(home, '.cursor', 'chats', '0123456789abcdef0123456789abcdef', 'a-session', 'store.db'),
  )
  meta(root([message('user', [query('Name the tallest mountain')]), message('assistant', [text('Everest')])]))
  close()
}

test('the lines on the page of help log in and upload sessions, in a folder without a clone, with nothing but npm', () =>
  inOwnWorld(async ({ url, folder }) => {
    const machine = join(folder, 'another-machine')
    const claude = join(machine, 'claude')
    await mkdir(machine)
    await cp(join(import.meta.dirname, '..', 'fixtures', 'sync'), claude, { recursive: true })
    makeCursorSession(machine)
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
    assert.match(synced.out, 'synced 3 sessions: 8 messages (8 new)')

    const files = glob(join(machine, 'npm', '_npx', '*', 'node_modules', 'tracebook', 'src', '*'))
    const [client = '', ...others] = await Array.fromAsync(files)
    assert.equal(others, [])
    const [help, served] = await Promise.all(
      ['--help', 'serve'].map((word) => start([word], variables, [process.execPath, client]).ended),
    )
    assert.match(help!.out, /\n {2}sync .*\n(?:.*\n)*First steps:\n {2}npx --yes \S+ login/)
    assert.not.match(help!.out, /\n {2}(?:serve|backup|log) /)
    assert.equal([served!.how, served!.out], [2, ''])
    assert.match(
      served!.err,
      /^tracebook: This command works on the service itself, .* `npx tracebook` in the folder.*\n$/,
    )
  }))

test.run()
