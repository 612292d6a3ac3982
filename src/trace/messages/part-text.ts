/** A part as answers show it, from its own JSON text: with its index in the message. */
export const partText = (text: string, index: number): string => `{"order":${index},${text.slice(1)}`

/** How many bytes that has in UTF-8. */
export const partTextBytes = (text: string, index: number): number => Buffer.byteLength(text) + 9 + String(index).length
