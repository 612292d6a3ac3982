import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { globIn, globProblem } from '../../../src/client/rules/globs.ts'

const test = suite('globs of paths')

const meant: readonly (readonly [string, readonly string[]])[] = [
  ['secret', ['secret', 'secret/a', 'secret/a/b']],
  ['secret/', ['secret', 'secret/a', 'secret/a/b']],
  ['./secret', ['secret', 'secret/a', 'secret/a/b']],
  ['secret/*', ['secret/a', 'secret/a/b']],
  ['**/a', ['secret/a', 'secret/a/b', '.hidden/a']],
  ['s*', ['secret', 'secret/a', 'secret/a/b']],
  ['.h*/**', ['.hidden/a']],
  ['**', ['', 'secret', 'secret/a', 'secret/a/b', '.hidden/a', '{x,y}', '#c']],
  ['', ['', 'secret', 'secret/a', 'secret/a/b', '.hidden/a', '{x,y}', '#c']],
  ['{x,y}', ['{x,y}']],
  ['#c', ['#c']],
  ['nothing', []],
]
const paths = ['', 'secret', 'secret/a', 'secret/a/b', '.hidden/a', '{x,y}', '#c']

for (const [glob, expected] of meant)
  test(`the glob ${JSON.stringify(glob)} matches ${expected.join(', ') || 'nothing'}`, () => {
    const matches = globIn(['/w/app'], glob)
    assert.equal(
      paths.filter((path) => matches(`/w/app/${path}`)),
      expected,
    )
    assert.not(matches('/w'))
    assert.not(matches('/w/application/secret'))
  })

test('an invalid glob has an error that says what is wrong', () => {
  assert.match(globProblem('!a')!, '!')
  assert.match(globProblem('a/../../b')!, '..')
  assert.is(globProblem('a/..b/*'), undefined)
})

test('a glob that is made to be slow is matched in a short time', () => {
  const long = `/w/${'a'.repeat(200)}/`.repeat(15)
  for (const glob of ['*a'.repeat(100) + 'b', '**/*a/'.repeat(40) + 'b', '?*'.repeat(120), '[a-z]*'.repeat(40) + '!'])
    assert.not(globIn(['/'], glob)(long))
})

test.run()
