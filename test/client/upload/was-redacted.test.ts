import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openSyncState } from '../../../src/client/state/sync-state.ts'
import { wasRedacted } from '../../../src/client/upload/read-session.ts'
import { writeInProject } from '../support/moves.ts'
import { type RealService, startRealService } from '../support/real-service.ts'
import { tokenOf } from '../support/stored.ts'

const test = suite<{ service: RealService }>('whether secrets were taken out of a session')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

test('whether a session’s secrets were redacted is known only on the machine that sent it', async ({ service }) => {
  const machine = await service.logIn()
  const { id } = writeInProject(machine)
  await machine.sync()
  const { data } = await service.call('GET', '/v1/session', { token: await tokenOf(machine) })
  const { namespaceId } = (data as { session: { namespaceId: string } }).session
  const isKnown = async ({ config }: typeof machine, sessionId = id) => {
    const state = openSyncState({ folder: join(config, 'data'), config, readOnly: true })
    const states = await state.of({ server: service.url, namespaceId })
    const known = wasRedacted(states, { agentId: 'claude-code', sessionId })
    state.close()
    return known
  }
  assert.is(await isKnown(machine), true)
  assert.is(await isKnown(machine, 'another'), undefined)
  assert.is(await isKnown(service.another(machine)), undefined)
})

test.run()
