import { createHash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readModels } from '../../projections/index.ts'

const test = suite('projections: the version')

/** What the tables of a version were when it was made. A handler may change without them: then the version goes up too. */
const fingerprints: { readonly [version: number]: string } = { 6: 'a30bd9c5cbf7094c' }

test('other tables than before have another version', () => {
  const text = readModels.projections.map(({ tables, indexes }) => `${tables}\n${indexes}`).join('\n')
  const fingerprint = createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex').slice(0, 16)
  assert.is(
    fingerprint,
    fingerprints[readModels.version],
    'the tables have changed: raise `version` in projections/index.ts, and note the fingerprint here',
  )
})

test.run()
