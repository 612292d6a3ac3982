import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { moves } from '../support/moves.ts'
import { type RealService, startRealService } from '../support/real-service.ts'

const test = suite<{ service: RealService }>('a session whose file was moved')
test.before(async (context) => void (context.service = await startRealService()))
test.after(({ service }) => service.close())

for (const [how, { write, move }] of Object.entries(moves))
  test(`${how}: nothing is sent again, and reported problems are not reported again`, async ({ service }) => {
    const machine = await service.logIn()
    const written = write(machine)
    const first = await written.sync()
    assert.equal([first.summary.synced, first.summary.skippedLines, first.summary.exitCode], [1, 1, 0])
    move(written, machine)
    service.requests.length = 0
    const { summary } = await written.sync()
    assert.equal([summary.unchanged, summary.messages, summary.skippedLines, summary.exitCode], [1, 0, 0, 0])
    assert.equal(service.writes(), [])
  })

test.run()
