import { type Test, suite } from 'uvu'
import { appends } from './contract/appends.ts'
import { bodies } from './contract/bodies.ts'
import { epochs } from './contract/epochs.ts'
import { follows } from './contract/follows.ts'
import { reads } from './contract/reads.ts'
import { retries } from './contract/retries.ts'
import { segments } from './contract/segments.ts'
import { segmentReads } from './contract/segment-reads.ts'
import { truncation } from './contract/truncation.ts'
import { type Adapter, type World, newWorld } from './support/world.ts'

const parts = { appends, retries, reads, follows, truncation, bodies, segments, segmentReads, epochs }

/** What every log must do: registers suites for an adapter, those of one process unless others are given. */
export const contract = (
  adapter: Adapter,
  suites: Readonly<Record<string, (test: Test<World>) => void>> = parts,
): void => {
  for (const [name, register] of Object.entries(suites)) {
    const test = suite<World>(`${adapter.name} log: ${name}`)
    test.before(async (context) => void Object.assign(context, await newWorld(adapter)))
    test.after(({ end }) => end())
    register(test)
    test.run()
  }
}
