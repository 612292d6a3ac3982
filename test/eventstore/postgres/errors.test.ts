import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { failureText, isCancelled, isDiskFull, isTransient } from '../../../src/eventstore/postgres/errors.ts'

const test = suite('postgres/errors')

const fromServer = (code: string) => Object.assign(new pg.DatabaseError('', 0, 'error'), { code })
const fromSystem = (code: string) => Object.assign(new Error(code), { code })

test('an error caused by the network or the state of the server is temporary', () => {
  for (const code of ['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ENOENT', 'ETIMEDOUT'])
    assert.ok(isTransient(fromSystem(code)), code)
  for (const code of ['57P01', '57P03', '57014', '53300', '08006', '40001', '40P01', '25006', '58030', 'XX000'])
    assert.ok(isTransient(fromServer(code)), code)
  assert.ok(isTransient(new Error('Connection terminated unexpectedly')))
})

test('an error of the statement or of our code is permanent', () => {
  for (const code of ['22P02', '42P01', '23505', '28P01', '3D000', '54001'])
    assert.not(isTransient(fromServer(code)), code)
  for (const error of [new TypeError(), new RangeError()]) assert.not(isTransient(error))
})

test('a full disk is distinguished from a lack of other resources', () => {
  assert.ok(isDiskFull(fromServer('53100')))
  assert.not(isDiskFull(fromServer('53300')))
})

test('what has taken too long is not said to be out of reach', () => {
  const said = (error: unknown) => failureText('the database', error, 4_000)
  assert.is(said(fromServer('57014')), 'a statement of the database took longer than 4 s and was cancelled')
  for (const error of [fromServer('57P01'), fromServer('08006'), fromSystem('ECONNREFUSED')])
    assert.is(said(error), 'the database cannot be reached')
  const full = Object.assign(new pg.DatabaseError('no space left', 0, 'error'), { code: '53100' })
  assert.is(said(full), 'the database has refused a statement: no space left')
})

test('an error that a cancelled statement has caused is known', () => {
  const cancelled = fromServer('57014')
  assert.ok(isCancelled(cancelled))
  assert.ok(isCancelled(new Error('outer', { cause: new Error('inner', { cause: cancelled }) })))
  assert.not(isCancelled(new Error('outer', { cause: fromServer('57P01') })))
})

test.run()
