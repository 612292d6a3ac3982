import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../eventstore/embedded/support.ts'
import { start } from '../commands/support/processes.ts'
import { run } from '../commands/support/user.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

const test = suite('how a command ends')

test('a command that fails prints the reason, and exits with 1, or with 2 for wrong usage', () =>
  inFolder(async (folder) => {
    const environment = { DATA_DIR: join(folder, 'data'), TRACEBOOK_CONFIG_DIR: join(folder, 'config'), PORT: 'x' }
    for (const words of [['serve'], ['sync']]) {
      const { how, err } = await start(words, environment).ended
      assert.is(how, words[0] === 'sync' ? 2 : 1)
      assert.match(err, /^tracebook: \S/)
    }
    for (const [words, exitCode] of [
      [['openapi', '--nonsense'], 2],
      [['models', 'refresh', '--nonsense'], 2],
      [['models', 'refresh'], 1],
      [['rebuild'], 1],
      [['doctor'], 1],
      [['log', 'quarantine'], 1],
      [['log', 'copy', '--from', 'embedded', '--to', 'embedded'], 2],
    ] as const) {
      const { how, out, err } = await run([...words], environment)
      assert.equal([how, out], [exitCode, ''], words.join(' '))
      assert.match(
        err,
        words.includes('--nonsense' as never) ? /^error: .*\nFor usage, run: .* --help\n$/ : /^tracebook: \S/,
      )
    }
  }))

test('a command whose reader has exited runs to its end and succeeds', () =>
  inFolder(async (folder) => {
    const env = { PATH: process.env.PATH, HOME: folder, TRACEBOOK_CONFIG_DIR: join(folder, 'config') }
    for (const words of [[], ['agents', '--json'], ['agents'], ['completion', 'bash']]) {
      const child = spawn(process.execPath, [main, ...words], { env })
      child.stdout.destroy()
      const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number]>])
      assert.equal([code, err.includes('EPIPE')], [0, false], `${words.join(' ')}: ${err}`)
    }
  }))

test.run()
