import { createHash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../projections/index.ts'

const test = suite('projections: the version')

/** What the tables of a version were when it was made. A handler may change without them: then the version goes up too. */
const fingerprints: { readonly [version: string]: string } = {
  'main 5': 'a25347d65fc9bcb8',
  'timeline 1': '50a7a2ffe552f86b',
}

for (const { name, version, projections } of groups) {
  test(`other tables than before have another version: ${name}`, () => {
    const text = projections.map(({ tables, indexes }) => `${tables}\n${indexes}`).join('\n')
    const fingerprint = createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex').slice(0, 16)
    assert.is(
      fingerprint,
      fingerprints[`${name} ${version}`],
      'the tables have changed: raise `version` in projections/index.ts, and note the fingerprint here',
    )
  })
}

test.run()
