import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decide, type Decision, type Known } from '../../../src/client/rules/decide.ts'
import type { Rule, RuleSource } from '../../../src/client/rules/rule.ts'

const test = suite('where the sessions of a project go')

const own = (place: string, rule: Rule): RuleSource => ({ place, rule })
const strange = (place: string, rule: Rule): RuleSource => ({
  place,
  rule,
  stranger: { anchor: '/w', hash: JSON.stringify(rule) },
})

const known = (sources: readonly RuleSource[], more: Partial<Known> = {}): Known => ({
  asked: {},
  sources,
  loginNamespace: 'ada',
  isTrusted: () => false,
  ...more,
})

const sent = (decision: Decision) => {
  if (decision.is !== 'sent') throw new Error(decision.why)
  return decision
}

test('without rules a session goes to the namespace of the login, as private', () => {
  assert.equal(decide(known([])), {
    is: 'sent',
    namespace: { value: 'ada', because: 'the login' },
    visibility: { value: 'private', because: 'no rule says otherwise' },
    isAsked: false,
    untrusted: undefined,
  })
})

test('the command line decides before all rules, and an earlier rule before a later one', () => {
  const sources = [own('local', { namespace: 'l' }), own('global', { namespace: 'g', visibility: 'public' })]
  const ruled = sent(decide(known(sources)))
  assert.equal(ruled.namespace, { value: 'l', because: 'local' })
  assert.equal(ruled.visibility, { value: 'public', because: 'global' })
  assert.not(ruled.isAsked)
  const asked = sent(decide(known(sources, { asked: { namespace: 'c', visibility: 'direct' } })))
  assert.equal(asked.namespace, { value: 'c', because: '--namespace' })
  assert.equal(asked.visibility, { value: 'direct', because: '--visibility direct' })
  assert.ok(asked.isAsked)
})

test('a session is never sent if a file of its project says never; of the user’s own rules the first one counts', () => {
  const never = own('global', { never: true })
  assert.equal(decide(known([never])), { is: 'never', why: 'never sent, says global' })
  assert.is(decide(known([own('local', { never: false }), never])).is, 'sent')
  const file = strange('file', { never: true })
  for (const sources of [[file], [own('local', { never: false }), file], [strange('near', { never: false }), file]])
    assert.equal(decide(known(sources, { asked: { namespace: 'c' } })), { is: 'never', why: 'never sent, says file' })
})

test('a session is not public if a file of its project says private or direct, whatever other rules say', () => {
  const file = strange('file', { visibility: 'private' })
  const asked = { visibility: 'public' } as const
  for (const sources of [[file], [own('local', { visibility: 'public' }), file], [strange('near', asked), file]]) {
    const { visibility, isAsked } = sent(decide(known(sources, { asked })))
    assert.equal([visibility, isAsked], [{ value: 'private', because: 'file' }, false])
  }
})

test('a rule of a cloned file needs the user’s agreement only if it changes the namespace', () => {
  const file = strange('file', { namespace: 'acme' })
  assert.equal(sent(decide(known([file]))).untrusted, file)
  assert.is(sent(decide(known([file], { isTrusted: () => true }))).untrusted, undefined)
  assert.is(sent(decide(known([file], { loginNamespace: 'acme' }))).untrusted, undefined)
  assert.is(sent(decide(known([file, own('global', { namespace: 'acme' })]))).untrusted, undefined)
  assert.is(sent(decide(known([own('local', { namespace: 'l' }), file]))).untrusted, undefined)
  assert.is(sent(decide(known([file], { asked: { namespace: 'c' } }))).untrusted, undefined)
  const near = strange('near', { namespace: 'evil' })
  const isTrusted = (source: RuleSource) => source === file
  assert.equal(sent(decide(known([near, file], { isTrusted }))).untrusted, near)
})

const namespace = fc.constantFrom('ada', 'acme', 'evil')
const rule = fc.record(
  { namespace, visibility: fc.constantFrom('private', 'direct', 'public'), never: fc.boolean() },
  { requiredKeys: [] },
) as fc.Arbitrary<Rule>
const owns = fc.array(
  rule.map((one) => own(`own ${JSON.stringify(one)}`, one)),
  { maxLength: 3 },
)
const strangers = fc.array(
  rule.map((one) => strange(`file ${JSON.stringify(one)}`, one)),
  { maxLength: 3 },
)
const asked = fc.record(
  { namespace, visibility: fc.constantFrom('private', 'public') },
  { requiredKeys: [] },
) as fc.Arbitrary<Known['asked']>

test('without an agreement, cloned files never change the namespace, for any rules', () => {
  fc.assert(
    fc.property(owns, strangers, owns, asked, (before, files, after, asked) => {
      const [without, withFiles] = [
        decide(known([...before, ...after], { asked })),
        decide(known([...before, ...files, ...after], { asked })),
      ]
      if (without.is === 'never') return assert.is(withFiles.is, 'never')
      if (withFiles.is === 'never' || withFiles.untrusted) return
      assert.is(withFiles.namespace.value, without.namespace.value)
    }),
    { numRuns: 2_000 },
  )
})

test('cloned files can only restrict the visibility of others’ rules, and a public session names the rule that made it public', () => {
  fc.assert(
    fc.property(owns, strangers, asked, (rules, files, asked) => {
      const decision = decide(known([...rules, ...files], { asked, isTrusted: () => true }))
      if (decision.is === 'never' || decision.visibility.value !== 'public') return
      assert.not(files.some(({ rule }) => rule.visibility === 'private' || rule.visibility === 'direct'))
      assert.ok(decision.isAsked || [...rules, ...files].some(({ place }) => place === decision.visibility.because))
    }),
    { numRuns: 2_000 },
  )
})

test.run()
