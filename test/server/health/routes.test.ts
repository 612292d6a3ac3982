import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SERVICE, actAs, currentClient } from '../../../src/base/current-client.ts'
import { healthRoutes } from '../../../src/server/health/routes.ts'

const test = suite('health: routes')

test('the check that all who ask share waits in the line of the service, not in that of the client who asked first', async () => {
  const app = Fastify()
  const net = 'net:192.0.2.1'
  app.addHook('onRequest', (_request, _reply, done) => actAs({ id: net, net }, done))
  const checks: unknown[] = []
  const readiness = async () => {
    checks.push(currentClient())
    return { missing: [], degraded: [] }
  }
  healthRoutes(app, { now: () => 0, readiness })
  const { statusCode } = await app.inject('/health/ready')
  assert.equal([statusCode, checks], [200, [SERVICE]])
  await app.close()
})

test.run()
