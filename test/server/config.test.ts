import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, readConfig } from '../../src/server/config.ts'

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

test('a standby is for nodes that only answer, beside a primary', () => {
  const [DATABASE_URL, DATABASE_READ_URL] = ['postgres://a/x', 'postgres://b/x']
  assert.is(readConfig({ DATABASE_URL, DATABASE_READ_URL, ROLES: 'api' }).DATABASE_READ_URL, DATABASE_READ_URL)
  assert.match(
    problemOf({ DATABASE_URL, DATABASE_READ_URL })!,
    /DATABASE_READ_URL: is for processes with ROLES=api only$/,
  )
  assert.match(problemOf({ DATABASE_READ_URL, ROLES: 'api' })!, /DATABASE_READ_URL: needs DATABASE_URL/)
  assert.match(
    problemOf({ DATABASE_URL, DATABASE_READ_URL: DATABASE_URL, ROLES: 'api' })!,
    /is the same as DATABASE_URL/,
  )
})

test('a database is given by one host, and a list of them is refused as such', () => {
  for (const url of ['postgres://me:p,w@a:5432,b:5432/x', 'postgresql://a,b/x', 'postgres:///x?user=me&host=a%2Cb'])
    assert.match(problemOf({ DATABASE_URL: url })!, /DATABASE_URL: takes one host, not 2: .* primary[^\n]*$/)
  for (const url of ['postgres://me:p,w@a:5432/x', 'postgresql:///x?host=/run/a'])
    assert.is(readConfig({ DATABASE_URL: url }).DATABASE_URL, url)
})

test('PUBLIC_URL is an address without a path', () => {
  for (const url of ['/tracebook', '/tracebook/', '//', '/?', '?a=b', '/#a', '#'])
    assert.match(
      problemOf({ PUBLIC_URL: `https://traces.example.org${url}` })!,
      /PUBLIC_URL: must have no path .*: give the service a host name of its own, such as https:\/\/traces\.example\.org$/,
      url,
    )
  assert.match(problemOf({ PUBLIC_URL: 'https://ada@traces.example.org' })!, /PUBLIC_URL: must have no path/)
  for (const url of ['traces.example.org', 'ftp://traces.example.org', 'https://'])
    assert.match(problemOf({ PUBLIC_URL: url })!, /PUBLIC_URL: must be a URL that starts with http:[^\n]*$/, url)
  for (const url of ['https://traces.example.org', 'https://traces.example.org/', 'HTTP://[::1]:3000'])
    assert.is(readConfig({ PUBLIC_URL: url }).PUBLIC_URL, url)
})

test('all invalid variables are named at once, and an empty one counts as unset', () => {
  const problem = problemOf({ PORT: 'x', RATE_LIMIT_READS: '0', QUOTA_TRACES: '' })!
  assert.match(problem, /PORT: .*\n.*RATE_LIMIT_READS: must be a whole number from 1 to 1000000000/)
  assert.not.match(problem, /QUOTA_TRACES/)
})

test.run()
