type Fields = Readonly<Record<string, unknown>>

/** The first line of a file of records. */
export const metadata = (more: Fields = {}): string =>
  JSON.stringify({
    sessionId: 's-1',
    projectHash: 'abc',
    startTime: '2026-04-29T10:00:00.000Z',
    lastUpdated: '2026-04-29T10:00:00.000Z',
    kind: 'main',
    ...more,
  })

/** A message as the CLI writes it: as a line of its own, or in a document. */
export const record = (id: string, type: string, content: unknown, more: Fields = {}): string =>
  JSON.stringify({ id, timestamp: '2026-04-29T10:00:00.000Z', type, content, ...more })

export const typed = (id: string, content: unknown, more: Fields = {}): string => record(id, 'user', content, more)

export const answer = (id: string, content: unknown, more: Fields = {}): string =>
  record(id, 'gemini', content, { model: 'gemini-3-pro', ...more })

export const call = (id: string, name: string, more: Fields = {}) => ({
  id,
  name,
  args: { path: '.' },
  status: 'success',
  ...more,
})

export const rewindTo = (id: string): string => JSON.stringify({ $rewindTo: id })

export const set = (fields: Fields): string => JSON.stringify({ $set: fields })
