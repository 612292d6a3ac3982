import type { Part, SessionMessage, StoredSession } from '../agents/agent.ts'
import { type RedactionOptions, redactSession } from '../redaction/session.ts'
import type { PublicPreview } from './confirm-public.ts'

const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.content.text] : [])).join('\n')

/** The first prompt of a session, whose messages are not sorted. */
const newFirstPrompt = () => {
  let first: SessionMessage | undefined
  return {
    look: (message: SessionMessage) => {
      if (message.role !== 'user' || message.order >= (first?.order ?? Infinity)) return
      if (textOf(message.parts).trim() !== '') first = message
    },
    text: () => first && textOf(first.parts),
  }
}

/** Reads a session as it would be sent, to show what others would see of it. Throws what reading throws. */
export const previewOf = async (
  stored: StoredSession,
  redaction: RedactionOptions | undefined,
  because: string,
): Promise<PublicPreview & { readonly sessionId: string }> => {
  const read = await stored.read({ onMalformed: () => {} })
  const { trace, messages } = redaction ? (await redactSession(read, redaction)).session : read
  const firstPrompt = newFirstPrompt()
  let count = 0
  for await (const message of messages()) {
    count++
    firstPrompt.look(message)
  }
  return {
    sessionId: read.externalId,
    source: stored.source,
    title: trace.title,
    project: trace.projectPath ?? trace.projectName,
    branch: trace.gitBranch,
    messages: count,
    firstPrompt: firstPrompt.text(),
    isRedacted: redaction !== undefined,
    because,
  }
}
