import type { Part } from '../agent.ts'
import { isObject, type Json, objectOf, textOf } from './json.ts'
import { mcpToolName } from './tool-calls.ts'
import { kindOf, mediaPlaceholder } from './media.ts'
import { outputOfValue, resultPart, textPart, thinkingPart } from './parts.ts'

/** The parts of content that is a string, one part, or a list of both (a `PartListUnion` of Gemini's API). */
export const contentList = (content: unknown): readonly Json[] =>
  (Array.isArray(content) ? (content as readonly unknown[]) : [content]).flatMap((part) => {
    if (typeof part === 'string') return [{ text: part }]
    return isObject(part) ? [part] : []
  })

const PARTS = ['text', 'thought', 'inlineData', 'fileData', 'functionCall', 'functionResponse']

/** The kinds of parts that agents do not read, by their first member. */
export const unknownParts = (content: unknown): readonly unknown[] =>
  contentList(content).flatMap((part) => (PARTS.some((name) => name in part) ? [] : [Object.keys(part)[0]]))

/** The text that replaces binary content or a file; undefined for other parts. */
const mediaOf = (part: Json): string | undefined => {
  for (const name of ['inlineData', 'fileData']) {
    const media = part[name]
    if (!isObject(media)) continue
    const type = textOf(media['mimeType'])
    return mediaPlaceholder(kindOf(type), type, textOf(media['data'])?.length)
  }
  return undefined
}

/** The parts of a message's content: adjacent texts are one text, as the agents show them. `otherwise` gives those of parts of other kinds. */
export const contentParts = (
  content: unknown,
  otherwise: (part: Json) => readonly Part[] = () => [],
): readonly Part[] => {
  const parts: Part[] = []
  let text = ''
  const flush = () => {
    parts.push(...textPart(text))
    text = ''
  }
  for (const part of contentList(content)) {
    if (part['thought'] !== true && typeof part['text'] === 'string') {
      text += part['text']
      continue
    }
    const media = mediaOf(part)
    const known = part['thought'] === true ? thinkingPart(part['text']) : textPart(media)
    const other = known.length > 0 ? known : otherwise(part)
    if (other.length > 0) flush()
    parts.push(...other)
  }
  flush()
  return parts
}

/** All of content as one text, such as an error's; undefined if it is blank. */
export const contentText = (content: unknown): string | undefined =>
  textOf(
    contentList(content)
      .map((part) => (typeof part['text'] === 'string' ? part['text'] : (mediaOf(part) ?? '')))
      .join(''),
  )

const outputOf = (part: Json): string[] => {
  if (typeof part['text'] === 'string') return [part['text']]
  const answer = part['functionResponse']
  if (!isObject(answer)) return [mediaOf(part) ?? outputOfValue(part)]
  const media = Array.isArray(answer['parts']) ? answer['parts'].map((one) => mediaOf(objectOf(one))) : []
  const response = objectOf(answer['response'])
  return [
    outputOfValue(response['output'] ?? response['error'] ?? response),
    ...media.filter((text) => text !== undefined),
  ]
}

/** The output of a tool from the parts of its result. */
export const resultText = (result: unknown): string => contentList(result).flatMap(outputOf).join('\n')

const SERVER_END = ' MCP Server)'

/** The tool and the server in the name that Gemini CLI shows of a tool of an MCP server: `tool (server MCP Server)`. */
const shownTool = (name: unknown): { readonly tool: string; readonly server: string } | undefined => {
  const at = typeof name === 'string' && name.endsWith(SERVER_END) ? name.lastIndexOf(' (') : -1
  const [tool, server] = at < 1 ? ['', ''] : [String(name).slice(0, at), String(name).slice(at + 2, -SERVER_END.length)]
  return tool === '' || server === '' ? undefined : { tool, server }
}

/**
 * The name of a tool as all agents have it: `mcp__server__tool` for that of an MCP server. Gemini CLI shows such a tool as `tool (server MCP Server)`,
 * and calls it `mcp_server_tool`; names of servers have no underscore there.
 */
export const toolNameOf = (name: unknown, displayName?: unknown): string => {
  const given = textOf(name) ?? 'unknown'
  if (given.startsWith('mcp__')) return given
  const shown = shownTool(displayName)
  if (shown && given.endsWith(shown.tool)) return mcpToolName(shown.server, shown.tool)
  const [, first, rest] = /^mcp_([^_]+)_(.+)$/.exec(given) ?? []
  return first !== undefined && rest !== undefined ? mcpToolName(first, rest) : given
}

const untrusted = /^<untrusted_context>\n([\s\S]*)\n<\/untrusted_context>\s*$/

/** The lines that the agents put behind the output of a command. */
const FOOTER = /^(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): /

/**
 * What the agents have put behind the output of a command: what follows the text that they have shown, where that is known, else the last lines of
 * that form.
 */
const footerOf = (output: string, shown: unknown): readonly string[] => {
  const body = untrusted.exec(output)?.[1] ?? output
  const head = `Output: ${String(shown)}\n`
  const at = typeof shown === 'string' && shown !== '' ? body.indexOf(head) : -1
  const lines = (at === -1 ? body : body.slice(at + head.length)).split('\n')
  const last = lines.findLastIndex((line) => !FOOTER.test(line))
  return lines.slice(last + 1)
}

/**
 * Whether a command for the shell failed, by the fixed form in which the agents tell the model: lines such as `Exit Code: 3` behind its output.
 * What a command prints is not looked at. `shown` is the output as the agent has shown it, if it has stored that.
 */
export const shellFailed = (tool: unknown, output: string, shown?: unknown): boolean => {
  if (tool !== 'run_shell_command') return false
  const footer = footerOf(output, shown)
  const code = footer.map((line) => /^Exit Code: (-?\d+)$/.exec(line)?.[1]).findLast((found) => found !== undefined)
  if (code !== undefined) return Number(code) !== 0
  return footer.some((line) => /^Signal: (?!\(none\)$|0$)/.test(line))
}

/** The result of a call that is a part of the content: a `functionResponse` with a usable id. */
export const responsePart = (answer: Json, callId: string): Part => {
  const name = toolNameOf(answer['name'])
  const output = resultText([{ functionResponse: answer }])
  const hasFailed = objectOf(answer['response'])['error'] !== undefined || shellFailed(name, output)
  return resultPart({ callId, toolName: name }, output, hasFailed)
}
