import type { Part } from '../agent.ts'
import { contentList, contentParts, contentText, resultText } from '../support/gemini-content.ts'
import { isObject, type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { argsWithoutBinary, callPart, resultPart, textPart } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'

const partsOf = (json: Json): readonly Json[] => contentList(objectOf(json['message'])['parts'] ?? [])

export const payloadOf = (json: Json): Json => objectOf(json['systemPayload'])

/** A part that a hook adds behind what was typed. */
const ofHook = /^\s*<qwen:user-prompt-submit-context>.*<\/qwen:user-prompt-submit-context>\s*$/s

/** The prompt that `/init` stands for, where the command itself is not recorded. */
const INIT = /^\s*You are Qwen Code, an interactive CLI agent\. Analyze the current directory and generate/

const isTypedPart = ({ text }: Json): boolean => typeof text !== 'string' || !ofHook.test(text)

/** The parts of what the user typed; `command` is the one that the prompt stands for (README, rule 3). */
export const typedParts = (json: Json, command: string | undefined): readonly Part[] => {
  const parts = partsOf(json)
  const shown = command ?? textOf(payloadOf(json)['displayText'])
  if (shown === undefined) {
    const typed = contentParts(parts.filter(isTypedPart))
    const [first] = typed
    return first?.type === 'text' && INIT.test(first.content.text) ? textPart('/init') : typed
  }
  return [...textPart(shown), ...contentParts(parts.filter(({ text }) => typeof text !== 'string'))]
}

/** What came without being typed: the end of a background task, a prompt on a schedule (README, rule 4). */
export const noticeParts = (json: Json): readonly Part[] => {
  const text = contentText(partsOf(json)) ?? ''
  const [start, end] = [text.indexOf('<result>'), text.lastIndexOf('</result>')]
  const result = start === -1 || end < start ? undefined : text.slice(start + '<result>'.length, end)
  const shown = textOf(payloadOf(json)['displayText'])
  return textPart(shown === undefined ? text : [shown, result].filter(textOf).join('\n\n'))
}

/** The parts of an answer (README, rule 5). A call without an id gets one from the message's id and the number of the call. */
export const answerParts = (json: Json, calls: ToolCalls, messageId: () => string): readonly Part[] => {
  let count = 0
  return contentParts(partsOf(json), ({ functionCall }) => {
    if (!isObject(functionCall)) return []
    const { id, name, args } = functionCall
    count++
    return [callPart(calls, { id, name, args: argsWithoutBinary(args), fallbackId: `${messageId()}-call-${count}` })]
  })
}

/** Whether a call failed: by what its result says, not by its text (README, rule 6). */
const hasFailed = (json: Json, response: Json): boolean =>
  response['error'] !== undefined || ['error', 'cancelled'].includes(String(objectOf(json['toolCallResult'])['status']))

/** The results in a record. Parts that follow a result belong to its output. */
export const resultParts = (json: Json, calls: ToolCalls): readonly Part[] => {
  const groups: Json[][] = []
  for (const part of partsOf(json))
    if (isObject(part['functionResponse'])) groups.push([part])
    else groups.at(-1)?.push(part)
  return groups.map((group) => {
    const { id, name, response } = objectOf(group[0]!['functionResponse'])
    const { callId, toolName } = calls.findForResult(id)
    const call = { callId, toolName: textOf(name) ?? toolName }
    return resultPart(call, resultText(group), hasFailed(json, objectOf(response)))
  })
}

/** The end of a summary, which tells the model to go on. */
const TRAILER = 'Resume the prior task using the summary above.'

/** The summary of a compaction, which is the first text of the history that replaces the conversation (README, rule 7). */
export const compactionParts = (json: Json): readonly Part[] => {
  const [first] = objectsIn(payloadOf(json)['compressedHistory'])
  const texts = contentList(first?.['parts'] ?? []).map(({ text }) => textOf(text) ?? '')
  const summary = texts.find((text) => text.includes(TRAILER))
  return textPart(textOf(summary?.slice(0, summary.lastIndexOf(TRAILER)).trim()) ?? 'Context compressed')
}

/** What a command of the CLI has answered (README, rule 4). */
export const commandOutput = (json: Json): readonly Part[] =>
  textPart(
    objectsIn(payloadOf(json)['outputHistoryItems'])
      .flatMap(({ text }) => textOf(text) ?? [])
      .join('\n'),
  )
