import { suite } from 'uvu'
import { appends } from './contract/appends.ts'
import { bodies } from './contract/bodies.ts'
import { concurrency } from './contract/concurrency.ts'
import { follows } from './contract/follows.ts'
import { reads } from './contract/reads.ts'
import { retries } from './contract/retries.ts'
import { segments } from './contract/segments.ts'
import { segmentReads } from './contract/segment-reads.ts'
import { truncation } from './contract/truncation.ts'
import { type Adapter, type World, newWorld } from './support/world.ts'

const parts = { appends, retries, reads, follows, concurrency, truncation, bodies, segments, segmentReads }

/** What every log must do: registers its suites for an adapter, all of them or those that are named. */
export const contract = (adapter: Adapter, names = Object.keys(parts) as (keyof typeof parts)[]): void => {
  for (const part of names) {
    const register = parts[part]
    const test = suite<World>(`${adapter.name} log: ${part}`)
    test.before(async (context) => void Object.assign(context, await newWorld(adapter)))
    test.after(({ end }) => end())
    register(test)
    test.run()
  }
}
