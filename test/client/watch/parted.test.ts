import { rmSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../../support/until.ts'
import { type CommandContext, newCommandContext, run } from '../support/commands.ts'
import { newPartedFiles, parted, type Run, textsOf } from '../support/parted.ts'
import { startWatching } from '../support/watching.ts'

const test = suite<CommandContext>('a watch of a session in several files')
test.before.each(async (context) => {
  Object.assign(context, await newCommandContext())
  assert.is((await run(context, 'login')).code, 0)
})
test.after.each(({ close }) => close())

const codex = parted[0]!
const ID = '01a03d4c-1111-7222-8333-444455556666'

const orderOf = (message: object) => (message as { readonly order: number }).order
const stored = ({ server }: CommandContext) =>
  [...(server.traces.find(({ externalId }) => externalId === ID)?.messages.values() ?? [])]
    .sort((a, b) => orderOf(a) - orderOf(b))
    .flatMap(({ parts }) => parts.map(({ content }) => content['text']))

const runs: readonly Run[] = [
  { file: 1, turns: [2] },
  { file: 0, turns: [0, 1] },
  { file: 2, turns: [4] },
  { file: 1, turns: [3] },
  { file: 2, turns: [5] },
]

test('has the conversation after each line, and a run afterwards sends nothing', async (context) => {
  const files = newPartedFiles(context.home, codex)
  const watching = startWatching(context)
  try {
    await watching.isWatching()
    const turns: number[] = []
    let first = ''
    for (const one of runs) {
      const path = files.write(one)
      if (one.file === 0) first = path
      turns.push(...one.turns)
      const expected = turns.toSorted((a, b) => a - b).flatMap(textsOf)
      await until(() => JSON.stringify(stored(context)) === JSON.stringify(expected))
    }
    rmSync(first)
    files.write({ file: 2, turns: [6] })
    await until(() => stored(context).length === 14)
    assert.equal(stored(context), [0, 1, 2, 3, 4, 5, 6].flatMap(textsOf), 'a file that is gone removes nothing')
  } finally {
    await watching.end('SIGTERM')
  }
  context.server.requests.length = 0
  assert.is((await run(context, 'sync')).code, 0)
  assert.equal(context.server.writes(), [])
})

test.run()
