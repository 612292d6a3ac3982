import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, readConfig } from '../src/config.ts'

const test = suite('config')

const problemOf = (variables: Record<string, string>) => {
  try {
    readConfig(variables)
  } catch (error) {
    assert.instance(error, ConfigError)
    return (error as ConfigError).message
  }
  return undefined
}

test('a number that cannot be used is refused with those that can', () => {
  for (const port of ['99999', '-1', '80.5', 'http']) {
    assert.match(problemOf({ PORT: port })!, /PORT: must be a whole number from 0 to 65535$/)
  }
  assert.match(problemOf({ DISK_RESERVE_MB: 'all' })!, /DISK_RESERVE_MB: must be a whole number of at least 0$/)
  assert.match(problemOf({ SESSION_TTL_DAYS: '0' })!, /SESSION_TTL_DAYS: must be a number of days, more than 0/)
  assert.is(readConfig({ PORT: '0', SESSION_TTL_DAYS: '0.5' }).PORT, 0)
})

test('a value that cannot be used is named', () => {
  for (const [name, value] of [
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['ROLES', 'api,boss'],
    ['LOG_LEVEL', 'loud'],
  ] as const)
    assert.match(problemOf({ [name]: value })!, name)
})

test('a database is given by one host, and a list of them is refused as such', () => {
  for (const url of ['postgres://me:p,w@a:5432,b:5432/x', 'postgresql://a,b/x', 'postgres:///x?user=me&host=a%2Cb'])
    assert.match(problemOf({ DATABASE_URL: url })!, /DATABASE_URL: takes one host, not 2: .* primary[^\n]*$/)
  for (const url of ['postgres://me:p,w@a:5432/x', 'postgresql:///x?host=/run/a'])
    assert.is(readConfig({ DATABASE_URL: url }).DATABASE_URL, url)
})

test('all invalid variables are named at once, and an empty one counts as unset', () => {
  const problem = problemOf({ PORT: 'x', RATE_LIMIT_READS: '0', QUOTA_TRACES: '' })!
  assert.match(problem, /PORT: .*\n.*RATE_LIMIT_READS: must be a whole number from 1 to 1000000000/)
  assert.not.match(problem, /QUOTA_TRACES/)
})

test.run()
