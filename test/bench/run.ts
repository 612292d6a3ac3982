import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { eventStoreRows } from './eventstore-rows.ts'
import type { Row, Setting } from './measure.ts'
import { rows } from './rows.ts'
import { scale } from './scale.ts'
import { allCaughtUp } from './timeline-lag.ts'
import { closeWorlds, openWorld } from './world.ts'

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string' },
    facts: { type: 'string' },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    scale: { type: 'boolean', default: false },
    traces: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '5' },
  },
})

const wanted = options.scale ? ['scale'] : options.only?.split(',')
const { TEST_EVENTSTORE_URL: eventStoreUrl } = process.env
const atSize = options.scale ? [scale(Number(options.traces))] : []
const known = [...rows, ...eventStoreRows(eventStoreUrl), ...atSize]
const chosen = known.filter(({ name }) => !wanted || wanted.includes(name) || wanted.includes(name.split(':')[0]!))
if (chosen.length === 0) {
  console.error(`no such row; there are ${known.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const figureText = (value: number) =>
  value.toLocaleString('en', { maximumFractionDigits: value < 2 ? 2 : 0 }).padStart(9)

const format = (row: Row): string => {
  const { name, value, yardstick, unit, ratio, most } = row
  return [
    name.padEnd(22),
    figureText(value),
    figureText(yardstick),
    unit.padEnd(11),
    ratio.toFixed(2).padStart(5),
    ...(most === undefined ? [] : [`${value <= most ? 'pass' : 'miss'}, at most ${most.toLocaleString('en')}`]),
  ].join('  ')
}

const say = (line: string) => (options.json ? undefined : console.log(line))

/** Leaves nothing behind, whichever rows are being measured. */
const endedBy = async (exitCode: number) => {
  greeter?.kill()
  await closeWorlds()
  process.exit(exitCode)
}
process.once('SIGINT', () => endedBy(130))
process.once('SIGTERM', () => endedBy(143))

let greeter: ChildProcess | undefined
const world = await openWorld()
try {
  greeter = fork(new URL('hello.ts', import.meta.url))
  const [helloUrl] = (await once(greeter, 'message')) as [string]
  say(`${'row'.padEnd(22)}  ${'reached'.padStart(9)}  ${'yardstick'.padStart(9)}  ${'unit'.padEnd(11)}  ratio`)
  const count = {
    ...(options.messages === undefined ? {} : { messages: Number(options.messages) }),
    ...(options.facts === undefined ? {} : { facts: Number(options.facts) }),
  }
  const setting: Setting = { world, helloUrl, helloPid: greeter.pid!, ms: Number(options.seconds) * 1_000, ...count }
  for (const { name, unit, measure } of chosen) {
    await allCaughtUp(world) // with what the row before has written
    const measured = await measure(setting)
    const figures = 'value' in measured ? [{ name, unit, ...measured }] : measured
    for (const figure of figures) {
      const row: Row = { ...figure, ratio: figure.value / figure.yardstick }
      if (options.json) console.log(JSON.stringify(row))
      else say(format(row))
    }
  }
  say(`memory of the service: ${Math.round(await world.memoryMb())} MB`)
} finally {
  greeter?.kill()
  await world.close()
}
