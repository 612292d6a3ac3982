import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/cli/exit.ts'
import { type Asking, confirmPublic, type PublicPreview } from '../../../src/client/rules/confirm-public.ts'

const test = suite('the question before anything becomes public')

const preview: PublicPreview = {
  source: '/home/ada/.claude/projects/app/1.jsonl',
  title: 'Add a parser\ntest',
  project: '/home/ada/app',
  branch: 'parser',
  messages: 1_204,
  firstPrompt: 'Please add\n\n a test',
  isRedacted: true,
  because: '--visibility public',
}
const server = 'https://traces.example'

/** Somebody at a terminal who gives this answer; `asked` is what they were shown. */
const answering = (answer: boolean) => {
  const asked: string[] = []
  const asking: Asking = { isTerminal: true, confirm: async (text) => asked.push(text) > 0 && answer }
  return { asked, asking }
}
const nobody: Asking = { isTerminal: false, confirm: () => Promise.reject(new Error('nobody can be asked')) }

const refusal = async (promise: Promise<void>): Promise<UsageError> => {
  const error = await promise.then(
    () => assert.unreachable('was not refused'),
    (error: unknown) => error,
  )
  assert.instance(error, UsageError)
  return error as UsageError
}

test('the question shows who can read the session, its title, project, number of messages and first prompt, and that secrets were redacted', async () => {
  const { asked, asking } = answering(true)
  await confirmPublic([preview], { yes: false, server }, asking)
  assert.equal(asked, [
    `This session will be public: everyone who reaches https://traces.example can read it, also without an account, and finds it in the public feed.
What is added later becomes public too, with "sync --watch" at once.
  Add a parser test
    /home/ada/.claude/projects/app/1.jsonl
    project /home/ada/app, branch parser, 1,204 messages, secrets taken out by this machine
    begins: Please add a test
    public because of --visibility public`,
  ])
})

test('the question names every session, and says which ones hold secrets', async () => {
  const { asked, asking } = answering(true)
  const all = [preview, { ...preview, title: 'Other', isRedacted: false }, { ...preview, isRedacted: undefined }]
  await confirmPublic(all, { yes: false, server }, asking)
  assert.match(asked[0]!, /^3 sessions will be public: .* can read them/)
  assert.match(asked[0]!, /Other\n.*\n.*SECRETS NOT TAKEN OUT/)
  assert.match(asked[0]!, 'not known whether secrets were taken out')
})

test('the question truncates a long prompt at a character boundary', async () => {
  const { asked, asking } = answering(true)
  await confirmPublic([{ ...preview, firstPrompt: '😀'.repeat(500) }], { yes: false, server }, asking)
  assert.match(asked[0]!, /begins: 😀{199}…\n/u)
})

test('sessions stay private after the answer no, and if the question cannot be asked', async () => {
  assert.match(
    (await refusal(confirmPublic([preview], { yes: false, server }, answering(false).asking))).message,
    'not confirmed',
  )
  assert.match((await refusal(confirmPublic([preview], { yes: false, server }, nobody))).message, '--yes')
})

test('the question is not asked with --yes, nor if no session would become public', async () => {
  await confirmPublic([preview], { yes: true, server }, nobody)
  await confirmPublic([], { yes: false, server }, nobody)
})

test.run()
