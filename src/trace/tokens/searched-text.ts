export const places = ['prompt', 'answer', 'thinking', 'call', 'output'] as const
/** The place of a text in a message, as the field `in` of a query names it. */
export type Place = (typeof places)[number]

/** A text of a message or of a trace. `part` is the index of its part. */
export type SearchedText = { readonly place: Place | 'system' | 'trace'; readonly part?: number; readonly text: string }
