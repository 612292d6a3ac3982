import { createHash } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../projections/index.ts'

const test = suite('projections: the version')

/** Fingerprints of the tables and of the handled events, by version. If only a handler changes, raise the version as well. */
const fingerprints: { readonly [version: string]: string } = {
  'main 32': '53512d9d430aaa43',
  'timeline 9': '32a655901ef4e888',
  'search 12': '7fbc7573600f5951',
  'attribution 2': '1c21f2e4e24f3450',
}

const handled = (on: object) =>
  Object.entries(on)
    .filter(([, handler]) => handler !== 'ignored')
    .map(([type]) => type)
    .sort()

for (const { name: group, version, projections } of groups) {
  test(`the version changes with the tables and the handled events: ${group}`, () => {
    const text = projections
      .map(({ name, tables, indexes, on }) => [name, tables, indexes, ...handled(on)].join('\n'))
      .join('\n')
    const fingerprint = createHash('sha256').update(text.replace(/\s+/g, ' ')).digest('hex').slice(0, 16)
    assert.is(
      fingerprint,
      fingerprints[`${group} ${version}`],
      'the tables or the handled events have changed: raise `version` in projections/index.ts, and note the fingerprint here',
    )
  })
}

test.run()
