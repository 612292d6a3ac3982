import type { Message, Part } from '../../../src/contract/message.ts'
import { factOf, factsIn } from '../../../src/server/trace/messages/facts.ts'
import { ShapeSoFar } from '../../../src/server/trace/shape.ts'
import type { Call, ProviderAnswer } from './apis/api.ts'

/** What the service has of an agent's sessions, beside what the provider has told the agent. */

type Told = {
  readonly typed: readonly string[]
  /** What the model has asked of its helpers. */
  readonly delegated: readonly string[]
  readonly answers: readonly ProviderAnswer[]
  readonly refused: number
}

/** What a program does not store, or stores in a form that only the provider can read. */
export type NotStored = 'reasoningTokens' | 'errors' | 'delegated'

const occurrences = (texts: readonly string[], wanted: string): number =>
  texts.filter((text) => text.includes(wanted)).length

/** The texts, each of which has to be in as many of those that are stored as it was told. */
const missingOrTwice = (kind: string, told: readonly string[], stored: readonly string[]): readonly string[] =>
  [...new Set(told)].flatMap((text) => {
    const [is, was] = [occurrences(stored, text), told.filter((other) => other === text).length]
    return is === was ? [] : [`${kind} "${text}" is there ${is} times, and was told ${was} times`]
  })

const ofType = <Type extends Part['type']>(parts: readonly Part[], type: Type) =>
  parts.flatMap((part) => (part.type === type && part.content ? [part.content] : [])) as NonNullable<
    Extract<Part, { readonly type: Type }>['content']
  >[]

/** What the arguments of a call have to contain, whatever the tool calls them. */
const gistOf = ({ action }: Call): string => {
  switch (action.kind) {
    case 'shell':
      return action.command
    case 'write':
    case 'read':
      return action.path
    case 'edit':
      return action.after
    case 'delegate':
      return action.prompt
    case 'wait':
    case 'complete':
      return ''
  }
}

const callsDiffer = (told: readonly Call[], parts: readonly Part[]): readonly string[] => {
  const calls = ofType(parts, 'tool_call')
  const results = ofType(parts, 'tool_result')
  const left = [...calls]
  const missing = told.flatMap((call) => {
    const at = left.findIndex(
      ({ toolName, args }) =>
        toolName.endsWith(call.tool.name) &&
        Object.values(args).some((value) => JSON.stringify(value).includes(JSON.stringify(gistOf(call)).slice(1, -1))),
    )
    if (at < 0) return [`no call of ${call.tool.name} with "${gistOf(call)}"`]
    const { callId } = left[at]!
    left.splice(at, 1)
    const own = results.filter((result) => result.callId === callId)
    if (own.length !== 1) return [`${own.length} results of ${call.tool.name} with "${gistOf(call)}"`]
    const { status, output } = own[0]!
    const wanted = call.action.fails ? 'error' : 'success'
    return [
      ...(status === wanted ? [] : [`the result of "${gistOf(call)}" is ${status} instead of ${wanted}`]),
      ...(output.includes(call.action.says ?? '')
        ? []
        : [`the result of "${gistOf(call)}" lacks "${call.action.says}": ${output}`]),
    ]
  })
  return [...missing, ...left.map(({ toolName }) => `a call of ${toolName} that the model has not asked for`)]
}

const TOKENS = { inputTokens: 'input', cacheReadTokens: 'cached', reasoningTokens: 'thinking' } as const

/** Each sum of tokens that is another one than the provider has told. */
const tokensDiffer = (
  answers: readonly ProviderAnswer[],
  messages: readonly Message[],
  notStored: readonly NotStored[],
): readonly string[] => {
  const usages = new Map(
    messages.flatMap(({ usage, externalId }) => (usage ? [[usage.responseId ?? externalId, usage]] : [])),
  )
  const stored = (name: 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'reasoningTokens') =>
    usages.values().reduce((sum, usage) => sum + (usage[name] ?? 0), 0)
  const told = (...names: readonly (keyof ProviderAnswer['tokens'])[]) =>
    answers.reduce((sum, { tokens }) => sum + names.reduce((all, name) => all + tokens[name], 0), 0)
  const pairs = [
    ['outputTokens', told('output', 'thinking')] as const,
    ...(Object.entries(TOKENS) as [keyof typeof TOKENS, keyof ProviderAnswer['tokens']][]).map(
      ([name, ofProvider]) => [name, told(ofProvider)] as const,
    ),
  ]
  return pairs.flatMap(([name, wanted]) =>
    stored(name) === wanted || notStored.some((left) => left === name)
      ? []
      : [`${name} are ${stored(name)} instead of ${wanted}`],
  )
}

const promptsOf = (messages: readonly Message[]): number => {
  const shape = new ShapeSoFar()
  for (const { role, parts = [] } of messages)
    shape.add({ isOfUser: role === 'user', hasText: false, facts: factsIn(parts.map((part) => factOf(part, ''))) })
  return shape.shape().prompts
}

/** What differs, a sentence each. `sessions`: the messages of each trace. `notStored` is not looked for. */
export const differences = (
  { typed, delegated, answers, refused }: Told,
  sessions: readonly (readonly Message[])[],
  notStored: readonly NotStored[],
): readonly string[] => {
  const messages = sessions.flat()
  const partsOf = (role: Message['role']) =>
    messages.filter((message) => message.role === role).flatMap(({ parts = [] }) => parts)
  const [ofUser, answered] = [partsOf('user'), partsOf('assistant')]
  const texts = (parts: readonly Part[], type: 'text' | 'thinking') => ofType(parts, type).map(({ text }) => text)
  const all = messages.flatMap(({ parts = [] }) => parts)
  const prompts = notStored.includes('delegated') ? typed : [...typed, ...delegated]
  const asked = typed.length + delegated.length
  const errors = ofType(all, 'error').length
  const counted = sessions.reduce((sum, session) => sum + promptsOf(session), 0)
  return [
    ...missingOrTwice('the prompt', prompts, texts(ofUser, 'text')),
    ...(counted === asked ? [] : [`${counted} prompts are counted instead of ${asked}`]),
    ...missingOrTwice(
      'the answer',
      answers.flatMap(({ text }) => text ?? []),
      texts(answered, 'text'),
    ),
    ...missingOrTwice(
      'the thinking',
      answers.flatMap(({ thinking }) => thinking ?? []),
      texts(answered, 'thinking'),
    ),
    ...callsDiffer(
      answers.flatMap(({ calls }) => calls),
      all,
    ),
    ...(refused > 0 && errors === 0 && !notStored.includes('errors')
      ? ['the refusal of the provider is not stored as an error']
      : []),
    ...(refused === 0 && errors > 0 ? [`${errors} errors are stored, and none has happened`] : []),
    ...tokensDiffer(answers, messages, notStored),
  ]
}
