export const places = ['prompt', 'answer', 'thinking', 'call', 'output'] as const
/** The place of a text in a message, as the field `in` of a query names it. */
export type TextPlace = (typeof places)[number]

/** All places of texts: a hit in an earlier one counts more. */
export const allPlaces = ['trace', ...places, 'system'] as const

/** A text of a message or of a trace. `part` is the index of its part. */
export type SearchedText = { readonly place: (typeof allPlaces)[number]; readonly part?: number; readonly text: string }

/** The columns of a trace whose texts are searched. Texts are JSON string literals. */
export type SearchedTrace = {
  readonly title: string | null
  readonly ai_title: string | null
  readonly ai_summary: string | null
  readonly project_name: string | null
  readonly git_branch: string | null
}

/** The texts of a trace itself that are searched; at least one, which may be empty. */
export const textsOfTrace = (trace: SearchedTrace): SearchedText[] => {
  const all = [trace.title, trace.ai_title, trace.ai_summary, trace.project_name, trace.git_branch]
  const texts = all.flatMap((json) => (json === null ? [] : [JSON.parse(json) as string]))
  return (texts.length > 0 ? texts : ['']).map((text) => ({ place: 'trace', text }))
}
