/** A part as answers show it, from its own JSON text: with its position in the message. */
export const partText = (text: string, position: number): string => `{"order":${position},${text.slice(1)}`
