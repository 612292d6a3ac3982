import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BadAddress, parseAddress } from '../../../../src/eventstore/log/eventstoredb/address.ts'
import { openEventStoreLog } from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'

const client = (url: string) => parseAddress(url).clientUrl(3)

test('KurrentDB URLs become EventStoreDB URLs, which is all that the client knows', () => {
  assert.is(client('kurrentdb://a:2113'), 'esdb://a:2113?keepAliveInterval=10003')
  assert.is(
    client('kurrentdb+discover://a?tls=false'),
    'esdb+discover://a?tls=false&gossipTimeout=1&keepAliveInterval=10003',
  )
  assert.is(
    client('esdb://a:1,b:2,c:3/?tls=false'),
    'esdb://a:1,b:2,c:3?tls=false&gossipTimeout=1&keepAliveInterval=10003',
  )
  assert.is(
    client('kurrentdb+discover://a:1,b:2'),
    'esdb://a:1,b:2?gossipTimeout=1&keepAliveInterval=10003',
    'all are asked',
  )
  assert.is(client('esdb://a:1,b:2?gossipTimeout=4'), 'esdb://a:1,b:2?gossiptimeout=4&keepAliveInterval=10003')
})

test('our parameters are not passed to the client, and some of its own we set ourselves', () => {
  const address = parseAddress('esdb://a?streamPrefix=x%2F&maxAppendBytes=500&throwOnAppendFailure=false&tls=false')
  assert.equal([address.prefix, address.maxAppendBytes], ['x/', 500])
  assert.is(address.clientUrl(0), 'esdb://a?tls=false&keepAliveInterval=10000')
  assert.is(parseAddress('esdb://a?keep_alive_interval=20000').clientUrl(1), 'esdb://a?keepAliveInterval=20001')
  assert.equal([parseAddress('esdb://a').prefix, parseAddress('esdb://a').maxAppendBytes], ['tracebook.', undefined])
})

test('credentials of the URL are sent with each call; without any, placeholder ones keep appends off the batch path', () => {
  const { credentials, clientUrl } = parseAddress('esdb://ann%40b:p%3Aw%2F@a:1?tls=true')
  assert.equal(credentials, { username: 'ann@b', password: 'p:w/' })
  assert.is(clientUrl(0), 'esdb://ann%40b:p%3Aw%2F@a:1?tls=true&keepAliveInterval=10000')
  assert.ok(parseAddress('esdb://a').credentials.username.length > 0)
})

test('an invalid URL is refused without being quoted', () => {
  const warned: unknown[] = []
  const { warn } = console
  console.warn = (...text: unknown[]) => void warned.push(text)
  const bad = [
    'http://ann:secret@a',
    'esdb://',
    'esdb://ann:secret@a?unheardOf=1',
    'esdb://ann:secret@a?tlsVerifyCert=false',
    'esdb://ann:secret@a?streamPrefix=',
    'esdb://ann:secret@a?streamPrefix=$ce-',
    'esdb://ann:secret@a?maxAppendBytes=lots',
    'esdb://ann:secret@a?keepAliveInterval=5',
    'esdb://ann:secret@a:port',
    'esdb://ann:secret@a?tls=maybe',
    'esdb://ann:secret@127.0.0.1',
    'esdb://ann:secret@a?tlsCAFile=/not/there',
  ]
  for (const url of bad)
    try {
      openEventStoreLog({ url })
      assert.unreachable(url)
    } catch (error) {
      assert.instance(error, BadAddress, url)
      assert.not.match(String(error), 'secret')
    }
  console.warn = warn
  assert.equal(warned, [])
})

test.run()
