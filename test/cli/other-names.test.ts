import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withOwnName } from '../../src/cli/other-names.ts'

const test = suite('names that other programs use')

test('a command is found by the names that people try, and gets all words after the name', () => {
  for (const [words, own] of [
    ['delete 5e55 --yes', 'rm 5e55 --yes'],
    ['remove 5e55', 'rm 5e55'],
    ['erase 5e55', 'rm 5e55'],
    ['list', 'ls'],
    ['view 5e55', 'show 5e55'],
    ['cat 5e55', 'show 5e55'],
    ['publish 5e55', 'share 5e55'],
    ['auth login --server http://x', 'login --server http://x'],
    ['auth status', 'status'],
    ['help list', 'help ls'],
  ])
    assert.equal(withOwnName(words!.split(' ')), own!.split(' '))
})

test('other words are not changed', () => {
  for (const words of ['', 'ls list', 'auth', 'auth nothing', 'constructor', 'namespaces list'])
    assert.equal(withOwnName(words.split(' ')), words.split(' '))
})

test.run()
