import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseTraceLink, traceLink } from '../../../src/client/api/trace-link.ts'

const test = suite('links to traces')

test('a link is parsed to the parts from which it was made, for any names', () => {
  for (const server of ['http://127.0.0.1:3000', 'https://example.org/tracebook'])
    for (const externalId of ['a', 'a/b', 'a b?#', '@x', '%25', 'ü', '.', '..', '~.', '~~..', '~a', '...'])
      assert.equal(parseTraceLink(traceLink(server, 'team', externalId)), { server, namespace: 'team', externalId })
})

test('a link may continue after the trace, and may be an address of the API', () => {
  const [server, externalId] = ['https://example.org', 'a']
  for (const more of ['', '/', '/-/', '/-/messages/7', '?x=1', '#m7'])
    assert.equal(parseTraceLink(`${server}/@team/a${more}`), { server, namespace: 'team', externalId })
  for (const more of ['', '/messages', '/export?format=md'])
    assert.equal(parseTraceLink(`${server}/v1/traces/a${more}`), { server, externalId })
  assert.equal(parseTraceLink(`${server}/v1/traces/a?namespace=team`), { server, namespace: 'team', externalId })
})

test('a link to a message is parsed to the parts from which it was made', () => {
  const [server, externalId] = ['https://example.org', 'a']
  for (const message of ['m', 'a b&c', "it's", '?', 'ü'])
    assert.equal(parseTraceLink(traceLink(server, 'team', externalId, message)), {
      ...{ server, namespace: 'team', externalId, message },
    })
})

test('any other text is not a link to a trace', () => {
  for (const text of ['a', '/@team/a', 'https://example.org/', 'https://example.org/@team', 'https://example.org/@/a'])
    assert.is(parseTraceLink(text), undefined, text)
  for (const text of ['https://example.org/@team/a/b', 'https://example.org/v1/traces', 'ftp://example.org/@team/a'])
    assert.is(parseTraceLink(text), undefined, text)
})

test.run()
