export const places = ['prompt', 'answer', 'thinking', 'call', 'output'] as const
/** Where in a message a text is. */
export type Place = (typeof places)[number]

/** A text of a message or of a trace. `part` is the position of the part that it is of. */
export type SearchedText = { readonly place: Place | 'system' | 'trace'; readonly part?: number; readonly text: string }
