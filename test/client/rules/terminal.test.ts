import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type CommandContext, newCommandContext, run } from '../support/commands.ts'

const test = suite<CommandContext>('at a terminal')

test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

const entry = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')
const hasTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false

/** Runs `tracebook` in a terminal of its own, and answers each question. */
const answer = async ({ server, home, claude }: CommandContext, reply: string, ...args: readonly string[]) => {
  const child = spawn('script', ['-qec', [process.execPath, entry, ...args].join(' '), '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      TERM: 'xterm',
      TRACEBOOK_URL: server.url,
      TRACEBOOK_CONFIG_DIR: join(home, 'config'),
      CLAUDE_CONFIG_DIR: claude,
      HOME: home,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let [output, answered] = ['', 0]
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    const questions = output.split('[y/N]').length - 1
    for (; answered < questions; answered++) child.stdin.write(reply)
  })
  await once(child, 'close')
  return { code: child.exitCode, output }
}

if (hasTerminal) {
  test('in a terminal, sync shows what would become public, and asks before it sends', async (context) => {
    await run(context, 'login')
    const refused = await answer(context, 'n\n', 'sync', '--visibility', 'public')
    assert.equal([refused.code, context.server.traces.length], [2, 0], refused.output)
    const agreed = await answer(context, 'y\n', 'sync', '--visibility', 'public')
    assert.is(agreed.code, 0, agreed.output)
    for (const part of ['2 sessions will be public', 'Add a parser test', 'project /', 'secrets taken out', 'begins: '])
      assert.match(agreed.output, part)
    assert.equal(
      context.server.traces.map(({ fields }) => fields['visibility']),
      ['public', 'public'],
    )
  })

  test('the end of the input counts as the answer no', async (context) => {
    await run(context, 'login')
    const { code } = await answer(context, '\u0004', 'sync', '--visibility', 'public')
    assert.equal([code, context.server.traces.length], [2, 0])
  })
}

test.run()
