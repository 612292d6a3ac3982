import { createHash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readModels } from '../../projections/index.ts'

const test = suite('projections: the version')

/** Tables, and which events have a handler, when a version was made. A handler may change without them: raise it then, too. */
const fingerprints: { readonly [version: number]: string } = { 6: '21c570a4a05bef17' }

const handled = (on: object) =>
  Object.entries(on)
    .filter(([, handler]) => handler !== 'ignored')
    .map(([type]) => type)
    .sort()

test('other tables or other events than before have another version', () => {
  const text = readModels.projections
    .map(({ name, tables, indexes, on }) => [name, tables, indexes, ...handled(on)].join('\n'))
    .join('\n')
  const fingerprint = createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex').slice(0, 16)
  assert.is(
    fingerprint,
    fingerprints[readModels.version],
    'the tables have changed, or what is made of which events: raise `version` in projections/index.ts, and note the fingerprint here',
  )
})

test.run()
