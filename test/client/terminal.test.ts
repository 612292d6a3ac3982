import { appendFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { screenOf } from '../support/screen.ts'
import { type CommandContext, newCommandContext, run } from './support/commands.ts'
import { userLine, writeSession } from './support/session-file.ts'
import { answerInTerminal, hasTerminal, runInTerminal } from './support/terminal.ts'

const test = suite<CommandContext>('the commands in a terminal')

test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

if (!hasTerminal) console.log('skipped: there is no `script` of util-linux to run a command in a terminal')
else {
  test('in a terminal of 40 columns a bar shows the progress of a sync, and is erased at the end', async (context) => {
    await run(context, 'login')
    const file = writeSession(context.home, 's-1.jsonl', ['{"cut":'])
    for (let i = 0; i < 900; i++) appendFileSync(file, `${userLine(`u-${i}`, `message ${i}`)}\n`)
    const { code, output } = await runInTerminal(context, 40, 'sync', file)
    assert.is(code, 0)
    assert.match(output, /\d %  [\d,]+ messages/)
    const shown = screenOf(output, 40).join('').replaceAll(' ', '')
    const summary = `read them at ${context.server.url}/@user-1 synced 1 session: 900 messages (900 new), 1 line skipped (7 bytes)`
    assert.is(shown, `${file}:1: not one JSON object: 7 bytes left out${summary}`.replaceAll(' ', ''))
  })

  test('in a terminal a new user is asked for a name and a slug, and a known one is not', async (context) => {
    const asking = { ...context, variables: { USER: 'ada' } }
    const bodies = () =>
      context.server.requests.filter(({ path }) => path === '/v1/session').flatMap(({ text }) => text || [])
    const ended = await answerInTerminal(asking, ['\u0003'], 'login')
    assert.equal([ended.code, bodies()], [2, []], ended.output)
    const { code, output } = await answerInTerminal(asking, ['Ada Lovelace\r', '\r'], 'login')
    assert.is(code, 0, output)
    const { displayName, slug } = JSON.parse(bodies()[0]!) as Record<string, unknown>
    assert.equal([displayName, slug], ['Ada Lovelace', 'ada'])
    const again = await answerInTerminal(asking, [], 'login')
    assert.equal([again.code, again.output.includes('Your ')], [0, false])
  })
}

test.run()
