import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { writeInProject } from '../support/moves.ts'
import { type RealService, startRealService } from '../support/real-service.ts'

const test = suite<{ service: RealService }>('a session that the service refuses')
test.before(async (context) => void (context.service = await startRealService({ QUOTA_TRACES: '1' })))
test.after(({ service }) => service.close())

test('a session that is refused because its namespace is full is reported with this reason and what to do', async ({
  service,
}) => {
  const machine = await service.logIn()
  writeInProject(machine)
  writeInProject(machine)
  const { events, summary } = await machine.sync()
  assert.equal([summary.new, summary.failed, summary.exitCode], [1, 1, 1])
  const told = JSON.stringify(events)
  assert.match(
    told,
    /the namespace [\w-]+ is full: The namespace may not hold more than 1 traces?: delete traces there/,
  )
  assert.not.match(told, /another user/)
})

test.run()
