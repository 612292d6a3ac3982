import { PassThrough } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { barLine, newBar } from '../../../src/client/report/bar.ts'
import { screenOf } from '../../support/screen.ts'
import { until } from '../../support/until.ts'

const test = suite('the progress bar')

/** A stream that says of itself that it is a terminal, and what was written to it. */
const newTerminal = (columns: number) => {
  const written: string[] = []
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as NodeJS.WriteStream
  stream.write = (text: string | Uint8Array) => written.push(String(text)) > 0
  return { stream, output: () => written.join('') }
}

test('printed text appears above the bar, complete, at every width', async () => {
  for (const columns of [40, 80]) {
    const { stream, output } = newTerminal(columns)
    const bar = newBar(stream, 1_000)
    const screen = () => screenOf(output(), columns)
    bar.advance(500, 20)
    await until(() => output().includes('50 %'))
    bar.print(stream, 'one notice\n')
    bar.print(stream, 'another notice\n')
    assert.equal(screen().slice(0, 2), ['one notice', 'another notice'])
    assert.match(screen()[2]!, /50 %/)
    assert.is(screen().length, 3)
    bar.stop()
    bar.print(stream, 'the end\n')
    assert.equal(screen(), ['one notice', 'another notice', 'the end', ''])
  }
})

test('the bar fits a resized terminal, and never fills its last column', async () => {
  const { stream, output } = newTerminal(100)
  const bar = newBar(stream, 1_000)
  bar.advance(500, 20)
  await until(() => output().includes('50 %'))
  const from = output().length
  stream.columns = 30
  bar.print(stream, '')
  const [line = '', ...rest] = screenOf(output().slice(from), 30)
  assert.equal([rest, line.length <= 29, /50 %/.test(line)], [[], true, true])
  bar.stop()
})

test('the bar has no colours, and does not hide the cursor', async () => {
  const { stream, output } = newTerminal(80)
  const bar = newBar(stream, 10)
  bar.advance(10, 1)
  await until(() => output().includes('100 %'))
  bar.stop()
  assert.not.match(output(), /\x1b\[[\d;]*m|\x1b\[\?/)
})

const line = { done: 0.42, messages: 1_234, rate: 1_050, secondsLeft: 42 }

test('a wide terminal shows the bar, how much is done, the rate and the time left', () => {
  assert.is(barLine(line, 60), '■■■■■■■···········  42 %  1,234 messages  1,050/s  0:42 left')
})

test('a terminal of 40 columns or fewer shows the most important values', () => {
  assert.is(barLine(line, 39), '■■■■■········  42 %  1,050/s  0:42 left')
  assert.is(barLine(line, 20), '42 %  0:42 left')
  assert.is(barLine(line, 5), '42 %')
})

test('the bar is never wider than the terminal', () => {
  for (let width = 0; width < 120; width++)
    for (const done of [0, 0.004, 0.5, 0.999, 1])
      for (const secondsLeft of [undefined, 0, 59, 100_000]) {
        const text = barLine({ done, messages: 1_234_567, rate: 12_345, secondsLeft }, width)
        assert.ok(text.length <= width, `${width}: ${text}`)
      }
})

test('the bar leaves out unknown values', () => {
  assert.is(barLine({ done: 0, messages: 1, rate: 0, secondsLeft: undefined }, 30), '··············  0 %  1 message')
})

test.run()
