import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { operationText } from '../../../src/commands/audit/diff.ts'

const test = suite('an operation of a patch in words')

test('says what was done to which member, with its new value', () => {
  const texts = [
    { op: 'replace', path: '/title', value: 'a "b"\n' },
    { op: 'add', path: '/order', value: 7 },
    { op: 'remove', path: '/model' },
    { op: 'add', path: '/parts/10', value: { type: 'text' } },
    { op: 'add', path: '/parts/-', value: null },
    { op: 'remove', path: '/parts/2' },
    { op: 'replace', path: '/a~1b~0c', value: [] },
    { op: 'replace', path: '', value: {} },
  ] as const
  assert.equal(
    texts.map((operation) => operationText({ ...operation } as never)),
    [
      'changed title to "a \\"b\\"\\n"',
      'added order: 7',
      'removed model',
      'added part 10: {"type":"text"}',
      'added a part: null',
      'removed part 2',
      'changed a/b~c to []',
      'changed everything to {}',
    ],
  )
})

test.run()
