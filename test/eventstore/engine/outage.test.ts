import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newOutageLog } from '../../../src/eventstore/engine/outage.ts'
import { LogUnavailable } from '../../../src/eventstore/log/log.ts'
import { newProxy } from '../log/support/proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

const test = suite('outages')

const newWorld = () => {
  const said: string[] = []
  const note = (data: object, message: string) => void said.push(`${message} ${JSON.stringify(data)}`)
  let now = 0
  return { said, outage: newOutageLog({ info: note, warn: note }, () => now), pass: (ms: number) => (now += ms) }
}

test('one line is logged when an outage begins, and one when it is over', () => {
  const { said, outage, pass } = newWorld()
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
  for (let i = 0; i < 10; i++) for (const part of ['a', 'b']) outage.failed(part, refused)
  pass(12_000)
  for (const part of ['a', 'c', 'b', 'b']) outage.recovered(part)
  outage.failed('a', new LogUnavailable(false, refused))
  assert.equal(said, [
    'PostgreSQL cannot be reached; the service continues as soon as it can {"reason":"connect ECONNREFUSED 10.0.0.1:5432"}',
    'PostgreSQL answers again {"seconds":12}',
    'the log cannot be reached; the service continues as soon as it can {"reason":"the log cannot be reached: connect ECONNREFUSED 10.0.0.1:5432"}',
  ])
})

test('an error without a message is logged with its code', () => {
  const { said, outage } = newWorld()
  outage.failed('a', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))
  assert.match(said[0]!, '"reason":"ECONNREFUSED"')
})

test('a whole service logs two lines, and no stack', async () => {
  const database = await freshDatabase()
  const proxy = await newProxy(database.url)
  const lines: { level: number; msg: string }[] = []
  // Who leads is said besides, whenever that changes, and so is what cannot be cleared away meanwhile.
  const besides = ['updates the read models', 'cannot be dropped']
  const note = (line: (typeof lines)[number]) => besides.some((text) => line.msg.includes(text)) || lines.push(line)
  const logger = pino({ level: 'info' }, { write: (line: string) => void note(JSON.parse(line)) })
  const { app, call, unrepeated, service, close } = await openApp(proxy.url, {
    logger,
    env: { SUMMARY_DEBOUNCE_MS: '1' },
  })
  const isReady = async () => (await service.readiness()).missing.length === 0
  lines.length = 0
  proxy.set('refuse')
  await until(() => lines.length > 0)
  for (let rounds = 0; rounds < 3; rounds++) {
    assert.is((await app.inject('/health/ready')).statusCode, 503)
    await unrepeated(() => call('POST', '/v1/session', { body: { deviceId: 'ada' } }))
  }
  proxy.set('pass')
  await until(() => lines.length > 1)
  await until(isReady)
  assert.equal(
    lines.map(({ msg }) => msg.split(';')[0]),
    ['PostgreSQL cannot be reached', 'PostgreSQL answers again'],
  )
  assert.not.match(JSON.stringify(lines), 'stack')
  await close()
  await proxy.close()
  await database.drop()
})

test.run()
