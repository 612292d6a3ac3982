/** A part as answers show it, from its own JSON text: with its index in the message. */
export const partText = (text: string, index: number): string => `{"order":${index},${text.slice(1)}`
