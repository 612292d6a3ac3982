import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newRequestLogger } from '../../../src/server/http/request-logger.ts'

const test = suite('the logger of a request')

const newLog = (level: string) => {
  const lines: { level: number; reqId?: string; part?: string; msg: string }[] = []
  return { lines, logger: pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) }) }
}

test('writes the id of the request in each line, at the level of the service', () => {
  const { lines, logger } = newLog('info')
  const log = newRequestLogger(logger, { reqId: 'r-1' })
  log.debug('not shown')
  log.info('a')
  log.error({ part: 'b' }, 'c')
  log.child({ part: 'd' }).warn('e')
  assert.equal(
    lines.map(({ level, reqId, part, msg }) => [level, reqId, part, msg]),
    [
      [30, 'r-1', undefined, 'a'],
      [50, 'r-1', 'b', 'c'],
      [40, 'r-1', 'd', 'e'],
    ],
  )
  assert.is(log.level, 'info')
})

test('is made only when something is logged', () => {
  const { logger } = newLog('info')
  let made = 0
  const counting = { level: 'info', child: () => ((made += 1), logger) } as never
  const log = newRequestLogger(counting, { reqId: 'r-1' })
  assert.is(made, 0)
  log.info('a')
  log.info('b')
  assert.is(made, 1)
})

test.run()
